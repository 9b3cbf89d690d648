//! What the breakers of a replay were heard to do.

use cutout::{Cause, Counts, Event, State, Threshold};

use super::Sums;

/// A transition of one breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// When, in nanoseconds since the epoch.
    pub at: i64,
    /// Whose breaker.
    pub key: u32,
    /// The state before.
    pub from: State,
    /// The state after.
    pub to: State,
    /// What made it.
    pub cause: Cause,
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
}

impl Replayed {
    /// The most transitions that are kept: some 5 MB.
    pub const MOST: usize = 200_000;

    /// The most trips whose evidence is kept.
    pub const MOST_EVIDENCE: usize = 1_000;

    /// What became of all calls.
    pub fn total(&self) -> Sums {
        let mut total = Sums::default();
        for sums in &self.sums {
            total.add(sums);
        }
        total
    }
}

/// What the listeners of all breakers of a replay write to.
#[derive(Debug, Default)]
pub(super) struct Heard(Replayed);

impl Heard {
    /// Hears of a transition of the breaker of this key, which was made at `made`.
    pub(super) fn hear(&mut self, event: &Event, made: i64, key: u32) {
        let after = i64::try_from(event.at.as_nanos()).unwrap_or(i64::MAX);
        let transition = Transition {
            at: made.saturating_add(after),
            key,
            from: event.from,
            to: event.to,
            cause: event.cause,
        };
        let all = &mut self.0;
        if all.transitions.len() >= Replayed::MOST {
            all.kept_until.get_or_insert(transition.at);
            return;
        }
        all.transitions.push(transition);
        if transition.is_trip() && all.evidence.len() < Replayed::MOST_EVIDENCE {
            let label = event.label.as_deref().and_then(|label| label.parse().ok());
            all.evidence.push(Evidence {
                counts: event.counts,
                threshold: event.threshold,
                label: label.unwrap_or(0),
            });
        }
    }

    pub(super) fn replayed(self, sums: Vec<Sums>) -> Replayed {
        Replayed { sums, ..self.0 }
    }
}
