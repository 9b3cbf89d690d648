//! One breaker, and what was seen of it last.

use std::sync::Arc;

use cutout::{Breaker, Config, ManualClock, OwnedPermit, Permit, State};

use super::seen::{Evidence, Replayed, Transition};

/// The breaker of one key.
///
/// Its transitions are seen by a look after each step rather than heard by a listener, which would take
/// room for a queue of events: some 8 KB for each of ten thousand breakers.
pub(super) struct Lane {
    key: u32,
    breaker: Arc<Breaker<ManualClock>>,
    generation: u32,
    state: State,
    has_stages: bool,
    stage: u8,
}

impl Lane {
    /// A breaker with this config, which was found legal before.
    pub(super) fn new(config: &Config, clock: &ManualClock, key: u32) -> Self {
        let breaker = Breaker::builder()
            .config(*config)
            .jitter_seed(u64::from(key))
            .clock(clock.clone())
            .build();
        let breaker = match breaker {
            Ok(breaker) => breaker,
            Err(error) => unreachable!("the config was found legal before: {error}"),
        };
        Self {
            key,
            generation: breaker.generation(),
            state: breaker.state(),
            has_stages: config.stages.is_some(),
            stage: 0,
            breaker: Arc::new(breaker),
        }
    }

    pub(super) fn allow(&self) -> Option<Permit<'_, ManualClock>> {
        self.breaker.allow().ok()
    }

    pub(super) fn allow_owned(&self) -> Option<OwnedPermit<ManualClock>> {
        self.breaker.allow_owned().ok()
    }

    /// Sees whether the step that was just made was a transition, or began a stage: one step does one of them at most.
    pub(super) fn look(&mut self, now: i64, seen: &mut Replayed) {
        let generation = self.breaker.generation();
        let stays = generation == self.generation;
        if stays && !(self.has_stages && self.state == State::HalfOpen) {
            return;
        }
        // A stage is no transition: a snapshot alone tells it.
        let stage = if self.has_stages {
            u8::try_from(self.breaker.snapshot().stage).unwrap_or(u8::MAX)
        } else {
            0
        };
        if stays && stage == self.stage {
            return;
        }
        self.generation = generation;
        self.stage = stage;
        let from = std::mem::replace(&mut self.state, self.breaker.state());
        let transition = Transition {
            at: now,
            key: self.key,
            from,
            to: self.state,
            stage,
        };
        seen.note(transition, || {
            let trip = self.breaker.evidence().trip?;
            // The label is the number of what the log said.
            let label = trip.label.as_deref().and_then(|label| label.parse().ok());
            Some(Evidence {
                cause: trip.cause,
                counts: trip.counts,
                threshold: trip.threshold,
                label: label.unwrap_or(0),
            })
        });
    }
}
