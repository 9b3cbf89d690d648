//! What a breaker's window holds, as the dashboard draws it.

use std::time::Duration;

use cutout::{HeldScore, Outcome, Sample, Score, Snapshot, Window};
use serde::Serialize;

use crate::events::Counts;

/// What a window holds.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[serde(untagged)]
pub(super) enum Content {
    /// Of a count window: its outcomes, oldest first, a letter each.
    Outcomes { size: u32, outcomes: String },
    /// Of a window of scores: where each is, as far as it has one.
    Scores {
        failures: Option<Level>,
        slow: Option<Level>,
    },
    /// Of a time window: its buckets, oldest first, without empty ones.
    Buckets {
        length_ms: u64,
        bucket_ms: u64,
        buckets: Vec<Bucket>,
    },
}

#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub(super) struct Level {
    score: u32,
    limit: u16,
    /// For how long it has been above zero.
    above_zero_ms: Option<u64>,
}

impl Level {
    fn of(held: HeldScore, score: Score) -> Self {
        Self {
            score: held.value,
            limit: score.limit,
            above_zero_ms: held.above_zero.map(millis),
        }
    }
}

#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub(super) struct Bucket {
    /// How long ago it began.
    age_ms: u64,
    #[serde(flatten)]
    counts: Counts,
}

impl Content {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        match snapshot.window {
            Window::Time { length, buckets } => Self::Buckets {
                length_ms: millis(length),
                bucket_ms: millis(length / buckets.max(1)),
                buckets: snapshot
                    .buckets
                    .iter()
                    .map(|bucket| Bucket {
                        age_ms: millis(bucket.age),
                        counts: bucket.counts.into(),
                    })
                    .collect(),
            },
            Window::Cusum(cusum) => Self::Scores {
                failures: cusum
                    .failures
                    .map(|score| Level::of(snapshot.scores.failures, score)),
                slow: cusum
                    .slow
                    .map(|slow| Level::of(snapshot.scores.slow, slow.score)),
            },
            window => Self::Outcomes {
                size: match window {
                    Window::Count(size) => size,
                    _ => 0,
                },
                outcomes: snapshot.samples.iter().map(letter).collect(),
            },
        }
    }
}

fn letter(sample: &Sample) -> char {
    let letter = match sample.outcome {
        Outcome::Failure => 'f',
        Outcome::Timeout => 't',
        _ => 's',
    };
    if sample.slow {
        letter.to_ascii_uppercase()
    } else {
        letter
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use cutout::{Breaker, ManualClock, Report};
    use serde_json::json;

    use super::*;

    fn breaker(window: Window) -> (Breaker<ManualClock>, ManualClock) {
        let clock = ManualClock::new();
        let builder = Breaker::builder().clock(clock.clone()).window(window);
        (builder.min_calls(4).build().unwrap(), clock)
    }

    fn content(breaker: &Breaker<ManualClock>) -> serde_json::Value {
        serde_json::to_value(Content::of(&breaker.snapshot())).unwrap()
    }

    #[test]
    fn a_count_window_is_a_letter_for_each_outcome() {
        let (breaker, _) = breaker(Window::count(8));
        for outcome in [Outcome::Success, Outcome::Timeout, Outcome::Failure] {
            breaker.allow().unwrap().done(Report::from(outcome));
        }
        assert_eq!(content(&breaker), json!({"size": 8, "outcomes": "stf"}));
    }

    #[test]
    fn a_window_of_scores_is_where_they_are_and_their_limits() {
        let score = Score {
            bad: 10,
            good: 1,
            limit: 55,
        };
        let clock = ManualClock::new();
        let builder = Breaker::builder().clock(clock.clone());
        let breaker = builder.window(Window::cusum(score)).build().unwrap();
        breaker.allow().unwrap().failure();
        clock.advance(Duration::from_millis(30));
        assert_eq!(
            content(&breaker),
            json!({"failures": {"score": 10, "limit": 55, "above_zero_ms": 30}, "slow": null})
        );
    }

    #[test]
    fn a_time_window_is_its_buckets_with_their_ages() {
        let (breaker, clock) = breaker(Window::time(Duration::from_secs(10), 10));
        breaker.allow().unwrap().success();
        clock.advance(Duration::from_millis(2_500));
        breaker.allow().unwrap().failure();
        breaker.allow().unwrap().success();
        assert_eq!(
            content(&breaker),
            json!({"length_ms": 10_000, "bucket_ms": 1_000, "buckets": [
                {"age_ms": 2_500, "samples": 1, "failures": 0, "timeouts": 0, "slow": 0},
                {"age_ms": 500, "samples": 2, "failures": 1, "timeouts": 0, "slow": 0},
            ]})
        );
    }
}
