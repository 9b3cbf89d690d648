//! A line that two cores hand to and fro.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::Duration;

use crate::threads;

#[repr(align(128))]
struct Line(AtomicU64);

/// How long it takes until what one core wrote is there on another: two pinned threads
/// take turns so often, and what that took is divided by the turns.
pub fn handover(turns: u64) -> Duration {
    let line = Line(AtomicU64::new(0));
    let (run, _) = threads::together(2, |thread| {
        for turn in (thread as u64..turns).step_by(2) {
            // Without a pause, which on some processors takes longer than a line.
            while line.0.load(Acquire) != turn {}
            line.0.store(turn + 1, Release);
        }
    });
    Duration::from_nanos((run.slowest().as_nanos() / u128::from(turns)) as u64)
}
