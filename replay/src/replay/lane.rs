//! What stands before one upstream, and what was seen of it last.

use std::sync::Arc;

use cutout::{
    Breaker, Cause, Config, ConfigError, Gate, ManualClock, State, Throttle, ThrottleConfig,
};

use super::refusing::Refusing;
use super::seen::{Evidence, Replayed, Transition};
use crate::configs::Guards;

/// A breaker and the throttle behind it; either may not be there.
type Gates = (
    Option<Arc<Breaker<ManualClock>>>,
    Option<Arc<Throttle<ManualClock>>>,
);

/// The permits of a call.
pub(super) type Permits = <Gates as Gate>::Permit;

/// The guards of one key.
///
/// Its transitions are seen by a look after each step rather than heard by a listener, which would take
/// room for a queue of events: some 8 KB for each of ten thousand breakers.
pub(super) struct Lane {
    key: u32,
    gates: Gates,
    refusing: Option<Refusing>,
    generation: u32,
    state: State,
    has_stages: bool,
    stage: u8,
}

impl Lane {
    /// Guards by these configs, which were found legal before.
    pub(super) fn new(guards: &Guards, clock: &ManualClock, key: u32) -> Self {
        let breaker = guards.breaker.map(|config| breaker(config, clock, key));
        let throttle = guards
            .throttle
            .map(|config| legal(throttle(config, clock, key)));
        let breaker = breaker.map(legal);
        Self {
            key,
            generation: breaker.as_ref().map_or(0, |breaker| breaker.generation()),
            state: State::Closed,
            has_stages: guards.breaker.is_some_and(|config| config.stages.is_some()),
            stage: 0,
            refusing: guards.throttle.map(|config| Refusing::new(key, &config)),
            gates: (breaker, throttle),
        }
    }

    /// Asks for a call that begins now: the permits to make it, or why it is refused.
    pub(super) fn admit(&mut self, now: i64, seen: &mut Replayed) -> Result<Permits, Cause> {
        let admitted = self.gates.admit().map_err(|rejected| rejected.cause());
        if let Some(refusing) = &mut self.refusing {
            let cause = admitted.as_ref().err();
            // What a breaker refuses its throttle is not asked for.
            if cause.is_none_or(|cause| *cause == Cause::Throttled)
                && let Some(over) = refusing.asked(now, cause.is_some())
            {
                seen.refused(over);
            }
        }
        admitted
    }

    /// Ends what goes on.
    pub(super) fn finish(self, seen: &mut Replayed) {
        if let Some(over) = self.refusing.and_then(Refusing::finish) {
            seen.refused(over);
        }
    }

    /// Sees whether the step that was just made was a transition, or began a stage: one step does one of them at most.
    pub(super) fn look(&mut self, now: i64, seen: &mut Replayed) {
        let Some(breaker) = &self.gates.0 else {
            return;
        };
        let generation = breaker.generation();
        let stays = generation == self.generation;
        if stays && !(self.has_stages && self.state == State::HalfOpen) {
            return;
        }
        // A stage is no transition: a snapshot alone tells it.
        let stage = if self.has_stages {
            u8::try_from(breaker.snapshot().stage).unwrap_or(u8::MAX)
        } else {
            0
        };
        if stays && stage == self.stage {
            return;
        }
        self.generation = generation;
        self.stage = stage;
        let from = std::mem::replace(&mut self.state, breaker.state());
        let ramp = match self.state {
            State::Closed => breaker.snapshot().ramp_left,
            _ => None,
        };
        let transition = Transition {
            at: now,
            key: self.key,
            from,
            to: self.state,
            stage,
            ramp: ramp.map_or(0, |left| u64::try_from(left.as_nanos()).unwrap_or(u64::MAX)),
        };
        seen.note(transition, || {
            let trip = breaker.evidence().trip?;
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

fn breaker(
    config: Config,
    clock: &ManualClock,
    key: u32,
) -> Result<Arc<Breaker<ManualClock>>, ConfigError> {
    let builder = Breaker::builder().config(config).clock(clock.clone());
    builder.jitter_seed(u64::from(key)).build().map(Arc::new)
}

fn throttle(
    config: ThrottleConfig,
    clock: &ManualClock,
    key: u32,
) -> Result<Arc<Throttle<ManualClock>>, ConfigError> {
    let builder = Throttle::builder().config(config).clock(clock.clone());
    builder.seed(u64::from(key)).build().map(Arc::new)
}

fn legal<T>(built: Result<T, ConfigError>) -> T {
    match built {
        Ok(guard) => guard,
        Err(error) => unreachable!("the config was found legal before: {error}"),
    }
}
