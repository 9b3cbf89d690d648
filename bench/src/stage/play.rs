//! What is done with a subject that is set up.

use std::time::Duration;

use crate::threads::Run;

/// A subject in the state of its workload, ready to be called.
pub trait Stage: Send + Sync {
    /// Calls it so often on each of so many threads.
    ///
    /// # Errors
    ///
    /// What the subject did that the workload does not allow: a call rejected
    /// while healthy, one admitted while open, and so on. The run is void.
    fn run(&self, threads: usize, calls: u64) -> Result<Run, String>;

    /// The calls of one thread of so many, neither timed nor checked; returns how
    /// many were admitted.
    fn work(&self, thread: usize, threads: usize, calls: u64) -> u64;

    /// Calls it so often on each thread and hands the durations of each thread's
    /// calls, in ticks of `clock` and with the cost of reading it, to `record`.
    fn time_each(
        &self,
        clock: &quanta::Clock,
        threads: usize,
        calls: u64,
        record: &(dyn Fn(&[u64]) + Sync),
    );

    /// Whether the subject is in the state in which the workload measures it.
    ///
    /// # Errors
    ///
    /// The state it is in.
    fn verify(&self) -> Result<(), String>;

    /// So many more subjects of the same kind, each in the state of the workload.
    fn crowd(&self, count: usize) -> Box<dyn Crowd>;
}

/// Many subjects in one process.
pub trait Crowd {
    /// Makes so many calls, each to another subject, in an order that no
    /// prefetcher follows.
    fn run(&self, calls: u64) -> Duration;
}
