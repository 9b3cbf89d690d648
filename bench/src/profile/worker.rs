//! One process of one task: all subjects, round by round.

use std::io::{self, Write};
use std::sync::Mutex;
use std::time::Duration;

use hdrhistogram::Histogram;

use super::plan::{CROWD_WINDOW, Sampling, Task, WINDOWS};
use crate::allocations;
use crate::cast;
use crate::entry::{Entry, Kind};
use crate::record::{Cell, Outcome, QUANTILES, Record};
use crate::stage::Stage;
use crate::watchdog;
use crate::workload::{Load, Workload};

/// One process of one task.
#[derive(Clone, Debug)]
pub struct Order {
    /// How it is sampled.
    pub sampling: Sampling,
    /// The number of the process.
    pub process: usize,
    /// The names of the subjects that have given no answer in an earlier one.
    pub without: Vec<String>,
}

/// Measures one process' share of a task and writes a line for each result. A subject that gives
/// no answer ends the process, with a line that says so.
pub fn run(task: Task, order: &Order) {
    match task {
        Task::Throughput(workload, threads) => throughput(workload, threads, order),
        Task::Latency(workload, threads) => latency(workload, threads, order),
        Task::Crowd(breakers) => crowd(breakers, order),
        Task::Memory => memory(order),
    }
}

impl Order {
    fn among(&self, entries: Vec<Entry>) -> impl Iterator<Item = Entry> {
        let is_without = |entry: &Entry| self.without.iter().any(|name| name == entry.name);
        entries.into_iter().filter(move |entry| !is_without(entry))
    }

    /// What a subject answers.
    fn ask<R>(&self, cell: &Cell, work: impl FnOnce() -> R) -> R {
        let patience = self.sampling.patience;
        let give_up = || {
            let reason = watchdog::no_answer(patience);
            say(cell, Outcome::Void { reason });
        };
        watchdog::watch(patience, give_up, work)
    }
}

fn say(cell: &Cell, result: Outcome) {
    let cell = cell.clone();
    let line = serde_json::to_string(&Record { cell, result }).expect("it has no odd keys");
    let mut out = io::stdout().lock();
    // Whoever started this process reads it; if it is gone, there is no one to tell.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// A subject on its stage, with the cell it is measured for.
struct Player {
    cell: Cell,
    stage: Box<dyn Stage>,
    /// Calls of one round on each thread.
    calls: u64,
}

fn cell(entry: &Entry, workload: Workload, threads: usize) -> Cell {
    Cell {
        workload: workload.to_string(),
        window: workload.count(),
        threads,
        breakers: 1,
        subject: entry.name.into(),
    }
}

/// Everyone who can play this workload, each with as many calls as take a round's time.
fn players_of(workload: Workload, threads: usize, order: &Order) -> Vec<Player> {
    let mut entries = match workload.load {
        Load::Floor => cast::floors(),
        _ => cast::breakers(),
    };
    if matches!(workload.load, Load::Healthy | Load::Failing(_)) {
        entries.push(cast::beside(workload));
    }
    let mut players = Vec::new();
    for entry in order.among(entries) {
        let cell = cell(&entry, workload, threads);
        let staged = order.ask(&cell, || {
            let stage = entry.stage(workload)?;
            let calls = calibrate(stage.as_ref(), threads, order.sampling.round)?;
            Ok((stage, calls))
        });
        match staged {
            Ok((stage, calls)) => players.push(Player { cell, stage, calls }),
            Err(reason) => say(&cell, Outcome::Void { reason }),
        }
    }
    players
}

fn calibrate(stage: &dyn Stage, threads: usize, round: Duration) -> Result<u64, String> {
    let mut calls = 64;
    loop {
        let taken = stage.run(threads, calls)?.slowest();
        if taken * 3 >= round {
            let scaled = calls as f64 * round.as_secs_f64() / taken.as_secs_f64().max(1e-9);
            return Ok((scaled as u64).max(64));
        }
        calls *= 4;
    }
}

/// Allocations per call, on one thread.
fn allocations_per_call(stage: &dyn Stage) -> f64 {
    const CALLS: u64 = 1000;
    let before = allocations::counts().calls;
    stage.work(0, 1, CALLS);
    let made = allocations::counts().calls - before;
    // Rounded: what a caller allocates once for itself is not of a call.
    (made as f64 / CALLS as f64 * 100.0).round() / 100.0
}

fn throughput(workload: Workload, threads: usize, order: &Order) {
    let process = order.process;
    let mut players = players_of(workload, threads, order);
    for round in 0..order.sampling.rounds {
        // Each round begins with another subject.
        let shift = (round + process) % players.len().max(1);
        players.rotate_left(shift);
        players.retain(|player| {
            let played = order.ask(&player.cell, || {
                let run = player.stage.run(threads, player.calls)?;
                Ok((run, allocations_per_call(player.stage.as_ref())))
            });
            let result = match played {
                Ok((run, allocations)) => Outcome::Round {
                    process,
                    ns_per_call: run.slowest().as_nanos() as f64 / player.calls as f64,
                    fairness: run.fairness(),
                    allocations,
                },
                Err(reason) => Outcome::Void { reason },
            };
            let has_played = matches!(result, Outcome::Round { .. });
            say(&player.cell, result);
            has_played
        });
    }
}

fn latency(workload: Workload, threads: usize, order: &Order) {
    /// At most so many calls a thread, to keep the list of durations small.
    const MOST: u64 = 1_000_000;
    let clock = quanta::Clock::new();
    for player in players_of(workload, threads, order) {
        let mut cell = player.cell;
        cell.workload = format!("latency_{}", cell.workload);
        let histogram = Mutex::new(Histogram::<u64>::new(3).expect("three digits are legal"));
        let record = |ticks: &[u64]| {
            let mut histogram = histogram.lock().expect("not poisoned");
            for ticks in ticks {
                let ns = clock.delta_as_nanos(0, *ticks);
                histogram.record(ns).expect("it grows as it must");
            }
        };
        let calls = player.calls.min(MOST);
        let played = order.ask(&cell, || {
            player.stage.time_each(&clock, threads, calls, &record);
            player.stage.verify()
        });
        if let Err(reason) = played {
            say(&cell, Outcome::Void { reason });
            continue;
        }
        let histogram = histogram.lock().expect("not poisoned");
        let at = |quantile: f64| histogram.value_at_quantile(quantile);
        let result = Outcome::Latency {
            ns: QUANTILES.into_iter().map(at).collect(),
            max: histogram.max(),
        };
        say(&cell, result);
    }
}

/// How many bytes each of so many breakers takes, inline and on the heap.
fn bytes_each<R>(breakers: usize, build: impl FnOnce() -> R) -> (f64, R) {
    let before = allocations::counts().bytes;
    let built = build();
    let taken = allocations::counts().bytes - before;
    (taken as f64 / breakers as f64, built)
}

fn crowd(breakers: usize, order: &Order) {
    let workload = Workload::new(Load::Healthy).window(CROWD_WINDOW);
    for entry in order.among(cast::breakers()) {
        let mut cell = cell(&entry, workload, 1);
        cell.workload = "breakers".into();
        cell.breakers = breakers;
        order.ask(&cell, || {
            play_crowd(&cell, &entry, workload, breakers, order);
        });
    }
}

fn play_crowd(cell: &Cell, entry: &Entry, workload: Workload, breakers: usize, order: &Order) {
    let stage = entry.stage(workload).expect("everyone can be healthy");
    let (bytes, crowd) = bytes_each(breakers, || stage.crowd(breakers));
    say(cell, Outcome::Memory { bytes });
    let mut calls = 64;
    while crowd.run(calls) * 3 < order.sampling.round {
        calls *= 4;
    }
    for _ in 0..order.sampling.rounds {
        let result = Outcome::Round {
            process: order.process,
            ns_per_call: crowd.run(calls).as_nanos() as f64 / calls as f64,
            fairness: 1.0,
            allocations: allocations_per_call(stage.as_ref()),
        };
        say(cell, result);
    }
}

fn memory(order: &Order) {
    // So many that what their list takes is less than half a byte each.
    const BREAKERS: usize = 64;
    let healthy = Workload::new(Load::Healthy);
    let by_count = WINDOWS.map(|window| healthy.window(window));
    let others = [healthy.time_window(), healthy.scores()];
    for workload in by_count.into_iter().chain(others) {
        for entry in order.among(cast::breakers()) {
            let mut cell = cell(&entry, workload, 1);
            cell.workload = match workload.scores {
                false => "memory".into(),
                true if entry.kind == Kind::Ours => "memory_scores".into(),
                true => continue,
            };
            // Not everyone has a time window.
            let bytes = order.ask(&cell, || {
                let stage = entry.stage(workload).ok()?;
                Some(bytes_each(BREAKERS, || stage.crowd(BREAKERS)).0)
            });
            if let Some(bytes) = bytes {
                say(&cell, Outcome::Memory { bytes });
            }
        }
    }
}
