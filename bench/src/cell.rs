//! One cell of a table, measured by criterion.

use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};

use crate::arguments::Arguments;
use crate::subject::Entry;
use crate::workload::Workload;

/// A group of cells that shares its thread count: criterion then shows the time
/// of a call on one thread, and the calls of all threads together per second.
pub fn group<'a>(
    criterion: &'a mut Criterion,
    name: &str,
    threads: usize,
) -> BenchmarkGroup<'a, WallTime> {
    let quick = Arguments::of_process().has("--quick");
    let (warm_up, measurement) = if quick { (20, 150) } else { (200, 800) };
    let mut group = criterion.benchmark_group(name);
    group
        .throughput(Throughput::Elements(threads as u64))
        .warm_up_time(Duration::from_millis(warm_up))
        .measurement_time(Duration::from_millis(measurement))
        .sample_size(30);
    group
}

/// Measures a subject under a workload that it can do.
pub fn bench(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    entry: &Entry,
    workload: Workload,
    threads: usize,
) {
    group.bench_function(name, |bencher| {
        let stage = (entry.stage)(workload).expect("the subject can be set up so");
        bencher.iter_custom(|calls| {
            let run = stage.run(threads, calls);
            run.expect("the subject stays in the state of the workload")
                .slowest()
        });
    });
}
