//! Points in time at which a wait or a lease is over.

/// A point in time in whole microseconds since the breaker's start, rounded
/// up, so that nothing is over early. What lies more than 35 years ahead never comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deadline(u64);

/// Microseconds in a unit of the coarse form: 524 ms.
const COARSE: u64 = 1 << 19;
const MILLI: u64 = 1000;

impl Deadline {
    /// Bits of the coarse form, which the breaker's word has room for.
    pub(crate) const COARSE_BITS: u32 = 31;

    /// A deadline that never comes: the last coarse unit.
    pub(crate) const NEVER: Self = Self(((1 << Self::COARSE_BITS) - 1) * COARSE);

    /// `wait` nanoseconds after `now`.
    #[inline]
    pub(crate) fn after(now: u64, wait: u64) -> Self {
        Self(now.saturating_add(wait).div_ceil(1000)).unless_late()
    }

    /// What the coarse form would round up to never is never.
    #[inline]
    const fn unless_late(self) -> Self {
        if self.0 > Self::NEVER.0 - COARSE {
            return Self::NEVER;
        }
        self
    }

    /// The deadline in coarse units, rounded up, and what to take off again.
    pub(crate) const fn to_coarse(self) -> (u64, u64) {
        let coarse = self.0.div_ceil(COARSE);
        (coarse, coarse * COARSE - self.0)
    }

    /// The deadline of so many coarse units, less so many microseconds.
    #[inline]
    pub(crate) const fn from_coarse(coarse: u64, less: u64) -> Self {
        Self(coarse * COARSE - less)
    }

    /// The deadline in milliseconds, rounded up.
    pub(crate) const fn to_millis(self) -> u64 {
        self.0.div_ceil(MILLI)
    }

    /// The deadline of so many milliseconds.
    pub(crate) const fn from_millis(millis: u64) -> Self {
        Self(millis * MILLI).unless_late()
    }

    #[inline]
    pub(crate) fn is_over(self, now: u64) -> bool {
        self != Self::NEVER && self.0 * 1000 <= now
    }

    /// The nanoseconds left; `None` for one that never comes.
    #[inline]
    pub(crate) fn left(self, now: u64) -> Option<u64> {
        if self == Self::NEVER {
            return None;
        }
        Some((self.0 * 1000).saturating_sub(now))
    }
}
