//! Points in time at which a wait or a lease is over.

/// A point in time in whole microseconds since the breaker's start, rounded
/// up, so that nothing is over early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deadline(u64);

/// The last microsecond that a clock of 64 bits of nanoseconds can reach, after 584 years.
const LAST: u64 = u64::MAX / 1000;
const MILLI: u64 = 1000;

impl Deadline {
    /// A deadline that never comes.
    pub(crate) const NEVER: Self = Self(u64::MAX);

    /// `wait` nanoseconds after `now`; never, if no clock gets there. No wait is over at once.
    #[inline]
    pub(crate) const fn after(now: u64, wait: u64) -> Self {
        let end = now.saturating_add(wait);
        if end == u64::MAX {
            return Self::NEVER;
        }
        let micros = if wait == 0 {
            end / 1000
        } else {
            end.div_ceil(1000)
        };
        Self(micros).unless_late()
    }

    /// The deadline of so many microseconds.
    #[inline]
    pub(crate) const fn from_micros(micros: u64) -> Self {
        Self(micros).unless_late()
    }

    /// The microseconds since the start; `u64::MAX` for one that never comes.
    pub(crate) const fn micros(self) -> u64 {
        self.0
    }

    #[inline]
    const fn unless_late(self) -> Self {
        if self.0 > LAST { Self::NEVER } else { self }
    }

    /// The deadline in milliseconds, rounded up; `never` for one that never comes, or comes later.
    pub(crate) fn to_millis(self, never: u64) -> u64 {
        self.0.div_ceil(MILLI).min(never)
    }

    /// The deadline of so many milliseconds, of which `never` are one that never comes.
    pub(crate) const fn from_millis(millis: u64, never: u64) -> Self {
        if millis == never {
            return Self::NEVER;
        }
        Self(millis.saturating_mul(MILLI)).unless_late()
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
