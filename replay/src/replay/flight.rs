//! A call that was admitted and has not ended.

use std::cmp::Ordering;

use cutout::{AnyPermit, Label, Report};

use super::lane::Permits;
use crate::call::Call;

/// What a breaker is told when a call ends. Its label is the number of what the log said.
pub(super) fn told(call: &Call) -> Report {
    let report = Report::from(call.outcome);
    match call.label {
        0 => report,
        label => report.label(Label::of(label)),
    }
}

/// Of two that end at once, the one that was admitted first goes first.
pub(super) struct Flight {
    count: u64,
    call: Call,
    permits: Permits,
}

impl Flight {
    pub(super) const fn new(count: u64, call: Call, permits: Permits) -> Self {
        Self {
            count,
            call,
            permits,
        }
    }

    pub(super) const fn key(&self) -> u32 {
        self.call.key
    }

    pub(super) fn end(&self) -> i64 {
        self.call.end()
    }

    pub(super) fn settle(self) {
        self.permits.done(told(&self.call));
    }

    fn order(&self) -> (i64, u64) {
        (self.end(), self.count)
    }
}

impl Ord for Flight {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Flight {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Flight {}
