//! A window that keeps a score in the place of outcomes.

use alloc::format;
use core::time::Duration;

use crate::contract::clock::saturating_nanos;
use crate::contract::error::ConfigError;
use crate::contract::score::Score;

/// A window that keeps scores in the place of outcomes: see [`Window::Cusum`](crate::Window::Cusum).
///
/// Each outcome that is recorded moves the scores: a failure or a timeout raises the one on failures, a slow call
/// the one on slow calls, and any other outcome lowers it ([`Score`]). A rule matches on an outcome that
/// raises its score to the limit, or that would raise it if it were not there already.
///
/// Failures of real upstreams come in bursts, and a stall that releases a dozen of them within a tenth of a second
/// is no outage. So a score must *last*: it matches when it has been above zero for [`lasting`](Self::lasting);
/// until then it stays at the limit. And since an outcome says nothing of an upstream for ever, a
/// score that nothing has raised for [`max_age`](Self::max_age) starts again at zero with the next outcome that
/// raises it. Both are measured in whole milliseconds since the breaker was built, and the
/// clock is read by outcomes that raise a score, never by others. Those that neither leave zero nor are at the limit
/// read [`Clock::recent`](crate::Clock::recent) where there is one and `max_age` is 5 seconds or more: the age is then known to 50 ms. Of calls that overlap when a score leaves zero
/// or comes of age, either may be the first.
///
/// # Examples
///
/// ```
/// use cutout::{Breaker, Cause, Config, Cusum, Outcome, Score, Settled};
/// use core::time::Duration;
///
/// let score = Score { bad: 10, good: 1, limit: 55 };
/// let breaker = Breaker::new(Config::cusum(Cusum::of_failures(score).lasting(Duration::ZERO)))?;
/// let fail = || breaker.allow().unwrap().done(Outcome::Failure);
/// for _ in 0..5 {
///     assert_eq!(fail(), Settled::Recorded);
/// }
/// assert_eq!(fail(), Settled::Tripped);
/// assert_eq!(breaker.evidence().trip.unwrap().cause, Cause::FailureScore);
/// # Ok::<(), cutout::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Cusum {
    /// The score that failures and timeouts raise, if there is one.
    pub failures: Option<Score>,
    /// The score that slow calls raise, if there is one.
    pub slow: Option<SlowScore>,
    /// How long a score must have been above zero to match, half a second by default: whole milliseconds, from none
    /// to an hour. It is added to the time that the breaker takes to open.
    pub lasting: Duration,
    /// After how long a score starts again at zero that nothing has raised, a minute by default: whole milliseconds,
    /// from `lasting` and one millisecond to a day. With `None` it never does.
    pub max_age: Option<Duration>,
    /// What share of the limit the scores begin with once probes have closed the breaker, 0 to 99 %, 0 by default:
    /// so that an upstream that is not well yet is found out sooner (Lucas and Crosier, "Fast
    /// initial response for CUSUM quality-control schemes", Technometrics 24 (1982)). It begins to last with the
    /// first outcome that raises it.
    pub head_start_percent: u32,
}

/// A score that slow calls raise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlowScore {
    /// A call that takes this long or longer is slow; above zero.
    pub limit: Duration,
    /// What slow calls and others do.
    pub score: Score,
}

impl Cusum {
    /// The longest [`lasting`](Self::lasting).
    pub const MAX_LASTING: Duration = Duration::from_secs(3600);

    /// The greatest [`max_age`](Self::max_age).
    pub const MAX_AGE: Duration = Duration::from_secs(24 * 3600);

    /// The most [`consecutive_failures`](crate::Config::consecutive_failures) beside scores.
    pub const MAX_CONSECUTIVE: u32 = 255;

    /// No score, and how they are judged by default.
    pub(crate) const NONE: Self = Self {
        failures: None,
        slow: None,
        lasting: Duration::from_millis(500),
        max_age: Some(Duration::from_secs(60)),
        head_start_percent: 0,
    };

    /// A score on failures and timeouts.
    pub const fn of_failures(score: Score) -> Self {
        Self {
            failures: Some(score),
            ..Self::NONE
        }
    }

    /// A score on calls that take `limit` or longer.
    pub const fn of_slow(limit: Duration, score: Score) -> Self {
        Self {
            slow: Some(SlowScore { limit, score }),
            ..Self::NONE
        }
    }

    /// The same with a score on calls that take `limit` or longer.
    #[must_use]
    pub const fn and_slow(mut self, limit: Duration, score: Score) -> Self {
        self.slow = Some(SlowScore { limit, score });
        self
    }

    /// Sets [`lasting`](Self::lasting).
    #[must_use]
    pub const fn lasting(mut self, lasting: Duration) -> Self {
        self.lasting = lasting;
        self
    }

    /// Sets [`max_age`](Self::max_age); `None` for no such age.
    #[must_use]
    pub const fn max_age(mut self, age: Option<Duration>) -> Self {
        self.max_age = age;
        self
    }

    /// Sets [`head_start_percent`](Self::head_start_percent).
    #[must_use]
    pub const fn head_start_percent(mut self, percent: u32) -> Self {
        self.head_start_percent = percent;
        self
    }

    /// What a score begins with once probes have closed the breaker.
    pub(crate) fn head_start(&self, score: Score) -> u16 {
        (u32::from(score.limit) * self.head_start_percent.min(99) / 100) as u16
    }

    /// As it is kept: a slow limit above 584 years is that long.
    pub(crate) fn kept(mut self) -> Self {
        if let Some(slow) = &mut self.slow {
            slow.limit = Duration::from_nanos(saturating_nanos(slow.limit));
        }
        self
    }

    /// Whether the values are legal.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        if let Some(score) = self.failures {
            score.validate("window.failures")?;
        }
        if let Some(slow) = self.slow {
            slow.score.validate("window.slow")?;
            if slow.limit.is_zero() {
                return Err(refused("window.slow.limit", slow.limit, "above zero"));
            }
        }
        if self.failures.is_none() && self.slow.is_none() {
            return Err(ConfigError {
                field: "window",
                value: "no score".into(),
                legal: "a score on failures, one on slow calls, or both",
            });
        }
        if !is_whole(self.lasting) || self.lasting > Self::MAX_LASTING {
            let legal = "whole milliseconds, from none to an hour";
            return Err(refused("window.lasting", self.lasting, legal));
        }
        if let Some(age) = self.max_age
            && (!is_whole(age) || age <= self.lasting || age > Self::MAX_AGE)
        {
            let legal = "whole milliseconds, more than window.lasting and at most a day; or none";
            return Err(refused("window.max_age", age, legal));
        }
        if self.head_start_percent > 99 {
            return Err(ConfigError {
                field: "window.head_start_percent",
                value: format!("{}", self.head_start_percent),
                legal: "0 to 99",
            });
        }
        Ok(())
    }
}

fn is_whole(duration: Duration) -> bool {
    duration.as_nanos().is_multiple_of(1_000_000)
}

fn refused(field: &'static str, value: Duration, legal: &'static str) -> ConfigError {
    ConfigError {
        field,
        value: format!("{value:?}"),
        legal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::config::{Config, Overdue, SlowRule};

    const SCORE: Score = Score {
        bad: 10,
        good: 1,
        limit: 55,
    };

    fn refused_field(config: Config) -> &'static str {
        config.validate().unwrap_err().field()
    }

    #[test]
    fn illegal_values_are_refused_by_the_name_of_their_field() {
        let good = Cusum::of_failures(SCORE).and_slow(Duration::from_secs(1), SCORE);
        Config::cusum(good).validate().unwrap();
        let of = |score| Config::cusum(Cusum::of_failures(score));
        for score in [
            Score { bad: 0, ..SCORE },
            Score { good: 0, ..SCORE },
            Score { limit: 9, ..SCORE },
            Score {
                limit: 4096,
                ..SCORE
            },
        ] {
            assert_eq!(refused_field(of(score)), "window.failures");
        }
        for (cusum, field) in [
            (good.and_slow(Duration::ZERO, SCORE), "window.slow.limit"),
            (good.lasting(Duration::from_micros(1)), "window.lasting"),
            (good.lasting(Duration::from_secs(3601)), "window.lasting"),
            (good.max_age(Some(good.lasting)), "window.max_age"),
            (good.max_age(Some(Duration::MAX)), "window.max_age"),
            (good.head_start_percent(100), "window.head_start_percent"),
            (
                Cusum {
                    slow: None,
                    failures: None,
                    ..good
                },
                "window",
            ),
        ] {
            assert_eq!(refused_field(Config::cusum(cusum)), field);
        }
    }

    #[test]
    fn other_rules_do_not_stand_beside_scores_and_a_run_of_failures_may() {
        let config = Config::cusum(Cusum::of_failures(SCORE));
        let slow = SlowRule {
            limit: Duration::from_secs(1),
            ratio: 0.5,
        };
        for (config, field) in [
            (
                Config {
                    failure_ratio: Some(0.5),
                    ..config
                },
                "failure_ratio",
            ),
            (
                Config {
                    timeout_ratio: Some(0.5),
                    ..config
                },
                "timeout_ratio",
            ),
            (
                Config {
                    slow: Some(slow),
                    ..config
                },
                "slow",
            ),
            (
                Config {
                    min_calls: Some(1),
                    ..config
                },
                "min_calls",
            ),
            (
                Config {
                    failures: Some(1),
                    ..config
                },
                "failures",
            ),
            (
                Config {
                    overdue: Some(Overdue::Slow),
                    ..config
                },
                "overdue",
            ),
            (
                Config {
                    consecutive_failures: Some(256),
                    ..config
                },
                "consecutive_failures",
            ),
        ] {
            assert_eq!(refused_field(config), field);
        }
        let run = Config {
            consecutive_failures: Some(255),
            ..config
        };
        run.validate().unwrap();
    }
}
