//! Allow and done on shared breakers, ours and others', under criterion:
//! `cargo bench -- contended`, with its baselines and reports as usual.

use std::process::ExitCode;

use cutout_bench::cast::breakers;
use cutout_bench::cell::{self, Cell};
use cutout_bench::workload::{Load, Workload};

fn main() -> ExitCode {
    let mut cells = Vec::new();
    for load in [Load::Healthy, Load::Failing(20), Load::Rejecting] {
        for threads in [1, 2, 8] {
            cells.extend(side_by_side(Workload::new(load), threads));
        }
    }
    let about = "Allow and done on shared breakers, under criterion";
    cell::main("contended", about, cells)
}

fn side_by_side(workload: Workload, threads: usize) -> impl Iterator<Item = Cell> {
    let breakers = breakers().into_iter();
    let players = breakers.filter(move |entry| entry.can.play(workload).is_ok());
    players.map(move |entry| {
        let group = format!("contended/{workload}/{threads}");
        Cell::of(group, entry.name, entry, workload, threads)
    })
}
