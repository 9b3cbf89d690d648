//! The cells that criterion measures, each in a process of its own.
//!
//! A subject that gives no answer, or leaves the state in which it is to be measured, has no number, and
//! the others have theirs all the same.

use std::process::{Command, ExitCode, exit};
use std::time::Duration;
use std::{env, io};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};

use crate::arguments::Arguments;
use crate::entry::{Entry, Kind};
use crate::watchdog::{self, NO_NUMBER};
use crate::workload::Workload;

/// One cell of a table.
pub struct Cell {
    group: String,
    name: String,
    threads: usize,
    kind: Kind,
    measure: Measure,
}

type Measure = Box<dyn FnOnce(&mut BenchmarkGroup<'_, WallTime>, &str)>;

impl std::fmt::Debug for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.id())
    }
}

impl Cell {
    /// A cell of this crate's own, on one thread.
    pub fn new(
        group: impl Into<String>,
        name: impl Into<String>,
        measure: impl FnOnce(&mut BenchmarkGroup<'_, WallTime>, &str) + 'static,
    ) -> Self {
        Self {
            group: group.into(),
            name: name.into(),
            threads: 1,
            kind: Kind::Ours,
            measure: Box::new(measure),
        }
    }

    /// A subject under a workload that it can play, on so many threads. Criterion then shows the time
    /// of a call on one thread, and the calls of all threads together per second.
    pub fn of(group: String, name: &str, entry: Entry, workload: Workload, threads: usize) -> Self {
        let id = format!("{group}/{name}");
        let no_number = move |reason| -> ! {
            println!("{id}: {reason}");
            exit(NO_NUMBER)
        };
        Self {
            threads,
            kind: entry.kind,
            ..Self::new(group, name, move |group, name| {
                let stage = entry
                    .stage(workload)
                    .unwrap_or_else(|reason| no_number(reason));
                group.bench_function(name, |bencher| {
                    bencher.iter_custom(|calls| match stage.run(threads, calls) {
                        Ok(run) => run.slowest(),
                        Err(reason) => no_number(reason),
                    });
                });
            })
        }
    }

    fn id(&self) -> String {
        format!("{}/{}", self.group, self.name)
    }

    fn measure(self, arguments: &Arguments) {
        let quick = arguments.has("quick");
        let (warm_up, measurement) = if quick { (20, 150) } else { (200, 800) };
        let mut criterion = Criterion::default()
            .warm_up_time(Duration::from_millis(warm_up))
            .measurement_time(Duration::from_millis(measurement))
            .sample_size(30)
            .configure_from_args();
        let mut group = criterion.benchmark_group(&self.group);
        group.throughput(Throughput::Elements(self.threads as u64));
        (self.measure)(&mut group, &self.name);
        group.finish();
    }
}

/// Names the cell that a process is to measure.
const CELL: &str = "CUTOUT_BENCH_CELL";

/// The main function of a target whose cells criterion measures.
///
/// Fails if a cell of this crate has no number. That a peer has none is said at the end.
pub fn main(target: &'static str, about: &'static str, cells: Vec<Cell>) -> ExitCode {
    let arguments = Arguments::of_process(target, about);
    if let Some(id) = env::var_os(CELL) {
        let cell = cells.into_iter().find(|cell| *cell.id() == *id);
        let cell = cell.expect("the cell is one of this target's");
        let (id, patience) = (cell.id(), patience(&arguments));
        let give_up = || println!("{id}: {}", watchdog::no_answer(patience));
        watchdog::watch(patience, give_up, || cell.measure(&arguments));
        return ExitCode::SUCCESS;
    }
    if arguments.has("report") || arguments.has("ignored") {
        return ExitCode::SUCCESS;
    }
    let mut without_number = Vec::new();
    let mut has_failed = false;
    for cell in cells {
        let id = cell.id();
        if !arguments.selects(&id) {
            continue;
        }
        if arguments.has("list") {
            println!("{id}: benchmark");
            continue;
        }
        match in_a_process(&id, &arguments) {
            Ok(Some(0)) => {}
            Ok(Some(NO_NUMBER)) if cell.kind == Kind::Peer => without_number.push(id),
            Ok(_) => {
                has_failed = true;
                without_number.push(id);
            }
            Err(error) => {
                eprintln!("{id}: this program does not start again: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    if !without_number.is_empty() {
        println!("without a number: {}", without_number.join(", "));
    }
    ExitCode::from(u8::from(has_failed))
}

fn in_a_process(id: &str, arguments: &Arguments) -> io::Result<Option<i32>> {
    let mut command = Command::new(env::current_exe()?);
    let status = command
        .args(arguments.for_criterion())
        .env(CELL, id)
        .status()?;
    Ok(status.code())
}

/// How long one cell may take.
fn patience(arguments: &Arguments) -> Duration {
    let times = ["warm-up-time", "measurement-time", "profile-time"];
    let asked_for: f64 = times
        .iter()
        .filter_map(|name| arguments.seconds(name))
        .sum();
    let least = match (arguments.measures(), arguments.has("quick")) {
        (false, _) => 10.0,
        (true, true) => 30.0,
        (true, false) => 60.0,
    };
    // A sample takes as long as it takes, however many seconds were asked for.
    let seconds = least + 10.0 * asked_for;
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}
