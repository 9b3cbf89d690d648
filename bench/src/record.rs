//! What workers report, one line of JSON each.

use serde::{Deserialize, Serialize};

/// What was measured: one cell of the tables.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cell {
    /// The workload's name.
    pub workload: String,
    /// Outcomes in the window; none of a time window.
    pub window: Option<usize>,
    /// Threads that call.
    pub threads: usize,
    /// Breakers that are called.
    pub breakers: usize,
    /// The subject's name.
    pub subject: String,
}

/// One line of a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// What was measured.
    pub cell: Cell,
    /// What came out.
    pub result: Outcome,
}

/// What came out of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// One round.
    Round {
        /// Which process measured it, from 0.
        process: usize,
        /// Nanoseconds per call on each thread, by the slowest of them.
        ns_per_call: f64,
        /// The fastest thread's time over the slowest's.
        fairness: f64,
        /// Allocations per call.
        allocations: f64,
    },
    /// The durations of single calls of one process, by quantile.
    Latency {
        /// Nanoseconds at each of [`QUANTILES`].
        ns: Vec<u64>,
        /// The slowest call.
        max: u64,
    },
    /// Heap and inline bytes of one breaker.
    Memory {
        /// The bytes.
        bytes: f64,
    },
    /// There is no such cell, or the subject did not stay in its state.
    Void {
        /// Why.
        reason: String,
    },
}

/// The quantiles at which latencies are reported.
pub const QUANTILES: [f64; 17] = [
    0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9998, 0.9999,
    0.99995, 0.99999,
];
