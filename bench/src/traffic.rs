//! How often a call writes to a line that others need, and what that makes of
//! throughput on more cores than there are here.
//!
//! The core's own sources are compiled once more, on atomics that count: see
//! `counted/` and `counter/`. What they count on one thread does not depend on
//! the machine; on two threads, lost compare-and-swaps do.

use std::time::Duration;

use cutout_counter::{Counts, take};

use crate::cast;
use crate::stage;
use crate::threads;
use crate::workload::{Load, Workload};

const CALLS: u64 = 1_000_000;

/// A machine of the prediction: its cores, and how long a line takes from one to
/// another, as published (see the README).
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Cores.
    pub cores: u32,
    /// Nanoseconds of one transfer.
    pub transfer_ns: f64,
}

/// Machines whose transfer latencies are published.
pub const MACHINES: [Machine; 3] = [
    Machine {
        cores: 8,
        transfer_ns: 23.0,
    },
    Machine {
        cores: 32,
        transfer_ns: 51.0,
    },
    Machine {
        cores: 128,
        transfer_ns: 197.0,
    },
];

/// What a workload does to shared lines.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// The workload.
    pub workload: Workload,
    /// Counts per call on one thread, and on two that share the breaker.
    pub per_call: [PerCall; 2],
    /// Nanoseconds of a call on one thread, not counted.
    pub ns_alone: f64,
    /// Calls per second of two threads together, not counted.
    pub per_second_on_two: f64,
}

/// Counts per call.
#[derive(Clone, Copy, Debug)]
pub struct PerCall {
    /// Loads of atomics.
    pub loads: f64,
    /// Writes to lines that all callers share.
    pub writes: f64,
    /// Compare-and-swaps in vain.
    pub lost: f64,
}

impl Traffic {
    /// How often a call has to get a line for itself when others want it too.
    pub fn transfers(&self) -> f64 {
        self.per_call[1].writes + self.per_call[1].lost
    }

    /// Calls per second on so many cores that share one breaker: limited by the work of
    /// the cores, or by the line that goes from one to the next.
    pub fn per_second(&self, machine: Machine) -> f64 {
        let by_work = f64::from(machine.cores) * 1e9 / self.ns_alone;
        let by_line = 1e9 / (self.transfers() * machine.transfer_ns);
        by_work.min(by_line)
    }
}

/// The workloads that are counted.
pub fn workloads() -> [Workload; 8] {
    [
        Workload::new(Load::Healthy),
        Workload::new(Load::Failing(1)),
        Workload::new(Load::Failing(20)),
        Workload::new(Load::Failing(50)),
        Workload::new(Load::Rejecting),
        Workload::new(Load::Healthy).scores(),
        Workload::new(Load::Failing(1)).scores(),
        Workload::new(Load::Failing(20)).scores(),
    ]
}

/// Counts a workload, and times it.
///
/// # Errors
///
/// What the breaker did that the workload does not allow.
pub fn measure(workload: Workload) -> Result<Traffic, String> {
    let counted = cast::counted().stage(workload)?;
    let per_call = |threads: usize| {
        take();
        counted.run(threads, CALLS)?;
        Ok::<_, String>(per_call_of(take(), CALLS * threads as u64))
    };
    let timed = cast::ours().stage(workload)?;
    let median = |threads: usize| {
        let mut rounds = Vec::new();
        for _ in 0..9 {
            rounds.push(timed.run(threads, CALLS)?.slowest());
        }
        rounds.sort();
        Ok::<Duration, String>(rounds[rounds.len() / 2])
    };
    let ns_alone = median(1)?.as_nanos() as f64 / CALLS as f64;
    let on_two = median(2)?.as_secs_f64();
    Ok(Traffic {
        workload,
        per_call: [per_call(1)?, per_call(2)?],
        ns_alone,
        per_second_on_two: 2.0 * CALLS as f64 / on_two,
    })
}

fn per_call_of(counts: Counts, calls: u64) -> PerCall {
    let per_call = |count: u64| count as f64 / calls as f64;
    PerCall {
        loads: per_call(counts.loads),
        writes: per_call(counts.writes),
        lost: per_call(counts.lost),
    }
}

/// How long a line takes from one core to the other here; zero with a single core.
pub fn transfer_here() -> Duration {
    if threads::cores() < 2 {
        return Duration::ZERO;
    }
    // The best: whatever else runs here can only make it slower.
    let rounds = (0..200).map(|_| stage::handover(2_000));
    rounds.min().unwrap_or_default()
}
