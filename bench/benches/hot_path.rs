//! The hot path beside its floors, in one run: `cargo bench --bench hot_path`.

use std::process::ExitCode;

use cutout_bench::cast::{floors, ours};
use cutout_bench::cell::{self, Cell};
use cutout_bench::workload::{Load, Style, Workload};

fn main() -> ExitCode {
    let cells = [1, 2].into_iter().flat_map(floors_and_calls);
    let about = "This crate beside its floors, under criterion";
    cell::main("hot_path", about, cells.collect())
}

fn floors_and_calls(threads: usize) -> Vec<Cell> {
    let cell = |name, entry, workload| {
        let group = format!("hot_path/{threads}");
        Cell::of(group, name, entry, workload, threads)
    };
    let healthy = Workload::new(Load::Healthy);
    let failing = |percent| Workload::new(Load::Failing(percent));
    let calls = [
        ("state", healthy.style(Style::Look)),
        ("healthy", healthy),
        ("healthy-slow-rule", healthy.slow_rule()),
        ("failing-1", failing(1)),
        ("failing-20", failing(20)),
        ("healthy-scores", healthy.scores()),
        ("failing-1-scores", failing(1).scores()),
        ("failing-20-scores", failing(20).scores()),
        ("failing-20-window-4096", failing(20).window(4096)),
        ("failing-20-timeout-rule", failing(20).timeout_rule()),
        (
            "failing-20-timeout-rule-window-4096",
            failing(20).timeout_rule().window(4096),
        ),
        ("rejecting", Workload::new(Load::Rejecting)),
        ("half-open-storm", Workload::new(Load::HalfOpenStorm)),
    ];
    let floors = floors().into_iter();
    let floors = floors.map(|floor| cell(floor.name, floor, Workload::new(Load::Floor)));
    let calls = calls.map(|(name, workload)| cell(name, ours(), workload));
    floors.chain(calls).collect()
}
