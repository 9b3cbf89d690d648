//! When to write, and how much to keep.

use std::time::Duration;

/// When to write, and how much to keep.
#[derive(Clone, Debug)]
pub struct Options {
    /// How often windows and totals are saved, if they have changed. Transitions do not wait.
    pub save_every: Duration,
    /// How long transitions and probe results are kept.
    pub keep: Duration,
    /// How many transitions, and as many probe results, are kept at most; it may
    /// be 1000 more for a while.
    pub max_rows: u32,
    /// Of how many breakers snapshot and totals are kept, those saved last.
    pub max_breakers: u32,
    /// How many transitions, and as many probe results, may wait to be written.
    pub queue: usize,
    /// How long to wait for another process to let go of the file.
    pub patience: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            save_every: Duration::from_secs(2),
            keep: Duration::from_secs(7 * 24 * 3600),
            max_rows: 100_000,
            max_breakers: 1_000,
            queue: 10_000,
            patience: Duration::from_secs(2),
        }
    }
}
