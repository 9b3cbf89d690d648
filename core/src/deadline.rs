//! Points in time at which a wait or a lease is over.

use core::time::Duration;

/// A point in time in whole microseconds since the breaker's start, rounded
/// up, so that nothing is over early. Fifty bits of them are 35 years; what
/// lies beyond never comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deadline(u64);

impl Deadline {
    pub(crate) const BITS: u32 = 50;
    /// Bits of the coarse form, which the breaker's word has room for.
    pub(crate) const COARSE_BITS: u32 = 33;

    /// A deadline that never comes.
    pub(crate) const NEVER: Self = Self(u64::MAX >> (64 - Self::BITS));

    /// `wait` nanoseconds after `now`.
    #[inline]
    pub(crate) fn after(now: u64, wait: u64) -> Self {
        Self(now.saturating_add(wait).div_ceil(1000)).min(Self::NEVER)
    }

    #[inline]
    pub(crate) const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    pub(crate) const fn micros(self) -> u64 {
        self.0
    }

    /// The coarse form, rounded up again: at most 131 ms late. The latest
    /// ones read as never.
    pub(crate) const fn to_coarse(self) -> u64 {
        let unit = 1 << (Self::BITS - Self::COARSE_BITS);
        let coarse = self.0.div_ceil(unit);
        let never = Self::NEVER.0 / unit;
        if coarse < never { coarse } else { never }
    }

    #[inline]
    pub(crate) const fn from_coarse(coarse: u64) -> Self {
        let shift = Self::BITS - Self::COARSE_BITS;
        if coarse == Self::NEVER.0 >> shift {
            return Self::NEVER;
        }
        Self(coarse << shift)
    }

    #[inline]
    pub(crate) fn is_over(self, now: u64) -> bool {
        self != Self::NEVER && self.0 * 1000 <= now
    }

    /// The time left; `None` for one that never comes.
    #[inline]
    pub(crate) fn left(self, now: u64) -> Option<Duration> {
        if self == Self::NEVER {
            return None;
        }
        Some(Duration::from_nanos((self.0 * 1000).saturating_sub(now)))
    }
}
