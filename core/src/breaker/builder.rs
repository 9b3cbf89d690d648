//! Building a breaker, new or from a snapshot.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::breaker::Breaker;
#[cfg(feature = "std")]
use crate::breaker::listener_set::ListenerSet;
use crate::breaker::listeners::{Listener, Listeners, SlotListener};
use crate::breaker::name::Name;
use crate::breaker::seed;
use crate::breaker::watch::{CallEvent, CallListener, Watch};
use crate::contract::clock::{Clock, SystemClock};
use crate::contract::config::{Config, OpenWait, Overdue, SlowRule, Window};
use crate::contract::error::ConfigError;
use crate::contract::event::Event;
use crate::contract::evidence::Evidence;
use crate::contract::outcome::Outcome;
use crate::contract::snapshot::Snapshot;
use crate::contract::stages::Stages;
use crate::engine::Engine;
use crate::engine::beside::Beside;
use crate::engine::on_demand::OnDemand;
use crate::engine::records::Records;
use crate::engine::restore::{First, Room};
use crate::engine::settings::Settings;
use crate::engine::sync::AtomicU64;
use crate::engine::window::count::{Ring, RingAt, near_words};
use crate::engine::window::tally::Tally;
use crate::engine::word::{AtomicWord, Word};

/// Builds a [`Breaker`]. The defaults are those of [`Config`].
///
/// # Examples
///
/// ```
/// use core::time::Duration;
/// use cutout::{Breaker, OpenWait, SlowRule, Window};
///
/// let breaker = Breaker::builder()
///     .name("search")
///     .window(Window::count(100))
///     .min_calls(20)
///     .failure_ratio(0.3)
///     .slow(SlowRule { limit: Duration::from_secs(2), ratio: 0.8 })
///     .open_wait(OpenWait::exponential(Duration::from_secs(5), 2.0, Duration::from_secs(60)))
///     .listener(|event| eprintln!("search: {} -> {}: {}", event.from, event.to, event.cause))
///     .build()?;
/// # Ok::<(), cutout::ConfigError>(())
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct Builder<C = SystemClock> {
    config: Config,
    /// Whether the ratio of failures is what the caller said, not the default.
    says_ratio: bool,
    name: String,
    listeners: Vec<Listener>,
    slot_listeners: Vec<SlotListener>,
    call_listeners: Vec<CallListener>,
    log: bool,
    totals: bool,
    restored: Option<Snapshot>,
    seed: Option<u64>,
    clock: C,
}

#[cfg(feature = "std")]
impl Breaker {
    /// A breaker on the system's clock.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first illegal field.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        Self::builder().config(config).build()
    }

    /// A builder with the defaults of [`Config`], on the system's clock.
    pub fn builder() -> Builder {
        Builder::new(SystemClock::new())
    }
}

impl<C: Clock> Builder<C> {
    /// A builder with the defaults of [`Config`], on this clock.
    pub fn new(clock: C) -> Self {
        Self {
            config: Config::default(),
            says_ratio: false,
            name: String::new(),
            listeners: Vec::new(),
            slot_listeners: Vec::new(),
            call_listeners: Vec::new(),
            log: false,
            totals: false,
            restored: None,
            seed: None,
            clock,
        }
    }

    /// Builds on another clock.
    pub fn clock<D: Clock>(self, clock: D) -> Builder<D> {
        Builder {
            config: self.config,
            says_ratio: self.says_ratio,
            name: self.name,
            listeners: self.listeners,
            slot_listeners: self.slot_listeners,
            call_listeners: self.call_listeners,
            log: self.log,
            totals: self.totals,
            restored: self.restored,
            seed: self.seed,
            clock,
        }
    }

    /// Names the breaker, for its `Debug` form and those who label by name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Replaces all config fields.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self.says_ratio = true;
        self
    }

    /// Sets [`Config::window`]. With a window of scores the default of
    /// [`failure_ratio`](Self::failure_ratio) is none.
    pub fn window(mut self, window: Window) -> Self {
        self.config.window = window;
        self
    }

    /// Sets [`Config::min_calls`]; `None` for what follows from the window.
    pub fn min_calls(mut self, min_calls: impl Into<Option<u32>>) -> Self {
        self.config.min_calls = min_calls.into();
        self
    }

    /// Sets [`Config::failure_ratio`]; `None` for no such rule.
    pub fn failure_ratio(mut self, ratio: impl Into<Option<f64>>) -> Self {
        self.config.failure_ratio = ratio.into();
        self.says_ratio = true;
        self
    }

    /// Sets [`Config::timeout_ratio`]; `None` for no such rule.
    pub fn timeout_ratio(mut self, ratio: impl Into<Option<f64>>) -> Self {
        self.config.timeout_ratio = ratio.into();
        self
    }

    /// Sets [`Config::slow`]; `None` for no such rule.
    pub fn slow(mut self, rule: impl Into<Option<SlowRule>>) -> Self {
        self.config.slow = rule.into();
        self
    }

    /// Sets [`Config::overdue`]; `None` to count calls only as they return.
    pub fn overdue(mut self, overdue: impl Into<Option<Overdue>>) -> Self {
        self.config.overdue = overdue.into();
        self
    }

    /// Sets [`Config::consecutive_failures`]; `None` for no such rule.
    pub fn consecutive_failures(mut self, run: impl Into<Option<u32>>) -> Self {
        self.config.consecutive_failures = run.into();
        self
    }

    /// Sets [`Config::failures`]; `None` for no such rule.
    pub fn failures(mut self, failures: impl Into<Option<u32>>) -> Self {
        self.config.failures = failures.into();
        self
    }

    /// Sets [`Config::open_wait`].
    pub fn open_wait(mut self, wait: OpenWait) -> Self {
        self.config.open_wait = wait;
        self
    }

    /// Sets [`Config::max_probes`].
    pub fn max_probes(mut self, probes: u32) -> Self {
        self.config.max_probes = probes;
        self
    }

    /// Sets [`Config::successes_to_close`].
    pub fn successes_to_close(mut self, successes: u32) -> Self {
        self.config.successes_to_close = successes;
        self
    }

    /// Sets [`Config::stages`]; `None` for one stage by the two above.
    pub fn stages(mut self, stages: impl Into<Option<Stages>>) -> Self {
        self.config.stages = stages.into();
        self
    }

    /// Sets [`Config::ramp`]; `None` for all calls at once.
    pub fn ramp(mut self, ramp: impl Into<Option<Duration>>) -> Self {
        self.config.ramp = ramp.into();
        self
    }

    /// Sets [`Config::probe_lease`]; `None` for no lease.
    pub fn probe_lease(mut self, lease: impl Into<Option<Duration>>) -> Self {
        self.config.probe_lease = lease.into();
        self
    }

    /// Sets [`Config::max_inconclusive`].
    pub fn max_inconclusive(mut self, probes: u32) -> Self {
        self.config.max_inconclusive = probes;
        self
    }

    /// Sets [`Config::abandoned`].
    pub fn abandoned(mut self, outcome: Outcome) -> Self {
        self.config.abandoned = outcome;
        self
    }

    /// Sets [`Config::abandoned_after`]; `None` for no such time.
    pub fn abandoned_after(mut self, after: impl Into<Option<Duration>>) -> Self {
        self.config.abandoned_after = after.into();
        self
    }

    /// Sets [`Config::panicked`].
    pub fn panicked(mut self, outcome: Outcome) -> Self {
        self.config.panicked = outcome;
        self
    }

    /// Adds a listener, to be told of every transition.
    ///
    /// Listeners are called in the order they were added, after the transition, by
    /// the thread that made it, or by one that is still delivering earlier ones:
    /// each transition once, and each `from` is the `to` of the one before. A
    /// listener may call any method of its breaker; what it causes is delivered
    /// after it returns. A listener that panics is contained and counted
    /// ([`Breaker::listener_panics`]). Without the `std` feature panics cannot be
    /// contained, and a listener must not panic. A slow listener delays the thread
    /// that runs it and the events behind it, never another call; from the 65th
    /// event that waits for it, each one takes an allocation.
    pub fn listener(self, listener: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.named_listener(move |_, event| listener(event))
    }

    /// As [`listener`](Self::listener), with the breaker's name: one function can
    /// serve many breakers. It does not matter whether the name is set before or after.
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::{Breaker, Event};
    ///
    /// fn report(breaker: &str, event: &Event) {
    ///     eprintln!("{breaker}: {} -> {}: {}", event.from, event.to, event.cause);
    /// }
    ///
    /// let search = Breaker::builder().name("search").named_listener(report).build()?;
    /// let billing = Breaker::builder().name("billing").named_listener(report).build()?;
    /// # Ok::<(), cutout::ConfigError>(())
    /// ```
    pub fn named_listener(
        mut self,
        listener: impl Fn(&str, &Event) + Send + Sync + 'static,
    ) -> Self {
        self.listeners.push(Box::new(listener));
        self
    }

    /// Adds a callback for those who queue for probes: it is called when a slot of a
    /// half-open breaker may have become free without a transition.
    ///
    /// That is when a probe is counted and decides nothing, when a stage passes, when one ends without a verdict,
    /// and when a half-open breaker is [reconfigured](Breaker::reconfigure) to a larger quota. Together with
    /// the events this covers all that can end a rejection, but for time: an open wait or a lease
    /// that runs out makes no call. It is called after the slot is free, by the thread that freed it, or by one
    /// that is still telling of an earlier one: as with events, it may call any method of its breaker, and
    /// what that frees is told after it returns. Slots that become free at the same time may be told of
    /// once. Panics are dealt with as those of a [`listener`](Self::listener).
    pub fn slot_listener(mut self, listener: impl Fn() + Send + Sync + 'static) -> Self {
        self.slot_listeners.push(Box::new(listener));
        self
    }

    /// Adds listeners that come and go while the breaker is in use.
    #[cfg(feature = "std")]
    pub fn listeners(mut self, listeners: &ListenerSet) -> Self {
        self.listeners.push(listeners.listener());
        self
    }

    /// Adds a listener for calls: it is told of every call that is settled, dropped or rejected, with
    /// the breaker's name.
    ///
    /// It is the only user code on the way of a call, runs on the caller's thread, and its time is the
    /// call's: to count calls use [`totals`](Self::totals), to act on transitions a [`listener`](Self::listener).
    /// It is told before the outcome takes effect. It may call any method of the breaker; calls that it makes itself
    /// are not told (without the `std` feature they are, and it must not make any). Panics are dealt with as those of a
    /// [`listener`](Self::listener). Breakers without one pay nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::{Breaker, CallEvent, Outcome};
    ///
    /// let breaker = Breaker::builder()
    ///     .name("search")
    ///     .call_listener(|breaker, event| match event {
    ///         CallEvent::Settled { report, .. } if report.outcome == Outcome::Failure => {
    ///             eprintln!("{breaker}: a failure: {:?}", report.label);
    ///         }
    ///         CallEvent::Rejected(rejected) => eprintln!("{rejected}"),
    ///         _ => {}
    ///     })
    ///     .build()?;
    /// breaker.allow().unwrap().failure();
    /// # Ok::<(), cutout::ConfigError>(())
    /// ```
    pub fn call_listener(
        mut self,
        listener: impl Fn(&str, &CallEvent) + Send + Sync + 'static,
    ) -> Self {
        self.call_listeners.push(Box::new(listener));
        self
    }

    /// Keeps the last 64 transitions for [`Breaker::log`]. Off by default: it takes
    /// about 10 kB.
    pub fn log(mut self, keep: bool) -> Self {
        self.log = keep;
        self
    }

    /// Counts calls by outcome, rejections and transitions, for
    /// [`Breaker::totals`]. Off by default.
    ///
    /// Each thread counts in memory of its own, unless there are many more threads than
    /// processors, so that counted calls do not hinder each other either. It takes 512
    /// bytes per processor, 16 kB at most, and 1 kB besides, and about 6 ns per call.
    pub fn totals(mut self, keep: bool) -> Self {
        self.totals = keep;
        self
    }

    /// Starts from a snapshot in place of an empty closed breaker.
    ///
    /// An open breaker goes on waiting for what was left, at most its open wait,
    /// less the wall-clock time that has passed since the snapshot; half-open
    /// becomes open with nothing left to wait. Operator states stay what they are, and so does what
    /// [`resume`](Breaker::resume) goes back to.
    /// The window is taken over if its shape is the config's and its outcomes are not too old:
    /// those of a time window age as they do in a breaker that runs, and those of a count window, and a
    /// run of failures, are of use for an hour ([`Snapshot::MAX_AGE`]). Otherwise it starts empty. When
    /// the clock or the snapshot does not know the wall-clock time, none counts as passed.
    /// The generation is the snapshot's; no event is delivered.
    pub fn restore(mut self, snapshot: Snapshot) -> Self {
        self.restored = Some(snapshot);
        self
    }

    /// Fixes what the jitter of the open waits is drawn from, for tests: breakers of one seed draw
    /// the same waits. Without it each breaker has a seed of its own, and another one in each process.
    pub fn jitter_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Checks the config and builds the breaker.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first illegal field.
    pub fn build(mut self) -> Result<Breaker<C>, ConfigError> {
        if !self.says_ratio {
            self.config.failure_ratio = self.config.default_failure_ratio();
        }
        self.config.validate()?;
        let config = &self.config;
        let near = near_words();
        let on_demand = OnDemand::default();
        let ring_at = on_demand.reserve(config);
        (0..2).for_each(|side| on_demand.fill(side, config));
        let start = self.clock.now();
        let first = match &self.restored {
            Some(snapshot) => {
                let room = Room {
                    ring: Ring::new(match ring_at {
                        RingAt::Near => &near,
                        RingAt::Far(ring) => on_demand.far(ring).unwrap_or_default(),
                    }),
                    on_demand: &on_demand,
                };
                First::restored(config, snapshot, room, self.clock.unix_time())
            }
            None => First::closed(config, Word::before(0)),
        };
        let (before, generation) = (first.word.previous_generation(), first.word.generation());
        if first.evidence != Evidence::default() {
            let texts = on_demand.texts_for_more();
            texts.restore(before, generation, &first.evidence);
        }
        let name: Box<str> = self.name.into();
        let heard = !(self.listeners.is_empty() && self.slot_listeners.is_empty());
        let listeners = (self.log || heard).then(|| {
            Box::new(Listeners::new(
                name.clone(),
                self.listeners,
                self.slot_listeners,
                self.log,
                first.word.next_generation(),
            ))
        });
        Ok(Breaker {
            engine: Engine {
                word: AtomicWord::new(first.word),
                tally: Tally::new(),
                near,
                settings: Settings::new(config, ring_at),
                beside: [(); 2]
                    .map(|()| Beside::new(generation, first.past, first.wait, first.interrupted)),
                records: Records::new(before, first.evidence.trip.as_ref()),
                on_demand,
            },
            stale: AtomicU64::new(0),
            reconfigurations: AtomicU64::new(0),
            start,
            seed: self.seed.unwrap_or_else(seed::random),
            clock: self.clock,
            listeners,
            watch: Watch::new(self.totals, name.clone(), self.call_listeners).map(Box::new),
            name: (!name.is_empty()).then(|| Box::new(Name::new(name))),
        })
    }
}

impl<C> fmt::Debug for Builder<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("config", &self.config)
            .field("name", &self.name)
            .field("listeners", &self.listeners.len())
            .field("log", &self.log)
            .field("totals", &self.totals)
            .field("restored", &self.restored)
            .finish_non_exhaustive()
    }
}
