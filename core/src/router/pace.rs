//! How fast a target answers: a mean that leaps up and sinks slowly.

use core::time::Duration;

use crate::engine::sync::{AtomicU64, Relaxed};

/// After so long without news half of a mean is left.
const HALF_LIFE: Duration = Duration::from_secs(10);

/// The time that a stamp counts in: 2^20 ns, about a millisecond. It comes around after 52 days.
const STAMP_BITS: u32 = 20;
/// The time that a mean counts in: 2^10 ns, about a microsecond. The longest is 73 minutes.
const MEAN_BITS: u32 = 10;

const HALF_LIFE_STAMPS: u64 = (HALF_LIFE.as_nanos() >> STAMP_BITS) as u64;

/// The mean of a target's latencies in the upper half, and when it was last changed in the lower. Zero if nothing is known.
/// All relaxed: nothing else depends on it.
#[derive(Debug)]
pub(super) struct Pace(AtomicU64);

/// What an answer says of the pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// It came, after this time.
    Came,
    /// It did not come within this time: a failure may be quick, and is no sign of speed.
    NotBefore,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Takes a latency in, at a reading of the breaker's clock in nanoseconds. One above the mean becomes the mean; one below it
    /// pulls it down the further, the older it is.
    pub(super) fn note(&self, now: u64, took: Duration, news: News) {
        let took = u64::try_from(took.as_nanos() >> MEAN_BITS).unwrap_or(u64::MAX);
        let took = took.clamp(1, u32::MAX.into());
        let now = stamp(now);
        let next = |word: u64| {
            let (mean, noted) = (word >> 32, word as u32);
            let age = age(noted, now);
            let mean = if took >= halved(mean, age) {
                took
            } else if news == News::Came {
                took + halved(mean - took, age)
            } else {
                return None;
            };
            Some(mean << 32 | u64::from(now))
        };
        let _ = self.0.fetch_update(Relaxed, Relaxed, next);
    }

    /// The mean at a reading of the breaker's clock: without news it sinks, so that a target which was slow is tried again.
    #[inline]
    pub(super) fn at(&self, now: u64) -> u64 {
        let word = self.0.load(Relaxed);
        if word == 0 {
            return 0;
        }
        // What is known is never as good as nothing known.
        halved(word >> 32, age(word as u32, stamp(now))).max(1)
    }
}

fn stamp(nanos: u64) -> u32 {
    (nanos >> STAMP_BITS) as u32
}

/// None if another thread has noted something later.
fn age(noted: u32, now: u32) -> u64 {
    let age = now.wrapping_sub(noted);
    if age > u32::MAX / 2 { 0 } else { age.into() }
}

/// What is left of a mean: half of it after each half-life, and in between on the straight line.
fn halved(mean: u64, age: u64) -> u64 {
    let (whole, part) = (age / HALF_LIFE_STAMPS, age % HALF_LIFE_STAMPS);
    let left = mean
        .checked_shr(u32::try_from(whole).unwrap_or(u32::MAX))
        .unwrap_or(0);
    left - left * part / (2 * HALF_LIFE_STAMPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// To a millisecond: a mean counts in other units.
    #[track_caller]
    fn is_about(pace: &Pace, now: u64, millis: u64) {
        let mean = (pace.at(now) << MEAN_BITS) / 1_000_000;
        assert!(mean.abs_diff(millis) <= 1, "{mean} ms");
    }

    #[test]
    fn a_mean_leaps_up_and_sinks_by_half_in_ten_seconds() {
        let pace = Pace::new();
        assert_eq!(pace.at(0), 0);
        pace.note(0, Duration::from_millis(10), News::Came);
        pace.note(0, Duration::from_millis(800), News::Came);
        is_about(&pace, 0, 800);
        is_about(&pace, 10 * SECOND, 400);
        is_about(&pace, 15 * SECOND, 300);
        is_about(&pace, 20 * SECOND, 200);
        assert_eq!(pace.at(1 << 50), 1);
        // Of 790 ms too many half are left.
        pace.note(10 * SECOND, Duration::from_millis(10), News::Came);
        is_about(&pace, 10 * SECOND, 405);
    }

    #[test]
    fn what_did_not_come_is_no_sign_of_speed() {
        let pace = Pace::new();
        pace.note(0, Duration::from_millis(100), News::Came);
        pace.note(SECOND, Duration::from_millis(1), News::NotBefore);
        is_about(&pace, 0, 100);
        pace.note(SECOND, Duration::from_millis(500), News::NotBefore);
        is_about(&pace, SECOND, 500);
    }

    #[test]
    fn the_longest_and_the_shortest_latencies_are_taken_in() {
        let pace = Pace::new();
        pace.note(0, Duration::ZERO, News::Came);
        assert_eq!(pace.at(0), 1);
        pace.note(10 * SECOND, Duration::MAX, News::Came);
        assert_eq!(pace.at(10 * SECOND), u32::MAX.into());
        // A reading of before is no age.
        assert_eq!(pace.at(0), u32::MAX.into());
    }
}
