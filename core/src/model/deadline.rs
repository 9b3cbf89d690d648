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

    /// The last one that a clock of 64 bits of nanoseconds can reach, after 584 years.
    const LAST: Self = Self(u64::MAX / 1000);

    /// The last one in milliseconds that is kept: 42 bits, 139 years.
    const LAST_IN_MILLIS: Self = Self(((1 << 42) - 2) * 1000);

    /// `wait` nanoseconds after `at`. No wait is over at once.
    pub(super) fn after(at: Duration, wait: u64) -> Self {
        match saturating_nanos(at).saturating_add(wait) {
            u64::MAX => Self::NEVER,
            nanos if wait == 0 => Self(nanos / 1000),
            nanos => Self(nanos.div_ceil(1000)).unless_after(Self::LAST),
        }
    }

    /// The end of an open wait: rounded up to a millisecond, a second or a thousand
    /// seconds if the wait takes more than 2^28 of what is finer.
    pub(super) fn of_wait(at: Duration, wait: u64) -> Self {
        let Self(exact) = Self::after(at, wait);
        let takes_few = |grain: u64| wait.div_ceil(1000).div_ceil(grain) < (1 << 28) - 1;
        let grain = [1, 1_000, 1_000_000]
            .into_iter()
            .find(|&grain| takes_few(grain))
            .unwrap_or(1_000_000_000);
        match exact.checked_next_multiple_of(grain) {
            Some(micros) => Self(micros).unless_after(Self::LAST),
            None => Self::NEVER,
        }
    }

    /// Rounded up to a millisecond.
    pub(super) fn in_millis(self) -> Self {
        match self.0.checked_next_multiple_of(1000) {
            Some(micros) => Self(micros)
                .unless_after(Self::LAST_IN_MILLIS)
                .unless_after(Self::LAST),
            None => Self::NEVER,
        }
    }

    fn unless_after(self, last: Self) -> Self {
        if self > last { Self::NEVER } else { self }
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
