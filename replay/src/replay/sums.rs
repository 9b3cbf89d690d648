//! Calls counted by what became of them.

use cutout::Cause;

use crate::call::Call;

/// What became of calls: each is in exactly one of the first four.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Sums {
    /// Calls that were made and well.
    pub made_well: u64,
    /// Calls that were made and bad.
    pub made_bad: u64,
    /// Bad calls that were refused.
    pub spared: u64,
    /// Well calls that were refused.
    pub lost: u64,
    /// How long the spared calls took, in nanoseconds.
    pub saved_ns: u64,
    /// Calls of the spared and the lost that a throttle refused.
    pub throttled: u64,
    /// Those that were refused on the ramp of a breaker that had closed.
    pub ramped: u64,
}

impl Sums {
    /// All calls.
    pub const fn calls(&self) -> u64 {
        self.made_well + self.made_bad + self.spared + self.lost
    }

    /// Adds those of others.
    pub fn add(&mut self, other: &Self) {
        self.made_well += other.made_well;
        self.made_bad += other.made_bad;
        self.spared += other.spared;
        self.lost += other.lost;
        self.saved_ns = self.saved_ns.saturating_add(other.saved_ns);
        self.throttled += other.throttled;
        self.ramped += other.ramped;
    }

    pub(super) fn count(&mut self, call: &Call, made: Result<(), Cause>) {
        match made {
            Err(Cause::Throttled) => self.throttled += 1,
            Err(Cause::Ramping) => self.ramped += 1,
            _ => {}
        }
        match (made.is_ok(), call.bad) {
            (true, false) => self.made_well += 1,
            (true, true) => self.made_bad += 1,
            (false, false) => self.lost += 1,
            (false, true) => {
                self.spared += 1;
                self.saved_ns = self.saved_ns.saturating_add(call.took);
            }
        }
    }
}
