//! What an operator does to a live breaker.

use alloc::sync::Arc;
use core::time::Duration;

use crate::breaker::{Breaker, Reading};
use crate::contract::clock::{Clock, saturating_nanos};
use crate::contract::config::{Config, Window};
use crate::contract::error::ConfigError;
use crate::contract::evidence::Moment;
use crate::contract::outcome::Counts;
use crate::contract::stages::Recovery;
use crate::contract::state::{Cause, State};
use crate::engine::records::TripRecord;
use crate::engine::sync::{AcqRel, AtomicU64, Relaxed, Release, relax};
use crate::engine::wait::Wait;
use crate::engine::word::{HalfOpen, Recorder, Word};

/// A thread's turn at reconfiguring, which a panic of the clock ends too: nobody is to wait for it for ever.
struct Turn<'a>(&'a AtomicU64);

impl<'a> Turn<'a> {
    fn wait_for(count: &'a AtomicU64) -> Self {
        // The thread that makes the count odd reconfigures, and makes it even again. Acquire: pairs with the release of
        // the last end; this thread sees the config of the last one. Release: pairs with the loads in `config`. Relaxed: a failure loads again.
        let begin = |count: u64| count.is_multiple_of(2).then_some(count + 1);
        while count.fetch_update(AcqRel, Relaxed, begin).is_err() {
            relax();
        }
        Self(count)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // Release: pairs with the acquire of the next begin and with the loads in `config`.
        self.0.fetch_add(1, Release);
    }
}

/// What an operator's action makes of a word.
enum Action {
    Nothing,
    Begin(Word),
    BeginWait(Word, Wait),
}

impl<C: Clock> Breaker<C> {
    /// Rejects all calls, for so long or until another operator action. When
    /// the time is over the breaker is half-open.
    ///
    /// Like every operator action it is legal in every state, starts a new generation,
    /// and holds when the call returns: permits in flight are then stale. What the breaker was
    /// before is kept for [`resume`](Self::resume), and so is how often it has re-opened: should a
    /// probe fail when the time is over, the open wait goes on growing from there.
    pub fn force_open(&self, how_long: Option<Duration>, reason: impl Into<Arc<str>>) {
        let now = Reading::new(self);
        let wait = match how_long {
            Some(how_long) => Wait::of(now.get(), saturating_nanos(how_long)),
            None => Wait::ENDLESS,
        };
        self.operate(reason.into(), &now, |from, _| {
            Some(Action::BeginWait(from.to_forced_open(wait), wait))
        });
    }

    /// Closes the breaker with an empty window, ends any other operator state, and forgets what
    /// was before.
    pub fn close(&self, reason: impl Into<Arc<str>>) {
        let now = Reading::new(self);
        self.operate(reason.into(), &now, |from, recorder| {
            Some(Action::Begin(from.to_closed(recorder)))
        });
    }

    /// Admits all calls and records nothing, until another operator action.
    pub fn disable(&self, reason: impl Into<Arc<str>>) {
        let now = Reading::new(self);
        self.operate(reason.into(), &now, |from, _| {
            Some(Action::Begin(from.to_disabled()))
        });
    }

    /// Admits all calls, records their outcomes, and reports what would have
    /// opened the breaker, until another operator action.
    ///
    /// Each would-trip is an [`Event`](crate::Event) from observe-only to
    /// observe-only with the rule as its cause, and starts a new generation with an
    /// empty window.
    pub fn observe_only(&self, reason: impl Into<Arc<str>>) {
        let now = Reading::new(self);
        self.operate(reason.into(), &now, |from, recorder| {
            Some(Action::Begin(from.to_observe_only(recorder)))
        });
    }

    /// Ends an operator's state, and goes back to what the breaker was before it: before the
    /// first, when several followed each other. Says whether there was one to end; if not,
    /// nothing changes.
    ///
    /// | before | after |
    /// | --- | --- |
    /// | closed | closed, with an empty window |
    /// | open | open until the end of the same wait, rounded up to a millisecond. The wait went on meanwhile; if it is over, the next call gets a probe |
    /// | half-open | half-open, with no probe out and none passed |
    ///
    /// What had opened the breaker and how often it had re-opened stay as they were.
    /// [`close`](Self::close) starts anew instead. A forced opening whose time is
    /// over and that has admitted a probe is no operator's state any more.
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::{Breaker, State};
    ///
    /// let breaker = Breaker::builder().consecutive_failures(1).build()?;
    /// breaker.allow().unwrap().failure();
    /// breaker.disable("let the migration through");
    /// assert!(breaker.resume("migration done"));
    /// assert_eq!(breaker.state(), State::Open);
    /// assert!(!breaker.resume("once more"));
    /// # Ok::<(), cutout::ConfigError>(())
    /// ```
    pub fn resume(&self, reason: impl Into<Arc<str>>) -> bool {
        let now = Reading::new(self);
        self.operate(reason.into(), &now, |from, recorder| {
            if !from.is_by_operator() {
                return Some(Action::Nothing);
            }
            let past = self.engine.past_of(from)?;
            Some(match past.state {
                State::Open => {
                    let left = self.engine.interrupted_deadline(from)?.left(now.get());
                    let wait = left.map_or(Wait::ENDLESS, |left| Wait::of(now.get(), left));
                    Action::BeginWait(from.to_open(past.cause, wait), wait)
                }
                State::HalfOpen => Action::Begin(from.to_half_open(HalfOpen::new(past.cause))),
                _ => Action::Begin(from.to_closed(recorder)),
            })
        })
    }

    /// Does what `action` says, until it succeeds. `action` gives `None` when the word has moved meanwhile: then it is asked again.
    /// False if there was nothing to do.
    ///
    /// An operator never loses against an automatic transition. If a trip moves the word first, this starts over from the
    /// open word.
    fn operate(
        &self,
        reason: Arc<str>,
        now: &Reading<'_, C>,
        action: impl Fn(Word, Recorder) -> Option<Action>,
    ) -> bool {
        loop {
            let from = self.engine.word.load();
            let recorder = self.engine.terms(from).recorder();
            let Some(counts) = self.engine.leave(from, || now.get()) else {
                continue;
            };
            let (to, moved) = match action(from, recorder) {
                None => continue,
                Some(Action::Nothing) => return false,
                Some(Action::Begin(to)) => (to, self.engine.begin_ramping(from, to, || now.get())),
                Some(Action::BeginWait(to, wait)) => (to, self.engine.begin_wait(from, to, wait)),
            };
            if moved {
                self.explain(to, &reason, now);
                self.emit(from, to, Cause::Operator, Some(reason), counts, now);
                return true;
            }
        }
    }

    /// Records why the breaker is in the state that an action has moved the word to.
    fn explain(&self, to: Word, reason: &str, now: &Reading<'_, C>) {
        let at = Moment::at(now.get());
        if to.is_by_operator() {
            self.engine.record_order(to, at, reason);
        }
        if to.state() == State::Open {
            // `record_trip` leaves a trip's record as it is, if there is one. There is none if the breaker was restored
            // from a snapshot without it: then this stands for it.
            let record = TripRecord {
                cause: to.cause(),
                at,
                counts: Counts::default(),
                threshold: None,
            };
            self.engine.record_trip(to, record, None);
        }
    }

    /// Replaces the config of a live breaker.
    ///
    /// State, generation, window, deadline and permits in flight stay. A lowered
    /// threshold acts on the next outcome. Another window shape restarts the
    /// window: closed and observe-only go on in a new generation with an empty one.
    /// Concurrent calls of this method wait for each other; nothing else waits for them.
    ///
    /// A new rule on slow calls judges probes that are out already. Other calls in flight
    /// were admitted without a look at the clock, unless there was such a rule before, and
    /// count as fast when they return.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] for an illegal config, which changes nothing.
    pub fn reconfigure(&self, config: Config) -> Result<(), ConfigError> {
        config.validate()?;
        let now = Reading::new(self);
        let turn = Turn::wait_for(&self.reconfigurations);
        // Only this thread changes the config now.
        let before = self.engine.recovery(self.engine.word.load());
        let moved = self.switch_side(&config, &now);
        let frees_slots = self.has_more_slots_than_by(before);
        drop(turn);
        if let Some((from, to, counts)) = moved {
            self.emit(from, to, Cause::Reconfigured, None, counts, &now);
        }
        if frees_slots {
            self.tell_slot_free();
        }
        Ok(())
    }

    /// Whether a half-open breaker has more free slots than it would have by what went before.
    fn has_more_slots_than_by(&self, before: Recovery) -> bool {
        let word = self.engine.word.load();
        if word.state() != State::HalfOpen {
            return false;
        }
        let HalfOpen {
            out, passed, bad, ..
        } = word.half_open();
        let free = |recovery: Recovery| recovery.free_slots(out, passed, bad);
        free(self.engine.recovery(word)) > free(before)
    }

    /// Fills the free config side and moves the word to it. Says which
    /// transition that was, if it was one.
    fn switch_side(&self, config: &Config, now: &Reading<'_, C>) -> Option<(Word, Word, Counts)> {
        let engine = &self.engine;
        // Only this thread moves the word to another side now.
        let old = engine.word.load();
        let (side, shape) = (1 - old.side(), engine.terms(old).shape());
        let reshapes = engine.window(old) != config.window.kept();
        let ring = engine.on_demand.reserve(config);
        if let Window::Time { length, buckets } = config.window {
            let window = (length, buckets);
            engine.timeline().fill(side, window, !reshapes, now.get());
        }
        if let (Some(limit), Some(in_flight)) =
            (config.overdue_after(), engine.on_demand.in_flight())
        {
            let keeps = engine.config(old).overdue_after() == Some(limit);
            let at = if keeps { 0 } else { now.running() };
            in_flight.fill(side, limit, keeps, at);
        }
        engine.settings.fill(side, config, ring);
        engine.on_demand.fill(side, config);
        let recorder = engine.settings.terms(side).recorder();
        loop {
            let from = engine.word.load();
            let same = from.with_other_side(shape, recorder);
            let to = match from.state() {
                State::Closed if reshapes => Some(same.to_closed(recorder)),
                State::ObserveOnly if reshapes => Some(same.to_observe_only(recorder)),
                _ => engine.keeping_ramp(from, same),
            };
            let Some(to) = to else {
                continue;
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
            if !renewed && !engine.hand_tally_over(from, to) {
                continue;
            }
            if engine.begin_ramping(from, to, || now.get()) {
                if reshapes && recorder.by_time {
                    engine.timeline().start(side, now.get());
                }
                return renewed.then_some((from, to, counts));
            }
        }
    }
}
