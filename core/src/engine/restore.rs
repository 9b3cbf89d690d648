//! What a breaker starts from: nothing, or a snapshot.

use alloc::vec::Vec;
use core::time::Duration;

use crate::contract::clock::saturating_nanos;
use crate::contract::config::{Config, Window};
use crate::contract::deadline::Deadline;
use crate::contract::evidence::Evidence;
use crate::contract::outcome::{Counts, Sample};
use crate::contract::rules;
use crate::contract::snapshot::Snapshot;
use crate::contract::state::{Cause, State};
use crate::engine::on_demand::OnDemand;
use crate::engine::window::count::{Kind, Near, Ring};
use crate::engine::word::{MAX_ATTEMPT, Recorder, Shape, Word};

/// What a new breaker starts from.
pub(crate) struct First {
    pub(crate) word: Word,
    pub(crate) deadline: Deadline,
    /// The attempt of the half-open generation that the first one is said to follow.
    pub(crate) attempt: u32,
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
            deadline: Deadline::NEVER,
            attempt: 0,
            evidence: Evidence::default(),
        }
    }

    pub(crate) fn restored(
        config: &Config,
        snapshot: &Snapshot,
        room: Room<'_>,
        unix_time: Duration,
        seed: u64,
    ) -> Self {
        let before = Word::before(snapshot.generation);
        let passed = if snapshot.taken.is_zero() {
            Duration::ZERO
        } else {
            unix_time.saturating_sub(snapshot.taken)
        };
        let after =
            |wait: Duration| Deadline::after(0, saturating_nanos(wait.saturating_sub(passed)));
        match snapshot.state {
            State::Closed => {
                let word = before.to_closed(recorder(config));
                Self::at_rest(room.refilled(config, snapshot, passed, word))
            }
            State::ObserveOnly => {
                let word = before.to_observe_only(recorder(config));
                Self::at_rest(room.refilled(config, snapshot, passed, word))
            }
            State::Disabled => Self {
                evidence: snapshot.evidence.older(passed),
                ..Self::at_rest(before.to_disabled())
            },
            State::ForcedOpen => {
                let deadline = snapshot.remaining.map_or(Deadline::NEVER, after);
                Self {
                    word: before.to_forced_open(deadline),
                    deadline,
                    attempt: 0,
                    evidence: snapshot.evidence.older(passed),
                }
            }
            State::Open | State::HalfOpen => {
                let cause = snapshot.cause.unwrap_or(Cause::FailureRatio);
                let failed_probe = cause.is_failed_probe();
                let attempt = match cause {
                    _ if failed_probe => snapshot.attempt.max(1),
                    Cause::ProbesInconclusive => snapshot.attempt,
                    _ => 0,
                }
                .min(MAX_ATTEMPT);
                let unjittered = config.open_wait.jitter_percent(0);
                let longest = rules::open_wait(&unjittered, attempt, seed, snapshot.generation);
                let left = match snapshot.state {
                    State::HalfOpen => Duration::ZERO,
                    _ => snapshot.remaining.unwrap_or(Duration::MAX),
                };
                let deadline = after(left.min(Duration::from_nanos(longest)));
                let word = before.to_open(cause, deadline);
                Self {
                    word,
                    deadline,
                    attempt: attempt - u32::from(failed_probe),
                    evidence: snapshot.evidence.older(passed).of_outage(word.cause()),
                }
            }
        }
    }
}

/// What a word that records starts with under `config`.
fn recorder(config: &Config) -> Recorder {
    Recorder {
        by_time: matches!(config.window, Window::Time { .. }),
        timed: config.slow.is_some() || config.overdue.is_some(),
        in_a_row: config.consecutive_failures.is_some(),
    }
}

/// Where a window is kept that nobody else has yet.
#[derive(Clone, Copy)]
pub(crate) struct Room<'a> {
    pub(crate) near: Near<'a>,
    pub(crate) on_demand: &'a OnDemand,
}

impl Room<'_> {
    /// `empty` with the window of `snapshot`, if that fits the config.
    fn refilled(self, config: &Config, snapshot: &Snapshot, passed: Duration, empty: Word) -> Word {
        let refilled = match config.window {
            _ if snapshot.window.kept() != config.window.kept() => None,
            Window::Count(size) => self.with_samples(size, &snapshot.samples, empty),
            Window::Time { .. } => self.with_buckets(snapshot, passed, empty).map(|word| {
                let run = config
                    .consecutive_failures
                    .map(|_| snapshot.failures_in_a_row);
                word.with_run(run.unwrap_or(0))
            }),
        };
        refilled.unwrap_or(empty)
    }

    fn with_samples(self, size: u32, samples: &[Sample], empty: Word) -> Option<Word> {
        let kinds: Option<Vec<Kind>> = samples.iter().copied().map(Kind::of).collect();
        let kinds = kinds.filter(|kinds| kinds.len() <= size as usize)?;
        let &pending = kinds.last()?;
        let ring = Ring {
            near: self.near,
            far: self.on_demand.far(),
        };
        for (position, &kind) in (0..).zip(&kinds) {
            // Nobody else has it yet.
            let _ = ring.write(position, kind, || true);
        }
        let bad = kinds.iter().filter(|kind| kind.is_bad()).count() as u32;
        Some(empty.filled(Shape::new(size), kinds.len() as u32, bad, pending))
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
