//! What the breakers of a replay were seen to do.

use cutout::{Cause, Counts, State, Threshold};

use super::refusing::Refused;
use super::sums::Sums;

/// A transition of one breaker, or the begin of a further stage of its recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// When, in nanoseconds since the epoch.
    pub at: i64,
    /// Whose breaker.
    pub key: u32,
    /// The state before.
    pub from: State,
    /// The state after; half-open like that before where a stage begins.
    pub to: State,
    /// The stage after, from 1; zero where the config has no stages, and in other states.
    pub stage: u8,
    /// How long a closed breaker then refuses a falling share of the calls, in nanoseconds; zero without a ramp, and in other states.
    pub ramp: u64,
}

impl Transition {
    /// Whether a closed breaker opened.
    pub fn is_trip(&self) -> bool {
        self.from == State::Closed && self.to == State::Open
    }
}

/// What a breaker held against its upstream when it tripped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The rule that matched.
    pub cause: Cause,
    /// What the window held.
    pub counts: Counts,
    /// What the rule asked for.
    pub threshold: Option<Threshold>,
    /// What the log said of the call that tripped it: the number that [`Call`](crate::Call) has.
    pub label: u16,
}

/// What came of a replay.
#[derive(Clone, Debug, Default)]
pub struct Replayed {
    /// What became of the calls of each key.
    pub sums: Vec<Sums>,
    /// The transitions, in the order in which they happened.
    pub transitions: Vec<Transition>,
    /// When the first transition was that is not among them, if there were more than [`MOST`](Self::MOST).
    pub kept_until: Option<i64>,
    /// The evidence of the first trips among them, in their order.
    pub evidence: Vec<Evidence>,
    /// The first times in which throttles refused a share of the calls.
    pub refused: Vec<Refused>,
}

impl Replayed {
    /// The most transitions that are kept: some 5 MB.
    pub const MOST: usize = 200_000;

    /// The most trips whose evidence is kept.
    pub const MOST_EVIDENCE: usize = 1_000;

    /// The most times of refusing that are kept.
    pub const MOST_REFUSED: usize = 10_000;

    /// What became of all calls.
    pub fn total(&self) -> Sums {
        let mut total = Sums::default();
        for sums in &self.sums {
            total.add(sums);
        }
        total
    }

    /// Notes a time in which a throttle refused a share.
    pub(super) fn refused(&mut self, over: Refused) {
        if self.refused.len() < Self::MOST_REFUSED {
            self.refused.push(over);
        }
    }

    /// Notes a transition, and the evidence if it is a trip.
    pub(super) fn note(
        &mut self,
        transition: Transition,
        evidence: impl FnOnce() -> Option<Evidence>,
    ) {
        if self.transitions.len() >= Self::MOST {
            self.kept_until.get_or_insert(transition.at);
            return;
        }
        self.transitions.push(transition);
        if transition.is_trip() && self.evidence.len() < Self::MOST_EVIDENCE {
            self.evidence.extend(evidence());
        }
    }
}
