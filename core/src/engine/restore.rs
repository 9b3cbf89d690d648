//! What a breaker starts from: nothing, or a snapshot.

use alloc::vec::Vec;
use core::time::Duration;

use crate::contract::clock::saturating_nanos;
use crate::contract::config::{Config, Window};
use crate::contract::cusum::Cusum;
use crate::contract::deadline::Deadline;
use crate::contract::evidence::Evidence;
use crate::contract::outcome::{Counts, Sample};
use crate::contract::rules;
use crate::contract::score::Score;
use crate::contract::snapshot::{HeldScore, Scores, Snapshot};
use crate::contract::state::{Cause, State};
use crate::engine::on_demand::OnDemand;
use crate::engine::past::{MAX_ATTEMPT, Past};
use crate::engine::ramp::Begun;
use crate::engine::shape::Shape;
use crate::engine::wait::Wait;
use crate::engine::window::count::{Kind, Ring};
use crate::engine::word::{Recorder, Standing, Word};

/// What a new breaker starts from.
pub(crate) struct First {
    pub(crate) word: Word,
    pub(crate) wait: Wait,
    pub(crate) past: Past,
    /// Of an operator's state: the deadline of the open one that it interrupted.
    pub(crate) interrupted: Deadline,
    /// What opened the breaker.
    pub(crate) evidence: Evidence,
}

impl First {
    pub(crate) fn closed(config: &Config, before: Word) -> Self {
        Self::at_rest(before.to_closed(recorder(config)))
    }

    fn at_rest(word: Word) -> Self {
        Self {
            word,
            wait: Wait::ENDLESS,
            past: Past::CLOSED,
            interrupted: Deadline::NEVER,
            evidence: Evidence::default(),
        }
    }

    pub(crate) fn restored(
        config: &Config,
        snapshot: &Snapshot,
        room: Room<'_>,
        unix_time: Duration,
    ) -> Self {
        let before = Word::before(snapshot.generation);
        let passed = if snapshot.taken.is_zero() {
            Duration::ZERO
        } else {
            unix_time.saturating_sub(snapshot.taken)
        };
        let attempt = snapshot.attempt.min(MAX_ATTEMPT);
        let longest = {
            let unjittered = config.open_wait.jitter_percent(0);
            rules::open_wait(&unjittered, attempt, None, 0, snapshot.generation)
        };
        // What is left of an open wait, which is no longer than the config's.
        let open_for = |left: Option<Duration>| match left
            .map_or(longest, |left| saturating_nanos(left).min(longest))
        {
            u64::MAX => u64::MAX,
            left => left.saturating_sub(saturating_nanos(passed)),
        };
        let interrupted = || {
            let interrupted = snapshot.interrupted?;
            let past = Past {
                state: interrupted.state,
                cause: interrupted.cause.unwrap_or(Cause::FailureRatio),
                attempt,
                period: 0,
            };
            Some((past, Deadline::after(0, open_for(interrupted.remaining))))
        };
        let evidence = snapshot.evidence.older(passed);
        let by_operator = |word: Word, wait: Wait| {
            let closed = Past {
                attempt,
                ..Past::CLOSED
            };
            let (past, interrupted) = interrupted().unwrap_or((closed, Deadline::NEVER));
            Self {
                word,
                wait,
                past,
                interrupted,
                evidence: Evidence::default(),
            }
        };
        match snapshot.state {
            State::Closed => {
                let word = before.to_closed(recorder(config));
                let word = room.refilled(config, snapshot, passed, word);
                Self::at_rest(room.on_ramp(config, snapshot, passed, word))
            }
            State::ObserveOnly => {
                let word = before.to_observe_only(recorder(config));
                let word = room.refilled(config, snapshot, passed, word);
                by_operator(word, Wait::ENDLESS)
            }
            State::Disabled => Self {
                evidence,
                ..by_operator(before.to_disabled(), Wait::ENDLESS)
            },
            State::ForcedOpen => {
                let left = snapshot.remaining.map(|left| left.saturating_sub(passed));
                let wait = left.map_or(Wait::ENDLESS, |left| Wait::of(0, saturating_nanos(left)));
                Self {
                    evidence,
                    ..by_operator(before.to_forced_open(wait), wait)
                }
            }
            State::Open | State::HalfOpen => {
                let cause = snapshot.cause.unwrap_or(Cause::FailureRatio);
                let wait = match snapshot.state {
                    State::HalfOpen => Wait::of(0, 0),
                    _ => Wait::of(0, open_for(snapshot.remaining)),
                };
                let word = before.to_open(cause, wait);
                Self {
                    word,
                    wait,
                    past: Past {
                        state: State::Open,
                        cause,
                        attempt,
                        period: 0,
                    },
                    interrupted: Deadline::NEVER,
                    evidence: evidence.of_outage(word.cause()),
                }
            }
        }
    }
}

/// What a word that records starts with under `config`.
fn recorder(config: &Config) -> Recorder {
    Recorder {
        by_time: matches!(config.window, Window::Time { .. }),
        by_score: matches!(config.window, Window::Cusum(_)),
        timed: config.is_timed(),
        in_a_row: config.consecutive_failures.is_some(),
    }
}

/// Where a window is kept that nobody else has yet.
#[derive(Clone, Copy)]
pub(crate) struct Room<'a> {
    pub(crate) ring: Ring<'a>,
    pub(crate) on_demand: &'a OnDemand,
}

impl Room<'_> {
    /// The word with the ramp that the snapshot was on, as far as there is one by this config.
    fn on_ramp(self, config: &Config, snapshot: &Snapshot, passed: Duration, word: Word) -> Word {
        let (Some(ramp), Some(left), Some(ramps)) =
            (config.ramp, snapshot.ramp_left, self.on_demand.ramps())
        else {
            return word;
        };
        let left = saturating_nanos(left.min(ramp).saturating_sub(passed));
        let begun = Begun::before_start(saturating_nanos(ramp) - left);
        let is_on = left > 0 && ramps.begin(word.generation(), begun, || true);
        if is_on { word.timed_if(true) } else { word }
    }

    /// `empty` with the window of `snapshot`, if that fits the config.
    fn refilled(self, config: &Config, snapshot: &Snapshot, passed: Duration, empty: Word) -> Word {
        let is_recent = passed <= Snapshot::MAX_AGE;
        let refilled = match config.window {
            _ if snapshot.window.kept() != config.window.kept() => None,
            Window::Count(size) if is_recent => self.with_samples(size, &snapshot.samples, empty),
            Window::Cusum(cusum) if is_recent => {
                self.with_scores(cusum, config, snapshot, passed, empty)
            }
            Window::Count(_) | Window::Cusum(_) => None,
            Window::Time { .. } => self.with_buckets(snapshot, passed, empty).map(|word| {
                let has_run = is_recent && config.consecutive_failures.is_some();
                word.with_run(if has_run {
                    snapshot.failures_in_a_row
                } else {
                    0
                })
            }),
        };
        refilled.unwrap_or(empty)
    }

    fn with_samples(self, size: u32, samples: &[Sample], empty: Word) -> Option<Word> {
        let kinds: Option<Vec<Kind>> = samples.iter().copied().map(Kind::of).collect();
        let kinds = kinds.filter(|kinds| kinds.len() <= size as usize)?;
        let &pending = kinds.last()?;
        for (position, &kind) in (0..).zip(&kinds) {
            // Nobody else has it yet.
            let _ = self.ring.write(position, kind, || true);
        }
        let bad = kinds.iter().filter(|kind| kind.is_bad()).count() as u32;
        Some(empty.filled(Shape::new(size), kinds.len() as u32, bad, pending))
    }

    fn with_scores(
        self,
        cusum: Cusum,
        config: &Config,
        snapshot: &Snapshot,
        passed: Duration,
        empty: Word,
    ) -> Option<Word> {
        let generation = empty.generation();
        let stamps = self.on_demand.stamps()?;
        let value = |held: HeldScore, score: Option<Score>| {
            let limit = score.map_or(0, |score| score.limit);
            let value = u16::try_from(held.value).ok();
            value.filter(|&value| value <= limit)
        };
        let Scores { failures, slow } = snapshot.scores;
        let standing = Standing {
            failures: value(failures, cusum.failures)?,
            slow: value(slow, cusum.slow.map(|slow| slow.score))?,
            run: config.consecutive_failures.map_or(0, |_| {
                snapshot.failures_in_a_row.min(Cusum::MAX_CONSECUTIVE)
            }),
        };
        stamps.failures.restore(generation, failures, passed);
        stamps.slow.restore(generation, slow, passed);
        Some(empty.with_standing(standing))
    }

    fn with_buckets(self, snapshot: &Snapshot, passed: Duration, empty: Word) -> Option<Word> {
        let buckets = &snapshot.buckets;
        let is_possible = |counts: Counts| {
            counts.timeouts <= counts.failures
                && counts.failures <= counts.samples
                && counts.slow <= counts.samples
        };
        if !buckets.iter().all(|bucket| is_possible(bucket.counts)) {
            return None;
        }
        let timeline = self.on_demand.timeline()?;
        let mut restored = Vec::new();
        for bucket in buckets.iter().filter(|bucket| bucket.counts.samples > 0) {
            let age = saturating_nanos(bucket.age.saturating_add(passed));
            restored.extend(
                timeline
                    .restored_tick(age)
                    .map(|tick| (tick, bucket.counts)),
            );
        }
        if !restored.is_sorted_by(|(older, _), (newer, _)| older < newer) {
            return None;
        }
        for (tick, counts) in restored {
            timeline.refill(empty.generation(), tick, counts);
        }
        Some(empty)
    }
}
