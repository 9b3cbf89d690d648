//! Whose turn it is: fair shares by weight, exact when nobody is left out.
//!
//! Each target has the moment of its next turn on a clock that only turns move:
//! taking a turn puts the target's next one off by a stride, which is the shorter
//! the greater its weight. The target whose turn is earliest is next, and the clock
//! stands at the last turn taken. A target that was left out for a time (its
//! breaker was open) has a turn that is long due; that counts as due now, so it goes
//! on with its share and does not catch up.

use alloc::boxed::Box;

use super::positions::Positions;
use super::sticky::mix;
use crate::engine::sync::{AtomicU64, Relaxed};

/// Strides are whole numbers when the weights have a common multiple up to this;
/// otherwise they are rounded, by less than a part in a thousand.
const LONGEST_STRIDE: u64 = 1 << 24;

/// All relaxed: turns order nothing. Two threads that see the same turn both take
/// it, and the target's next one is put off twice. What a thread sees is never later than what is,
/// so the clock never passes a turn that is still to be taken: nobody loses one.
#[derive(Debug)]
pub(super) struct Turns {
    clock: AtomicU64,
    due: Box<[AtomicU64]>,
    strides: Box<[u64]>,
}

/// A target and its turn, as it was when it was picked.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub(super) position: usize,
    at: u64,
}

impl Turn {
    /// Where nobody takes turns.
    #[inline]
    pub(super) const fn none(position: usize) -> Self {
        Self { position, at: 0 }
    }
}

impl Turns {
    pub(super) fn new(weights: impl Iterator<Item = u32> + Clone) -> Self {
        let divisor = weights
            .clone()
            .fold(0, |all, weight| gcd(all, weight.into()));
        let weights = weights.map(|weight| u64::from(weight) / divisor.max(1));
        let multiple = weights.clone().fold(1, |all, weight| {
            (all / gcd(all, weight) * weight).min(LONGEST_STRIDE)
        });
        Self {
            clock: AtomicU64::new(0),
            due: weights.clone().map(|_| AtomicU64::new(0)).collect(),
            strides: weights.map(|weight| multiple / weight).collect(),
        }
    }

    /// The target whose turn is next; of several the one that is first in the queue.
    #[inline]
    pub(super) fn next(&self, among: Positions) -> Option<Turn> {
        let clock = self.clock.load(Relaxed);
        let least = among.least(|position| self.until(position, clock));
        least.map(|(position, until)| Turn {
            position,
            at: clock.wrapping_add(until),
        })
    }

    /// The target with the least load for its weight; of several the one whose turn is next.
    #[inline]
    pub(super) fn least(&self, among: Positions, load: impl Fn(usize) -> u64) -> Option<Turn> {
        let clock = self.clock.load(Relaxed);
        let least = among.least(|position| {
            let load = load(position) * self.strides[position];
            // One number, as it is compared faster than two.
            u128::from(load) << 64 | u128::from(self.until(position, clock))
        });
        least.map(|(position, key)| Turn {
            position,
            at: clock.wrapping_add(key as u64),
        })
    }

    /// Two numbers that are as good as random, and others each time.
    #[inline]
    pub(super) fn draw(&self) -> (u32, u32) {
        let drawn = mix(self.clock.fetch_add(1, Relaxed));
        (drawn as u32, (drawn >> 32) as u32)
    }

    /// How a load weighs on a target.
    #[inline]
    pub(super) fn by_weight(&self, position: usize, load: u64) -> u128 {
        u128::from(load) * u128::from(self.strides[position])
    }

    /// The turn of a target that is picked by something else.
    #[inline]
    pub(super) fn of(&self, position: usize) -> Turn {
        let clock = self.clock.load(Relaxed);
        Turn {
            position,
            at: clock.wrapping_add(self.until(position, clock)),
        }
    }

    #[inline]
    pub(super) fn take(&self, turn: Turn) {
        let clock = self.clock.load(Relaxed);
        let stride = self.strides[turn.position];
        let next = |due| Some(clock.wrapping_add(ahead(due, clock)).wrapping_add(stride));
        let _ = self.due[turn.position].fetch_update(Relaxed, Relaxed, next);
        let forward = |clock| (ahead(turn.at, clock) > 0).then_some(turn.at);
        let _ = self.clock.fetch_update(Relaxed, Relaxed, forward);
    }

    #[inline]
    fn until(&self, position: usize, clock: u64) -> u64 {
        ahead(self.due[position].load(Relaxed), clock)
    }
}

/// How far `moment` is ahead of the clock, which wraps; zero if it is not.
#[inline]
fn ahead(moment: u64, clock: u64) -> u64 {
    (moment.wrapping_sub(clock) as i64).max(0) as u64
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
