//! Allow and done on shared breakers, ours and others', under criterion:
//! `cargo bench -- contended`, with its baselines and reports as usual.

use criterion::Criterion;
use cutout_bench::subject::breakers;
use cutout_bench::workload::{Load, Workload};
use cutout_bench::{arguments, cell};

fn main() {
    arguments::leave_to_criterion();
    let mut criterion = Criterion::default().configure_from_args();
    for load in [Load::Healthy, Load::Failing(20), Load::Rejecting] {
        for threads in [1, 2, 8] {
            side_by_side(&mut criterion, Workload::new(load), threads);
        }
    }
    criterion.final_summary();
}

fn side_by_side(criterion: &mut Criterion, workload: Workload, threads: usize) {
    let name = format!("contended/{workload}/{threads}");
    let mut group = cell::group(criterion, &name, threads);
    for entry in breakers() {
        // Some cannot be told apart from another one under some workloads.
        if (entry.stage)(workload).is_ok() {
            cell::bench(&mut group, entry.name, &entry, workload, threads);
        }
    }
    group.finish();
}
