//! What came before a generation: what a later decision needs of the states that are over.

use crate::contract::state::{Cause, State};
use crate::engine::field::Field;
use crate::engine::word::{cause_of, code_of};

/// The most re-openings in a row that are told apart.
pub(crate) const MAX_ATTEMPT: u32 = ATTEMPT.max() as u32;

/// What a generation needs to know of those before it.
///
/// It is computed from the generation before alone. So if a trip and an operator's action race to end that one,
/// both write the same value.
///
/// For example, a breaker trips (open, attempt 0), a probe fails (open, attempt 1), and an operator disables it. The past of the
/// disabled generation is: open, opened by the failed probe, attempt 1. `resume` goes back to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Past {
    /// Closed, open or half-open: the state before, or the last one before an operator's.
    pub(crate) state: State,
    /// What had opened the breaker; of open and half-open.
    pub(crate) cause: Cause,
    /// How often it had re-opened since it tripped; at most [`MAX_ATTEMPT`].
    pub(crate) attempt: u32,
    /// How many generations of the same half-open period came directly before: one for each loss of leases. Saturates.
    pub(crate) period: u32,
}

const PERIOD: Field = Field::lowest(22);
const ATTEMPT: Field = PERIOD.above(7);
const CAUSE: Field = ATTEMPT.above(4);
const STATE: Field = CAUSE.above(2);
const _: () = assert!(STATE.above(7).mask() >> 41 == 1, "fits a tagged cell");

impl Past {
    pub(crate) const CLOSED: Self = Self {
        state: State::Closed,
        cause: Cause::Operator,
        attempt: 0,
        period: 0,
    };

    pub(crate) fn of_bits(bits: u64) -> Self {
        Self {
            state: match STATE.get(bits) {
                0 => State::Closed,
                1 => State::Open,
                _ => State::HalfOpen,
            },
            cause: cause_of(CAUSE.get(bits)),
            attempt: ATTEMPT.get(bits) as u32,
            period: PERIOD.get(bits) as u32,
        }
    }

    pub(crate) fn bits(self) -> u64 {
        let state = match self.state {
            State::Open => 1,
            State::HalfOpen => 2,
            _ => 0,
        };
        STATE.put(state)
            | CAUSE.put(code_of(self.cause))
            | ATTEMPT.put(u64::from(self.attempt.min(MAX_ATTEMPT)))
            | PERIOD.put(u64::from(self.period.min(PERIOD.max() as u32)))
    }

    /// How often the breaker has re-opened since it tripped, counted in the generation that has this past and is in
    /// `state`.
    pub(crate) fn attempt_in(self, state: State) -> u32 {
        match state {
            State::Closed => 0,
            // From half-open to open is a re-opening: a probe failed, or probes came to no verdict.
            State::Open if self.state == State::HalfOpen => (self.attempt + 1).min(MAX_ATTEMPT),
            _ => self.attempt,
        }
    }
}
