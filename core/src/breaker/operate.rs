//! What an operator does to a live breaker.

use alloc::sync::Arc;
use core::time::Duration;

use crate::breaker::{Breaker, Reading};
use crate::contract::clock::{Clock, saturating_nanos};
use crate::contract::config::{Config, Window};
use crate::contract::deadline::Deadline;
use crate::contract::error::ConfigError;
use crate::contract::evidence::Moment;
use crate::contract::outcome::Counts;
use crate::contract::state::{Cause, State};
use crate::engine::sync::{AcqRel, Relaxed, Release, relax};
use crate::engine::word::{Recorder, Word};

impl<C: Clock> Breaker<C> {
    /// Rejects all calls, for so long or until another operator action. When
    /// the time is over the breaker is half-open.
    ///
    /// Like every operator action it is legal in every state, starts a new generation,
    /// and holds when the call returns: permits in flight are then stale.
    pub fn force_open(&self, how_long: Option<Duration>, reason: impl Into<Arc<str>>) {
        let now = Reading::new(self);
        let deadline = match how_long {
            Some(wait) => Deadline::after(now.get(), saturating_nanos(wait)),
            None => Deadline::NEVER,
        };
        self.operate(reason.into(), &now, Some(deadline), |from, _| {
            from.to_forced_open(deadline)
        });
    }

    /// Closes the breaker with an empty window and ends any other operator state.
    pub fn close(&self, reason: impl Into<Arc<str>>) {
        let now = Reading::new(self);
        self.operate(reason.into(), &now, None, Word::to_closed);
    }

    /// Admits all calls and records nothing, until another operator action.
    pub fn disable(&self, reason: impl Into<Arc<str>>) {
        let now = Reading::new(self);
        self.operate(reason.into(), &now, None, |from, _| from.to_disabled());
    }

    /// Admits all calls, records their outcomes, and reports what would have
    /// opened the breaker, until another operator action.
    ///
    /// Each would-trip is an [`Event`](crate::Event) from observe-only to
    /// observe-only with the rule as its cause, and starts a new generation with an
    /// empty window.
    pub fn observe_only(&self, reason: impl Into<Arc<str>>) {
        let now = Reading::new(self);
        self.operate(reason.into(), &now, None, Word::to_observe_only);
    }

    fn operate(
        &self,
        reason: Arc<str>,
        now: &Reading<'_, C>,
        deadline: Option<Deadline>,
        action: impl Fn(Word, Recorder) -> Word,
    ) {
        loop {
            let from = self.engine.word.load();
            let recorder = self.engine.terms(from).recorder();
            let Some(counts) = self.engine.leave(from, || now.get()) else {
                continue;
            };
            let to = action(from, recorder);
            if self.engine.try_enter(from, to) {
                if let Some(deadline) = deadline {
                    self.engine.refine_deadline(to, deadline);
                }
                self.engine.record_order(to, Moment::at(now.get()), &reason);
                self.emit(from, to, Cause::Operator, Some(reason), counts, now);
                return;
            }
        }
    }

    /// Replaces the config of a live breaker.
    ///
    /// State, generation, window, deadline and permits in flight stay. A lowered
    /// threshold acts on the next outcome. Another window shape restarts the
    /// window: closed and observe-only go on in a new generation with an empty one.
    /// Concurrent calls of this method take turns; nothing else waits for them.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] for an illegal config, which changes nothing.
    pub fn reconfigure(&self, config: Config) -> Result<(), ConfigError> {
        config.validate()?;
        let now = Reading::new(self);
        // Acquire and Release: what one turn did, the next one sees.
        while self
            .reconfigurations
            .fetch_update(AcqRel, Relaxed, |count| {
                count.is_multiple_of(2).then_some(count + 1)
            })
            .is_err()
        {
            relax();
        }
        // Only who has the turn changes the config.
        let quota = self.engine.terms(self.engine.word.load()).max_probes();
        let moved = self.switch_side(&config, &now);
        self.reconfigurations.fetch_add(1, Release);
        if let Some((from, to, counts)) = moved {
            self.emit(from, to, Cause::Reconfigured, None, counts, &now);
        }
        if config.max_probes > quota && self.engine.word.load().state() == State::HalfOpen {
            self.tell_slot_free();
        }
        Ok(())
    }

    /// Fills the free config side and moves the word to it. Says which
    /// transition that was, if it was one.
    fn switch_side(&self, config: &Config, now: &Reading<'_, C>) -> Option<(Word, Word, Counts)> {
        let engine = &self.engine;
        // Only this thread, whose turn it is, moves the word to another side.
        let old = engine.word.load();
        let (side, shape) = (1 - old.side(), engine.terms(old).shape());
        let reshapes = engine.window(old) != config.window.kept();
        engine.on_demand.reserve(config);
        if let Window::Time { length, buckets } = config.window {
            let window = (length, buckets);
            engine.timeline().fill(side, window, !reshapes, now.get());
        }
        if let (Some(limit), Some(in_flight)) =
            (config.overdue_after(), engine.on_demand.in_flight())
        {
            let keeps = engine.config(old).overdue_after() == Some(limit);
            in_flight.fill(side, limit, keeps, now.get());
        }
        engine.settings.fill(side, config);
        let recorder = engine.settings.terms(side).recorder();
        loop {
            let from = engine.word.load();
            let kept = from.with_other_side(shape, recorder);
            let to = match from.state() {
                State::Closed if reshapes => kept.to_closed(recorder),
                State::ObserveOnly if reshapes => kept.to_observe_only(recorder),
                _ => kept,
            };
            let renewed = to.generation() != from.generation();
            let counts = if renewed {
                engine.leave(from, || now.get())
            } else {
                Some(Counts::default())
            };
            let Some(counts) = counts else {
                continue;
            };
            if engine.word.try_move(from, to) {
                if reshapes && recorder.by_time {
                    engine.timeline().start(side, now.get());
                }
                return renewed.then_some((from, to, counts));
            }
        }
    }
}
