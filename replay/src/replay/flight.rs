//! A call that was admitted and has not ended.

use std::cmp::Ordering;

use cutout::{ManualClock, Outcome, OwnedPermit};

/// Of two that end at once, the one that was admitted first goes first.
pub(super) struct Flight {
    end: i64,
    count: u64,
    outcome: Outcome,
    permit: OwnedPermit<ManualClock>,
}

impl Flight {
    pub(super) const fn new(
        end: i64,
        count: u64,
        outcome: Outcome,
        permit: OwnedPermit<ManualClock>,
    ) -> Self {
        Self {
            end,
            count,
            outcome,
            permit,
        }
    }

    pub(super) const fn end(&self) -> i64 {
        self.end
    }

    pub(super) fn settle(self) {
        self.permit.done(self.outcome);
    }

    const fn order(&self) -> (i64, u64) {
        (self.end, self.count)
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
