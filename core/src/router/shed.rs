//! The limit on how many targets may be kept from traffic at once.

use core::cmp::Reverse;
use core::time::Duration;

use super::queue::Queue;
use crate::breaker::Breaker;
use crate::contract::clock::Clock;
use crate::contract::state::State;

/// Whether a target that has just rejected is to be called all
/// the same, because more ordinary targets reject than may be shed.
///
/// A reading of many breakers, none of which stands still meanwhile: two calls
/// at one moment may see different sets.
pub(super) fn must_stay_in_use<T, C: Clock>(queue: &Queue<T, C>, position: usize) -> bool {
    match queue.config.max_shed {
        None => false,
        Some(limit) => {
            queue.ordinary.members.contains(position) && is_beyond(limit as usize, queue, position)
        }
    }
}

#[cold]
fn is_beyond<T, C: Clock>(limit: usize, queue: &Queue<T, C>, position: usize) -> bool {
    let wait = |position: usize| wait_of(queue.places[position].member.breaker());
    let Some(own) = wait(position) else {
        // It has recovered since it rejected.
        return false;
    };
    let longer = queue.ordinary.members.filter(|other| {
        wait(other).is_some_and(|wait| (wait, Reverse(other)) > (own, Reverse(position)))
    });
    own < Wait::Forced && longer.len() >= limit
}

/// Whether a target in this state is kept from traffic.
pub(super) const fn is_out(state: State) -> bool {
    matches!(state, State::Open | State::HalfOpen | State::ForcedOpen)
}

/// How long a breaker will go on rejecting. A half-open one is left to its
/// probes before one that is open is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wait {
    Open(Duration),
    HalfOpen,
    Forced,
}

fn wait_of<C: Clock>(breaker: &Breaker<C>) -> Option<Wait> {
    match breaker.state() {
        State::Closed | State::Disabled | State::ObserveOnly => None,
        State::HalfOpen => Some(Wait::HalfOpen),
        State::ForcedOpen => Some(Wait::Forced),
        State::Open => Some(Wait::Open(
            breaker.snapshot().remaining.unwrap_or(Duration::ZERO),
        )),
    }
}
