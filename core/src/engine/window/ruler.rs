//! Time in ticks.

use core::time::Duration;

use crate::contract::clock::saturating_nanos;

/// The first tick; restored outcomes lie before it.
pub(crate) const FIRST_TICK: u64 = 1 << 16;

/// How time is divided into ticks. They are numbered on when their length changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ruler {
    /// Nanoseconds of a tick, at least one.
    pub(crate) width: u64,
    /// The tick in which the breaker's clock was zero; wraps.
    pub(crate) origin: u64,
}

impl Ruler {
    /// The nanoseconds of one of so many parts of a length, rounded up.
    pub(crate) fn width(length: Duration, parts: u32) -> u64 {
        saturating_nanos(length).div_ceil(u64::from(parts)).max(1)
    }

    /// The tick at `now`, if it is later than this one.
    #[inline]
    pub(crate) fn later(self, tick: u64, now: u64) -> Option<u64> {
        (now >= self.start(tick.wrapping_add(1))).then(|| self.tick(now))
    }

    /// The tick at `now`.
    #[inline]
    pub(crate) const fn tick(self, now: u64) -> u64 {
        self.origin.wrapping_add(now / self.width)
    }

    /// When `tick` begins; one before the first of this ruler has begun at zero.
    #[inline]
    pub(crate) fn start(self, tick: u64) -> u64 {
        let ticks = tick.wrapping_sub(self.origin).cast_signed().max(0);
        ticks.cast_unsigned().saturating_mul(self.width)
    }

    /// How long ago `tick` began.
    pub(crate) fn age(self, tick: u64, now: u64) -> u64 {
        let before = self.origin.wrapping_sub(tick).cast_signed().max(0);
        let before = before.cast_unsigned().saturating_mul(self.width);
        now.saturating_sub(self.start(tick)).saturating_add(before)
    }
}
