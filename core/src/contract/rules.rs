//! The decisions, as pure functions.

use core::time::Duration;

use crate::contract::clock::saturating_nanos;
use crate::contract::config::{Config, OpenWait};
use crate::contract::evidence::Threshold;
use crate::contract::outcome::Counts;
use crate::contract::ratio::{least, reaches};
use crate::contract::state::Cause;

/// The rules of a config; zero stands for a rule that is not set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) min_calls: u32,
    pub(crate) consecutive_failures: u32,
    pub(crate) failures: u32,
    pub(crate) failure_ratio: f64,
    pub(crate) timeout_ratio: f64,
    pub(crate) slow_ratio: f64,
    pub(crate) failure_score: u32,
    pub(crate) slow_score: u32,
}

impl Rules {
    pub(crate) fn of(config: &Config) -> Self {
        Self {
            min_calls: config.min_calls(),
            consecutive_failures: config.consecutive_failures.unwrap_or(0),
            failures: config.failures.unwrap_or(0),
            failure_ratio: config.failure_ratio.unwrap_or(0.0),
            timeout_ratio: config.timeout_ratio.unwrap_or(0.0),
            slow_ratio: config.slow.map_or(0.0, |rule| rule.ratio),
            failure_score: config
                .window
                .scores()
                .and_then(|scores| scores.failures)
                .map_or(0, |score| score.limit.into()),
            slow_score: config
                .window
                .scores()
                .and_then(|scores| scores.slow)
                .map_or(0, |slow| slow.score.limit.into()),
        }
    }

    /// The rule on what the window holds that matches, in the order of the contract.
    pub(crate) fn matching(&self, counts: Counts) -> Option<Cause> {
        if self.failures > 0 && counts.failures >= self.failures {
            return Some(Cause::Failures);
        }
        if counts.samples < self.min_calls {
            return None;
        }
        [
            (Cause::FailureRatio, counts.failures, self.failure_ratio),
            (Cause::TimeoutRatio, counts.timeouts, self.timeout_ratio),
            (Cause::SlowRatio, counts.slow, self.slow_ratio),
        ]
        .into_iter()
        .find(|&(_, part, ratio)| ratio > 0.0 && reaches(part, counts.samples, ratio))
        .map(|(cause, ..)| cause)
    }

    /// What the rule asks for that is this cause; `None` if the cause is no rule.
    pub(crate) fn threshold(&self, cause: Cause) -> Option<Threshold> {
        match cause {
            Cause::ConsecutiveFailures => Some(Threshold::Failures(self.consecutive_failures)),
            Cause::Failures => Some(Threshold::Failures(self.failures)),
            Cause::FailureRatio => Some(Threshold::ratio(self.failure_ratio)),
            Cause::TimeoutRatio => Some(Threshold::ratio(self.timeout_ratio)),
            Cause::SlowRatio => Some(Threshold::ratio(self.slow_ratio)),
            Cause::FailureScore => Some(Threshold::Score(self.failure_score)),
            Cause::SlowScore => Some(Threshold::Score(self.slow_score)),
            _ => None,
        }
    }

    /// The least number of bad outcomes among `size` at which such a rule can
    /// match; `size + 1` if none is set. No kind of outcome is more frequent than
    /// the bad ones, so below this no rule can match.
    pub(crate) fn floor(&self, size: u32) -> u32 {
        [self.failure_ratio, self.timeout_ratio, self.slow_ratio]
            .into_iter()
            .filter(|&ratio| ratio > 0.0)
            .map(|ratio| least(ratio, size))
            .chain(Some(self.failures).filter(|&failures| failures > 0))
            .min()
            .unwrap_or(size + 1)
    }

    /// How many bad outcomes more than these it takes at least for such a rule to match, as
    /// long as none leaves the window; zero if successes may do, by reaching `min_calls`.
    ///
    /// Samples that come make each ratio's share of bad outcomes larger; so
    /// the least share is that of the samples there are, or of `min_calls`.
    pub(crate) fn slack(&self, counts: Counts) -> u32 {
        let samples = counts.samples.max(self.min_calls);
        [
            (counts.failures, self.failure_ratio),
            (counts.timeouts, self.timeout_ratio),
            (counts.slow, self.slow_ratio),
        ]
        .into_iter()
        .filter(|&(_, ratio)| ratio > 0.0)
        .map(|(part, ratio)| least(ratio, samples).saturating_sub(part))
        .chain(
            Some(self.failures)
                .filter(|&failures| failures > 0)
                .map(|failures| failures.saturating_sub(counts.failures)),
        )
        .min()
        .unwrap_or(u32::MAX)
    }
}

/// The open wait of the given re-opening in nanoseconds, at least one, and at least what the
/// upstream `asked` for.
///
/// `seed` and `generation` decide the jitter: the same pair gives the same
/// wait, and two breakers with different seeds differ.
pub(crate) fn open_wait(
    wait: &OpenWait,
    attempt: u32,
    asked: Option<Duration>,
    seed: u64,
    generation: u32,
) -> u64 {
    let longest = saturating_nanos(wait.max);
    let mut nanos = saturating_nanos(wait.base).min(longest);
    if attempt > 0 && wait.factor > 1.0 {
        // `as` saturates, so infinity becomes the longest wait.
        nanos = ((nanos as f64 * power(wait.factor, attempt)) as u64).clamp(nanos, longest);
    }
    if wait.jitter_percent > 0 {
        // The high bits of the hash as a fraction in [0, 1).
        let fraction = (mix(seed ^ u64::from(generation)) >> 11) as f64 / (1u64 << 53) as f64;
        let share = f64::from(wait.jitter_percent) / 100.0 * fraction;
        nanos -= ((nanos as f64 * share) as u64).min(nanos);
    }
    nanos.max(asked.map_or(1, saturating_nanos)).max(1)
}

/// `base^exponent` by squaring (`powi` is not in `core`).
fn power(mut base: f64, mut exponent: u32) -> f64 {
    let mut product = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    product
}

/// The output function of SplitMix64 (Steele, Lea, Flood: "Fast Splittable
/// Pseudorandom Number Generators", OOPSLA 2014).
pub(crate) const fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn rules(failure: f64, timeout: f64, slow: f64) -> Rules {
        Rules {
            min_calls: 1,
            consecutive_failures: 0,
            failures: 0,
            failure_ratio: failure,
            timeout_ratio: timeout,
            slow_ratio: slow,
            failure_score: 0,
            slow_score: 0,
        }
    }

    #[test]
    fn the_floor_is_exactly_where_the_quotient_reaches_the_ratio() {
        for size in 1..=300 {
            for percent in 1..=100 {
                let ratio = f64::from(percent) / 100.0;
                let naive = (1..=size).find(|&bad| f64::from(bad) / f64::from(size) >= ratio);
                assert_eq!(Some(rules(ratio, 0.0, 0.0).floor(size)), naive);
            }
        }
    }

    #[test]
    fn the_floor_is_that_of_the_lowest_ratio_and_above_the_window_without_one() {
        assert_eq!(rules(0.5, 0.25, 0.75).floor(8), 2);
        assert_eq!(rules(0.0, 0.0, 0.0).floor(8), 9);
    }

    #[test]
    fn the_first_matching_ratio_in_the_order_of_the_contract_is_the_cause() {
        let counts = |failures, timeouts, slow| Counts {
            samples: 10,
            failures,
            timeouts,
            slow,
        };
        let all = rules(0.5, 0.5, 0.5);
        assert_eq!(all.matching(counts(5, 5, 5)), Some(Cause::FailureRatio));
        assert_eq!(all.matching(counts(4, 0, 5)), Some(Cause::SlowRatio));
        assert_eq!(
            rules(0.0, 0.5, 0.5).matching(counts(9, 5, 9)),
            Some(Cause::TimeoutRatio)
        );
        assert_eq!(all.matching(counts(4, 4, 4)), None);
    }

    #[test]
    fn waits_grow_by_the_factor_up_to_the_maximum_and_saturate() {
        let seconds = Duration::from_secs;
        let wait =
            |wait: &OpenWait, attempt| Duration::from_nanos(open_wait(wait, attempt, None, 0, 0));
        let doubling = OpenWait::exponential(seconds(10), 2.0, seconds(40));
        assert_eq!(
            [0, 1, 2, 3, u32::MAX].map(|attempt| wait(&doubling, attempt)),
            [10, 20, 40, 40, 40].map(seconds)
        );
        let boundless = OpenWait::exponential(seconds(1), 10.0, Duration::MAX);
        assert_eq!(open_wait(&boundless, 1_000_000, None, 0, 0), u64::MAX);
        assert_eq!(
            open_wait(&OpenWait::fixed(Duration::MAX), 0, None, 0, 0),
            u64::MAX
        );
    }

    #[test]
    fn jitter_shortens_by_at_most_its_share_and_differs_between_seeds() {
        let wait = OpenWait::fixed(Duration::from_secs(10)).jitter_percent(30);
        let waits: Vec<u64> = (0..1000)
            .map(|seed| open_wait(&wait, 0, None, seed, 7))
            .collect();
        assert!(
            waits
                .iter()
                .all(|wait| (7_000_000_000..=10_000_000_000).contains(wait))
        );
        let spread = waits.iter().max().unwrap() - waits.iter().min().unwrap();
        assert!(spread > 2_900_000_000, "{spread}");
        let full = OpenWait::fixed(Duration::from_nanos(1)).jitter_percent(100);
        assert_eq!(open_wait(&full, 0, None, 3, 4), 1);
    }

    #[test]
    fn what_is_asked_for_lengthens_a_wait_and_jitter_does_not_shorten_it() {
        let seconds = Duration::from_secs;
        let wait = OpenWait::exponential(seconds(10), 2.0, seconds(40)).jitter_percent(50);
        for seed in 0..1000 {
            let of = |attempt, asked| open_wait(&wait, attempt, asked, seed, 7);
            for attempt in 0..3 {
                let configured = of(attempt, None);
                assert_eq!(of(attempt, Some(Duration::ZERO)), configured);
                assert_eq!(
                    of(attempt, Some(Duration::from_nanos(configured - 1))),
                    configured
                );
                assert_eq!(of(attempt, Some(seconds(41))), 41_000_000_000);
            }
        }
        assert_eq!(open_wait(&wait, 0, Some(Duration::MAX), 0, 0), u64::MAX);
    }
}
