//! What a half-open breaker asks of its probes: one stage, or several.

use alloc::format;

use crate::contract::error::ConfigError;
use crate::contract::ratio::least;

/// Recovery by stages: more probes with each stage that goes well, and a share of them that may fail.
///
/// The first stage admits `first` probes, each further one `growth` times as many as the one before, up to `until`. That many
/// may be out at a time, and that many outcomes decide the stage: once the share of failures, timeouts and slow calls
/// reaches `failure_ratio` the breaker opens again, with the next wait; otherwise the next stage begins. After the
/// stage of `until` it closes, with an empty window: the probes came one by one to an upstream with little to
/// do, so they say little of how it will do under all calls, and `min_calls` new ones are waited for.
///
/// A stage ends as soon as what is missing cannot change its verdict. With a ratio of 0.5 a stage of 4 has passed
/// after 3 that are well, and opens at the second failure. Probes that are still out then
/// have their say in the next stage and take up slots of it.
///
/// Answers that say no count as well, and those that are ignored free their slot and decide nothing:
/// [`max_inconclusive`](crate::Config::max_inconclusive) of them in one stage open again. A probe that has outlasted its lease loses its
/// slot, and its outcome counts in the stage that it finds. A stage is no transition: nothing becomes stale by it, and listeners hear
/// of none; a [`Snapshot`](crate::Snapshot) tells which one it is. An operator's action, a restart and a
/// re-opening begin again at the first stage. [`reconfigure`](crate::Breaker::reconfigure) keeps how many outcomes the stages have
/// come to, and goes on in the stage that this number belongs to by the new config.
///
/// # How small stages judge
///
/// A small stage has to be decided by few outcomes. A stage of one opens at its first failure, whatever the
/// ratio. Of an upstream that is back with 10 % errors, so many of 100 recoveries come through all stages:
///
/// | stages | ratio 0.2 | ratio 0.3 | ratio 0.4 | ratio 0.5 |
/// | --- | --- | --- | --- | --- |
/// | 1, 2, 4 … 64 | 35 | 65 | 69 | 69 |
/// | 4, 8 … 64 | 47 | 90 | 94 | 94 |
/// | 8, 16 … 64 | 72 | 95 | 99 | 99 |
/// | 16, 32, 64 | 89 | 98 | 100 | 100 |
///
/// So where some errors are usual, begin with 8, and let a stage show about twice the share that opens the closed breaker. At 8, 16 … 64
/// and 0.4 an upstream with 30 % errors comes through in 55 of 100, one with 40 % in 7; what comes through too early, the rules
/// of the closed breaker find.
///
/// # Examples
///
/// ```
/// use cutout::{Breaker, Stages};
///
/// let breaker = Breaker::builder()
///     .failure_ratio(0.2)
///     .stages(Stages { first: 8, failure_ratio: 0.4, ..Stages::default() })
///     .build()?;
/// # Ok::<(), cutout::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stages {
    /// How many probes the first stage admits; 1 to `until`.
    pub first: u32,
    /// How many times as many each further one admits; 2 to 128.
    pub growth: u32,
    /// How many the last one admits; 1 to 128. All stages together come to at most 255.
    pub until: u32,
    /// The share of bad probes that opens again, above 0 and at most 1.
    pub failure_ratio: f64,
}

impl Default for Stages {
    /// 1, 2, 4 and so on to 64, each at half of its probes.
    fn default() -> Self {
        Self {
            first: 1,
            growth: 2,
            until: 64,
            failure_ratio: 0.5,
        }
    }
}

impl Stages {
    /// The most probes of a stage.
    pub const MAX: u32 = 128;

    /// The most outcomes of all stages together.
    pub const MAX_OUTCOMES: u32 = 255;

    /// How many probes each of the stages admits.
    fn quotas(self) -> impl Iterator<Item = u32> {
        let next = move |&quota: &u32| {
            (quota < self.until).then(|| quota.saturating_mul(self.growth).min(self.until))
        };
        core::iter::successors(Some(self.first.min(self.until)), next)
    }

    pub(crate) fn validate(self) -> Result<(), ConfigError> {
        let check = |legal: bool, field, value, range| match legal {
            true => Ok(()),
            false => Err(ConfigError {
                field,
                value: format!("{value}"),
                legal: range,
            }),
        };
        let Self {
            first,
            growth,
            until,
            failure_ratio,
        } = self;
        let count = f64::from;
        let most = Self::MAX;
        check(
            (1..=most).contains(&until),
            "stages.until",
            count(until),
            "1 to 128",
        )?;
        check(
            (1..=until).contains(&first),
            "stages.first",
            count(first),
            "1 to stages.until",
        )?;
        check(
            (2..=most).contains(&growth),
            "stages.growth",
            count(growth),
            "2 to 128",
        )?;
        check(
            failure_ratio > 0.0 && failure_ratio <= 1.0,
            "stages.failure_ratio",
            failure_ratio,
            "finite, above 0 and at most 1",
        )?;
        let outcomes = self.quotas().sum();
        check(
            outcomes <= Self::MAX_OUTCOMES,
            "stages",
            count(outcomes),
            "at most 255 outcomes of all stages together",
        )
    }
}

/// How half-open is decided.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Recovery {
    /// So many probes at a time; so many have to succeed, and one that is bad opens again.
    AtOnce {
        max_probes: u32,
        successes: u32,
    },
    Staged(Stages),
}

/// What a probe's outcome decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is counted, and nothing is decided yet.
    None,
    /// The stage has passed: the next one begins with so many that have.
    Passed(u32),
    Closes,
    Opens,
}

/// A stage: where it begins, in outcomes of all stages, and how many it takes.
#[derive(Clone, Copy)]
struct Stage {
    number: u32,
    start: u32,
    quota: u32,
}

impl Stages {
    /// The stage that half-open is in once so many outcomes have passed.
    fn stage(self, passed: u32) -> Stage {
        let mut stage = Stage {
            number: 0,
            start: 0,
            quota: 0,
        };
        for quota in self.quotas() {
            stage = Stage {
                number: stage.number + 1,
                start: stage.start + stage.quota,
                quota,
            };
            if passed < stage.start + quota {
                break;
            }
        }
        stage
    }
}

impl Recovery {
    /// How many more probes may be out: `out` are, so many have passed, and in the stage so many were bad.
    #[inline]
    pub(crate) fn free_slots(self, out: u32, passed: u32, bad: u32) -> u32 {
        match self {
            Self::AtOnce { max_probes, .. } => max_probes.saturating_sub(out),
            Self::Staged(stages) => {
                let stage = stages.stage(passed);
                let taken = out + (passed - stage.start) + bad;
                // By a config that came in mid-stage more may be in than it asks for. Then one at a time decides.
                let least = u32::from(out == 0);
                stage.quota.saturating_sub(taken).max(least)
            }
        }
    }

    /// What one more that is well decides, `passed` with it.
    pub(crate) fn after_good(self, passed: u32) -> Verdict {
        match self {
            Self::AtOnce { successes, .. } if passed >= successes => Verdict::Closes,
            Self::AtOnce { .. } => Verdict::None,
            Self::Staged(stages) => {
                // With it the stage that it came in may be full.
                let stage = stages.stage(passed - 1);
                let at_most_bad = stage.quota.saturating_sub(passed - stage.start);
                if at_most_bad >= least(stages.failure_ratio, stage.quota) {
                    Verdict::None
                } else if stage.quota == stages.until {
                    Verdict::Closes
                } else {
                    Verdict::Passed(stage.start + stage.quota)
                }
            }
        }
    }

    /// What one more that is bad decides, `bad` with it.
    pub(crate) fn after_bad(self, passed: u32, bad: u32) -> Verdict {
        match self {
            Self::AtOnce { .. } => Verdict::Opens,
            Self::Staged(stages) => {
                let quota = stages.stage(passed).quota;
                if bad >= least(stages.failure_ratio, quota) {
                    Verdict::Opens
                } else {
                    Verdict::None
                }
            }
        }
    }

    /// The number of the stage and how many have passed in it; the number is zero where there are no stages.
    pub(crate) fn place(self, passed: u32) -> (u32, u32) {
        match self {
            Self::AtOnce { .. } => (0, passed),
            Self::Staged(stages) => {
                let stage = stages.stage(passed);
                (stage.number, passed - stage.start)
            }
        }
    }
}
