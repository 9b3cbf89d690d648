//! Points in time at which a wait or a lease is over.

use core::time::Duration;

use crate::contract::clock::saturating_nanos;

/// A point in time in whole microseconds since the start, rounded up so that
/// it never comes early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Deadline(pub(super) u64);

impl Deadline {
    /// Later than every other, and never passed.
    pub(super) const NEVER: Self = Self(u64::MAX);

    /// The last one that comes, in 35 years: as many units of 524 ms as the breaker
    /// can count.
    const LAST: Self = Self(((1 << 31) - 2) << 19);

    /// `wait` nanoseconds after `at`.
    pub(super) fn after(at: Duration, wait: u64) -> Self {
        let nanos = saturating_nanos(at).saturating_add(wait);
        Self(nanos.div_ceil(1000)).unless_late()
    }

    /// Rounded up to a millisecond.
    pub(super) fn in_millis(self) -> Self {
        if self == Self::NEVER {
            return self;
        }
        Self(self.0.next_multiple_of(1000)).unless_late()
    }

    pub(super) fn unless_late(self) -> Self {
        if self > Self::LAST { Self::NEVER } else { self }
    }

    /// The time since the start, unless it never comes.
    pub(super) fn time(self) -> Option<Duration> {
        (self != Self::NEVER).then(|| Duration::from_micros(self.0))
    }

    pub(super) fn passed(self, at: Duration) -> bool {
        self.time().is_some_and(|time| at >= time)
    }

    /// The time left at `at`; for ever if it never comes.
    pub(super) fn left(self, at: Duration) -> Duration {
        match self.time() {
            Some(time) => time.saturating_sub(at),
            None => Duration::MAX,
        }
    }
}
