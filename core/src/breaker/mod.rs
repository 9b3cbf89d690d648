//! The breaker: what it is made of, and what can be read of it.

mod allow;
pub(crate) mod breaker_ref;
pub(crate) mod builder;
mod call;
mod call_async;
mod contain;
mod evidence;
pub(crate) mod fallback;
pub(crate) mod gate;
pub(crate) mod guard;
#[cfg(feature = "std")]
pub(crate) mod listener_set;
mod listeners;
pub(crate) mod manual_clock;
pub(crate) mod name;
pub(crate) mod nested;
mod no_gate;
mod operate;
mod overdue;
mod peers;
pub(crate) mod permit;
mod probe;
mod refusal;
pub(crate) mod rejected;
pub(crate) mod seed;
pub(crate) mod settle;
pub(crate) mod token;
pub(crate) mod told;
pub(crate) mod watch;
mod withdraw;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::Cell;
use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::time::Duration;

use crate::breaker::listeners::Listeners;
use crate::breaker::name::{Name, NameId};
use crate::breaker::rejected::TimeLeft;
use crate::breaker::watch::Watch;
use crate::contract::clock::{Clock, SystemClock};
use crate::contract::config::Config;
use crate::contract::deadline::Deadline;
use crate::contract::event::Event;
use crate::contract::evidence::Threshold;
use crate::contract::label::Label;
use crate::contract::outcome::{Counts, Sample};
use crate::contract::snapshot::{Interrupted, Scores, Snapshot};
use crate::contract::state::{Cause, State};
use crate::contract::totals::Totals;
use crate::engine::Engine;
use crate::engine::on_ramp::OnRamp;
use crate::engine::sync::{Acquire, AtomicU64, Relaxed};
use crate::engine::word::Word;

/// A circuit breaker.
///
/// It is `Send` and `Sync`; share it by reference, in an `Arc`, or in a
/// `static LazyLock`. One breaker guards calls of any type: what is a failure
/// is said when a permit is settled.
///
/// # Memory ordering
///
/// `allow` and `done` order nothing but the breaker itself: whoever sees a
/// state also sees all that was recorded up to it. They are not a means to
/// pass data between threads.
///
/// # Examples
///
/// ```
/// use cutout::Breaker;
///
/// fn fetch() -> Result<&'static str, std::io::Error> {
///     Ok("answer")
/// }
///
/// let breaker = Breaker::builder().name("search").failure_ratio(0.2).build()?;
/// match breaker.allow() {
///     Ok(permit) => match fetch() {
///         Ok(answer) => {
///             permit.success();
///             println!("{answer}");
///         }
///         Err(error) => {
///             permit.failure();
///             eprintln!("{error}");
///         }
///     },
///     Err(rejected) => eprintln!("{rejected}"),
/// }
/// # Ok::<(), cutout::ConfigError>(())
/// ```
// Processors that fetch lines in pairs make the block 128 bytes.
#[repr(C, align(128))]
pub struct Breaker<C = SystemClock> {
    pub(crate) engine: Engine,
    pub(crate) stale: AtomicU64,
    /// Counts the beginnings and ends of reconfigurations: odd while one is under way.
    pub(crate) reconfigurations: AtomicU64,
    /// The clock's reading when the breaker was built.
    pub(crate) start: u64,
    /// What its jitter is drawn from.
    pub(crate) seed: u64,
    pub(crate) clock: C,
    pub(crate) listeners: Option<Box<Listeners>>,
    pub(crate) watch: Option<Box<Watch>>,
    pub(crate) name: Option<Box<Name>>,
}

// All shared state is atomic, and each step leaves it whole. So a thread that panics leaves nothing half done
// for others to see.
impl<C: RefUnwindSafe> RefUnwindSafe for Breaker<C> {}
impl<C: UnwindSafe> UnwindSafe for Breaker<C> {}

impl<C> Breaker<C> {
    /// The name given at build, empty by default.
    pub fn name(&self) -> &str {
        self.name.as_ref().map_or("", |name| name.as_str())
    }

    /// The current generation: the number of the state period, modulo 2^22.
    pub fn generation(&self) -> u32 {
        self.engine.word.load().generation()
    }

    /// How many permits were settled after their generation had ended.
    pub fn stale(&self) -> u64 {
        // Relaxed: a count orders nothing.
        self.stale.load(Relaxed)
    }

    /// How often a listener has panicked.
    pub fn listener_panics(&self) -> u64 {
        let listeners = self.listeners.as_ref().map_or(0, |told| told.panics());
        listeners + self.watch.as_ref().map_or(0, |watch| watch.panics())
    }

    /// The last 64 transitions, oldest first, if the breaker was built with
    /// [`log`](crate::Builder::log); otherwise none.
    ///
    /// Readers of the log wait for each other. Nothing else waits for them.
    pub fn log(&self) -> Vec<Event> {
        self.listeners
            .as_ref()
            .map(|listeners| listeners.log())
            .unwrap_or_default()
    }

    /// How many calls ended how, rejections and transitions, since the breaker was
    /// built with [`totals`](crate::Builder::totals); otherwise none.
    pub fn totals(&self) -> Option<Totals> {
        self.watch.as_ref()?.totals()
    }

    /// The config in force. Durations above 584 years read as that long.
    pub fn config(&self) -> Config {
        loop {
            // Acquire, both: pair with the releases in `reconfigure`. While the count stands still, at most one reconfiguration
            // is under way, which writes the side that the word does not go with. The word may move to that side meanwhile, which is whole by then.
            let count = self.reconfigurations.load(Acquire);
            let word = self.engine.word.load();
            let config = self.engine.config(word);
            if self.reconfigurations.load(Acquire) == count {
                return config;
            }
        }
    }
}

impl<C: Clock> Breaker<C> {
    /// Nanoseconds since the breaker was built.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.clock.now().saturating_sub(self.start)
    }

    /// The time for which the process ran by a reading of the clock: that, less the pauses of its own. For breakers whose calls are timed.
    #[inline]
    pub(crate) fn running(&self, now: impl FnOnce() -> u64) -> u64 {
        match self.engine.on_demand.pulse() {
            Some(pulse) => {
                let seen = pulse.look();
                pulse.running(seen, now())
            }
            None => now(),
        }
    }

    /// As [`now`](Self::now), a little earlier and for less; `None` if the clock has no such reading.
    #[inline]
    pub(crate) fn recent(&self) -> Option<u64> {
        Some(self.clock.recent()?.saturating_sub(self.start))
    }

    /// Tells the breaker that this process runs.
    ///
    /// A breaker that judges how long calls take (`slow`, `overdue`, `abandoned_after`) must not
    /// take a pause of its own process for latency. It tells one by a gap in its clock
    /// readings, which calls make as they start and end; so under a load of a fixed number of threads that
    /// are all stuck in a hanging upstream at once, it lets that go once. A thread or task that calls
    /// this a few times in each sixteenth of the shortest limit keeps the readings coming: then
    /// only a real pause is a gap. It needs no such thing where calls go on arriving.
    pub fn heartbeat(&self) {
        Reading::new(self).running();
    }

    /// The state.
    ///
    /// A pure read: an open breaker whose wait is over reads as half-open,
    /// and stays as it is until a call asks for admission.
    #[inline]
    pub fn state(&self) -> State {
        if self.engine.word.glance().is_closed() {
            return State::Closed;
        }
        self.read_state()
    }

    #[cold]
    fn read_state(&self) -> State {
        let now = Reading::new(self);
        loop {
            let word = self.engine.word.load();
            match word.state() {
                State::Open | State::ForcedOpen => match self.engine.deadline_of(word) {
                    Some(deadline) if deadline.is_over(now.get()) => return State::HalfOpen,
                    Some(_) => return word.state(),
                    None => {}
                },
                state => return state,
            }
        }
    }

    /// Whether [`allow`](Self::allow) would grant a permit now.
    ///
    /// A pure read, out of date as soon as it is made: to call, ask `allow`. Calls that are
    /// [overdue](crate::Overdue) are counted by `allow` and `done` alone.
    #[inline]
    pub fn is_available(&self) -> bool {
        self.engine.word.glance().is_closed() || self.read_availability()
    }

    #[cold]
    fn read_availability(&self) -> bool {
        let now = Reading::new(self);
        loop {
            let word = self.engine.word.load();
            let available = match word.state() {
                State::Closed | State::Disabled | State::ObserveOnly => Some(true),
                State::Open | State::ForcedOpen => self
                    .engine
                    .deadline_of(word)
                    .map(|deadline| deadline.is_over(now.get())),
                State::HalfOpen => Some(
                    self.engine.has_slot(word) || self.engine.lease_of(word).is_over(now.get()),
                ),
            };
            // The quota and the lease were read after the word. If the word is still the same, they go with it.
            if let Some(available) = available
                && self.engine.is_current(word)
            {
                return available;
            }
        }
    }

    /// The state as a plain value: one that existed at some moment of the call.
    ///
    /// A pure read. It starts over when the state moves on meanwhile, keeping
    /// what of the window is still good, so that it ends under load too.
    pub fn snapshot(&self) -> Snapshot {
        let now = Reading::new(self);
        loop {
            let word = self.engine.word.load();
            let by_samples =
                word.is_recording() && !word.is_by_time() && !self.engine.is_by_score(word);
            let samples = if by_samples {
                // They are what the window held at one moment of this generation.
                self.engine.samples(word)
            } else {
                Some(Vec::new())
            };
            let snapshot = samples.and_then(|samples| self.describe(word, samples, &now));
            if let Some(snapshot) = snapshot
                && (by_samples || self.engine.is_current(word))
            {
                return snapshot;
            }
        }
    }

    fn describe(&self, word: Word, samples: Vec<Sample>, now: &Reading<'_, C>) -> Option<Snapshot> {
        let mut snapshot = Snapshot {
            state: word.state(),
            generation: word.generation(),
            cause: None,
            evidence: self.engine.evidence_of(word, now.get()),
            remaining: None,
            attempt: self.engine.attempt_of(word)?,
            interrupted: self.interrupted(word, now)?,
            probes_out: 0,
            probes_passed: 0,
            probes_failed: 0,
            probes_inconclusive: 0,
            stage: 0,
            ramp_left: None,
            window: self.engine.window(word),
            samples,
            buckets: Vec::new(),
            failures_in_a_row: 0,
            scores: Scores::default(),
            taken: self.clock.unix_time(),
        };
        if word.state() == State::Closed
            && let OnRamp::Yes { left, .. } = self.engine.on_ramp(word, now.get())
        {
            snapshot.ramp_left = Some(Duration::from_nanos(left));
        }
        match word.state() {
            State::Closed | State::ObserveOnly if word.is_by_time() => {
                let (side, generation) = (word.side(), word.generation());
                let timeline = self.engine.timeline();
                snapshot.buckets = timeline.buckets(side, generation, now.get());
                snapshot.failures_in_a_row = word.run();
            }
            State::Closed | State::ObserveOnly if self.engine.is_by_score(word) => {
                snapshot.scores = self.engine.scores(word, now.get());
                snapshot.failures_in_a_row = word.standing().run;
            }
            State::Closed | State::ObserveOnly | State::Disabled => {}
            State::Open | State::ForcedOpen => {
                let deadline = self.engine.deadline_of(word)?;
                snapshot.cause = Some(word.cause());
                if deadline.is_over(now.get()) {
                    snapshot.state = State::HalfOpen;
                } else {
                    snapshot.remaining = time_left(word, deadline, now.get()).duration();
                }
            }
            State::HalfOpen => {
                let half_open = word.half_open();
                snapshot.cause = Some(half_open.cause);
                snapshot.probes_out = half_open.out;
                let recovery = self.engine.recovery(word);
                (snapshot.stage, snapshot.probes_passed) = recovery.place(half_open.passed);
                snapshot.probes_failed = half_open.bad;
                snapshot.probes_inconclusive = half_open.inconclusive;
            }
        }
        Some(snapshot)
    }

    /// Under which number the name is found by rejections.
    #[inline]
    pub(crate) fn name_id(&self) -> NameId {
        self.name.as_ref().map_or(NameId::NONE, |name| name.id())
    }

    /// What an operator's action has interrupted, if `word` is an operator's state; `None` if it
    /// has moved meanwhile.
    fn interrupted(&self, word: Word, now: &Reading<'_, C>) -> Option<Option<Interrupted>> {
        if !word.is_by_operator() {
            return Some(None);
        }
        let past = self.engine.past_of(word)?;
        let mut interrupted = Interrupted {
            state: past.state,
            cause: (past.state != State::Closed).then_some(past.cause),
            remaining: None,
        };
        if past.state == State::Open {
            let deadline = self.engine.interrupted_deadline(word)?;
            if deadline.is_over(now.get()) {
                interrupted.state = State::HalfOpen;
            } else {
                let left = deadline.left(now.get());
                interrupted.remaining = Some(left.map_or(Duration::MAX, Duration::from_nanos));
            }
        }
        Some(Some(interrupted))
    }

    /// Tells the listeners and the log of a transition. To be called by the thread that made it.
    pub(crate) fn emit(
        &self,
        from: Word,
        to: Word,
        cause: Cause,
        reason: Option<Arc<str>>,
        counts: Counts,
        now: &Reading<'_, C>,
    ) {
        let matched = Match {
            cause,
            counts,
            threshold: None,
            label: None,
        };
        self.emit_match(from, to, matched, reason, now);
    }

    /// As [`emit`](Self::emit), with what a rule has asked for and the label of the outcome.
    #[inline]
    pub(crate) fn emit_match(
        &self,
        from: Word,
        to: Word,
        matched: Match,
        reason: Option<Arc<str>>,
        now: &Reading<'_, C>,
    ) {
        if self.watch.is_some() || self.listeners.is_some() {
            self.tell(from, to, matched, reason, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell(
        &self,
        from: Word,
        to: Word,
        matched: Match,
        reason: Option<Arc<str>>,
        now: &Reading<'_, C>,
    ) {
        let Match {
            cause,
            counts,
            threshold,
            label,
        } = matched;
        if let Some(watch) = &self.watch {
            watch.transition(to.state(), cause);
        }
        if let Some(listeners) = &self.listeners {
            listeners.publish(Event {
                generation: to.generation(),
                from: from.state(),
                to: to.state(),
                cause,
                reason,
                at: Duration::from_nanos(now.get()),
                counts,
                threshold,
                label: label.map(|label| Arc::from(label.as_str())),
            });
        }
    }

    /// Tells that a slot of a half-open breaker may be free without a transition.
    pub(crate) fn tell_slot_free(&self) {
        if let Some(listeners) = &self.listeners {
            listeners.tell_slot_free();
        }
    }
}

/// What a rule or a probe's verdict has found.
#[derive(Clone, Copy)]
pub(crate) struct Match {
    pub(crate) cause: Cause,
    pub(crate) counts: Counts,
    pub(crate) threshold: Option<Threshold>,
    pub(crate) label: Option<Label>,
}

/// The time left of a wait. An open wait that never ends is endless; of a
/// forced opening without an end no clock can tell.
#[inline]
pub(crate) fn time_left(word: Word, deadline: Deadline, now: u64) -> TimeLeft {
    match deadline.left(now) {
        Some(nanos) => TimeLeft::nanos(nanos),
        None if word.state() == State::Open => TimeLeft::ENDLESS,
        None => TimeLeft::UNKNOWN,
    }
}

/// The clock, read at most once in a call.
pub(crate) struct Reading<'a, C> {
    breaker: &'a Breaker<C>,
    now: Cell<Option<u64>>,
    running: Cell<Option<u64>>,
}

impl<'a, C: Clock> Reading<'a, C> {
    pub(crate) fn new(breaker: &'a Breaker<C>) -> Self {
        Self {
            breaker,
            now: Cell::new(None),
            running: Cell::new(None),
        }
    }

    pub(crate) fn get(&self) -> u64 {
        let now = self.now.get().unwrap_or_else(|| self.breaker.now());
        self.now.set(Some(now));
        now
    }

    /// A reading that may be a little old, or this one where the clock has no such reading.
    #[inline]
    pub(crate) fn recent(&self) -> u64 {
        self.breaker.recent().unwrap_or_else(|| self.get())
    }

    /// Whether the process has stood still since a moment of running time.
    pub(crate) fn has_stood_still_since(&self, started: u64) -> bool {
        // The reading comes first: it may be what tells.
        self.running();
        let pulse = self.breaker.engine.on_demand.pulse();
        pulse.is_some_and(|pulse| pulse.has_stood_still_since(started))
    }

    /// See [`Breaker::running`].
    pub(crate) fn running(&self) -> u64 {
        if let Some(running) = self.running.get() {
            return running;
        }
        let running = self.breaker.running(|| self.get());
        self.running.set(Some(running));
        running
    }
}

impl<C: Clock> fmt::Debug for Breaker<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Breaker")
            .field("name", &self.name())
            .field("state", &self.state())
            .field("generation", &self.generation())
            .finish_non_exhaustive()
    }
}
