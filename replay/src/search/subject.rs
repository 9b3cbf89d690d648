//! What a search is given.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::Slow;
use crate::call::{Call, Keys};
use crate::trouble::Trouble;

/// What a search is given.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// The calls, in the order of their starts.
    pub calls: &'a [Call],
    /// How many the log has: more, if these are its first.
    pub of: u64,
    /// Their keys.
    pub keys: &'a Keys,
    /// The troubles, known or found.
    pub troubles: &'a [Trouble],
    /// How long after a trouble's end a trip is still one of it, in nanoseconds.
    pub slack: u64,
    /// From how long on calls are bad.
    pub slow: &'a Slow,
    /// Once it is set no further config is tried: what is advised is by those that were.
    pub stop: &'a AtomicBool,
}

impl Search<'_> {
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Whether no upstream was in trouble then, nor shortly before.
    pub(super) fn is_quiet(&self, at: i64) -> bool {
        !self.troubles.iter().any(|trouble| {
            (trouble.start..=trouble.end.saturating_add_unsigned(self.slack)).contains(&at)
        })
    }
}
