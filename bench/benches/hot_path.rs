//! The hot path beside its floors, in one run: `cargo bench --bench hot_path`.

use criterion::Criterion;
use cutout_bench::subject::{floors, ours};
use cutout_bench::workload::{Load, Style, Workload};
use cutout_bench::{arguments, cell};

fn main() {
    arguments::leave_to_criterion();
    let mut criterion = Criterion::default().configure_from_args();
    for threads in [1, 2] {
        floors_and_calls(&mut criterion, threads);
    }
    criterion.final_summary();
}

fn floors_and_calls(criterion: &mut Criterion, threads: usize) {
    let mut group = cell::group(criterion, &format!("hot_path/{threads}"), threads);
    for floor in floors() {
        cell::bench(
            &mut group,
            floor.name,
            &floor,
            Workload::new(Load::Floor),
            threads,
        );
    }
    let healthy = Workload::new(Load::Healthy);
    let failing = |percent| Workload::new(Load::Failing(percent));
    for (name, workload) in [
        ("state", healthy.style(Style::Look)),
        ("healthy", healthy),
        ("healthy-slow-rule", healthy.slow_rule()),
        ("failing-1", failing(1)),
        ("failing-20", failing(20)),
        ("failing-20-window-4096", failing(20).window(4096)),
        ("failing-20-timeout-rule", failing(20).timeout_rule()),
        (
            "failing-20-timeout-rule-window-4096",
            failing(20).timeout_rule().window(4096),
        ),
        ("rejecting", Workload::new(Load::Rejecting)),
        ("half-open-storm", Workload::new(Load::HalfOpenStorm)),
    ] {
        cell::bench(&mut group, name, &ours(), workload, threads);
    }
    group.finish();
}
