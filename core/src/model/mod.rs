//! The contract as a plain program: what a breaker does, one call at a time.
//!
//! [`Model`] is what a [`Breaker`](crate::Breaker) would be behind one mutex.
//! It keeps its window in a queue, counts it anew on every outcome, and is
//! told the time. The lock-free breaker must be indistinguishable from it,
//! which is what the tests of this crate check; read it to learn what
//! the breaker means.
//!
//! Every method takes `now`, a reading of the same clock that gave `start`, in
//! nanoseconds. A reading before `start` counts as `start`.
//!
//! # Examples
//!
//! ```
//! use cutout::model::Model;
//! use cutout::{Config, Outcome, Settled, State};
//!
//! const SECOND: u64 = 1_000_000_000;
//!
//! let mut model = Model::new(Config::low_traffic(), 0)?;
//! for expected in [Settled::Recorded, Settled::Recorded, Settled::Tripped] {
//!     let permit = model.allow(0).unwrap();
//!     assert_eq!(model.done(permit, Outcome::Failure, 0), expected);
//! }
//! assert_eq!(model.state(0), State::Open);
//!
//! let probe = model.allow(10 * SECOND).unwrap();
//! assert_eq!(model.done(probe, Outcome::Success, 11 * SECOND), Settled::Closed);
//! # Ok::<(), cutout::ConfigError>(())
//! ```

mod calls;
mod deadline;
mod operate;
mod overdue;
mod peers;
mod pulse;
mod ramp;
mod read;
mod throttle;
mod window;

pub use throttle::{ThrottleAdmission, ThrottleModel};

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use crate::breaker::name::NameId;
use crate::breaker::rejected::{Rejected, TimeLeft};
use crate::contract::clock::saturating_nanos;
use crate::contract::config::{Config, OpenWait, Window};
use crate::contract::cusum::Cusum;
use crate::contract::error::ConfigError;
use crate::contract::event::Event;
use crate::contract::evidence::{Evidence, Moment, OperatorAction, Threshold, Trip};
use crate::contract::label::{Label, cut};
use crate::contract::outcome::{Counts, Outcome, Report, Sample, Settled};
use crate::contract::rules;
use crate::contract::score::Score;
use crate::contract::snapshot::{Bucket, HeldScore, Scores, Snapshot};
use crate::contract::stages::Stages;
use crate::contract::state::{Cause, State};
use crate::engine::wait::Wait;
use crate::engine::word::{HalfOpen, Word};

use deadline::Deadline;
use overdue::InFlight;
use pulse::Pulse;
use window::Content;

/// How many generations there are before they start again at zero.
const GENERATIONS: u32 = 1 << 22;

/// How many re-openings in a row are told apart; the wait grows no further.
const MAX_ATTEMPT: u32 = 127;

/// The sequential circuit breaker. See the [module](self).
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    config: Config,
    /// The clock's reading when the breaker was built.
    start: u64,
    /// What the jitter is drawn from.
    seed: u64,
    generation: u32,
    mode: Mode,
    why: Why,
    /// What an operator's state goes back to; closed in the others.
    interrupted: Interrupted,
    stale: u64,
    events: Vec<Event>,
    /// The latest tick of a time window in which an outcome came: a clock that steps back
    /// does not make another one of it.
    newest: u64,
    in_flight: InFlight,
    /// How many permits there have been.
    granted: u64,
    /// Once a config has timed calls.
    pulse: Option<Pulse>,
    /// In which millisecond the ramp began, if the breaker is on one; below zero if that was before it was built.
    ramp_begun: Option<i64>,
    /// The part of a call that the shares of ramps have added up to, in 2^-64.
    credit: u64,
}

/// The state with what belongs to it.
#[derive(Clone, Debug, PartialEq)]
enum Mode {
    Closed(Content),
    Open(Opened, Deadline),
    HalfOpen(Opened, Probes),
    ForcedOpen(Deadline),
    Disabled,
    ObserveOnly(Content),
}

/// What is told of why the breaker is not closed.
#[derive(Clone, Debug, Default, PartialEq)]
struct Why {
    trip: Option<(Moment, Trip)>,
    operator: Option<(Moment, Arc<str>)>,
}

/// What an operator's actions have interrupted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Interrupted {
    /// With how often it had re-opened, which is never but for a restored one.
    Closed(u32),
    Open(Opened, Deadline),
    HalfOpen(Opened),
}

/// Why the breaker is open, and how often it has opened again since it was
/// last closed. Both outlast the open state: they stay until a close.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Opened {
    cause: Cause,
    attempt: u32,
}

/// The books of one half-open period.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Probes {
    /// Granted and not settled.
    out: u32,
    /// By stages: all outcomes of those that are over, and the good ones of the present one.
    passed: u32,
    /// The bad ones of the present stage.
    bad: u32,
    inconclusive: u32,
    /// When the last lease of the probes granted in this generation runs out.
    leased_until: Deadline,
    /// How many generations before this one belong to the same half-open period: in each
    /// of them the probes' leases were lost.
    generations: u32,
}

/// The right to make one call, as [`Model::allow`] gives it.
///
/// It has no `Drop`: hand it to [`Model::drop_permit`], or forget it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use = "a permit that is not handed back is a forgotten one"]
pub struct ModelPermit {
    generation: u32,
    probe: bool,
    /// When it was granted, if that mattered then: for a rule on slow calls, or for overdue ones.
    granted: Option<Duration>,
    number: u64,
}

impl ModelPermit {
    /// The generation that granted it.
    pub const fn generation(&self) -> u32 {
        self.generation
    }

    /// Whether it was granted in half-open.
    pub const fn is_probe(&self) -> bool {
        self.probe
    }
}

impl Model {
    /// A closed breaker, built when the clock read `start`.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] when a value of `config` is not legal.
    pub fn new(config: Config, start: u64) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            config,
            start,
            seed: 0,
            generation: 0,
            mode: Mode::Closed(Content::nothing(config.window)),
            why: Why::default(),
            interrupted: Interrupted::Closed(0),
            stale: 0,
            events: Vec::new(),
            newest: 0,
            in_flight: InFlight::default(),
            granted: 0,
            pulse: Pulse::of(&config),
            ramp_begun: None,
            credit: 0,
        })
    }

    /// Sets what the jitter is drawn from: that of a breaker built with the same
    /// [`jitter_seed`](crate::Builder::jitter_seed).
    #[must_use]
    pub const fn jitter_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// A breaker that goes on where `snapshot` was taken.
    ///
    /// The time that has passed between the snapshot and `unix_now` is taken
    /// off what is left to wait, and no wait is longer than the config's. Half-open
    /// is restored as open with nothing left to wait. A window that is too old is left out.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] when a value of `config` is not legal.
    pub fn restore(
        config: Config,
        snapshot: &Snapshot,
        start: u64,
        unix_now: Duration,
    ) -> Result<Self, ConfigError> {
        let mut model = Self::new(config, start)?;
        model.generation = snapshot.generation % GENERATIONS;

        let dated = !snapshot.taken.is_zero() && !unix_now.is_zero();
        let passed = if dated {
            unix_now.saturating_sub(snapshot.taken)
        } else {
            Duration::ZERO
        };
        let opened = Opened::restored(snapshot);
        let longest = model.open_wait_without_jitter(opened.attempt);
        let open_for = |left: Option<Duration>| match left
            .map_or(longest, |left| saturating_nanos(left).min(longest))
        {
            u64::MAX => u64::MAX,
            left => left.saturating_sub(saturating_nanos(passed)),
        };
        let opened_for = |left: u64| Deadline::of_wait(Duration::ZERO, left);
        model.interrupted = match snapshot.interrupted {
            Some(interrupted) => {
                let opened = Opened {
                    cause: known(interrupted.cause),
                    ..opened
                };
                let left = open_for(interrupted.remaining);
                match interrupted.state {
                    State::Open => {
                        let kept = Deadline::after(Duration::ZERO, left).in_millis();
                        Interrupted::Open(opened, kept)
                    }
                    State::HalfOpen => Interrupted::HalfOpen(opened),
                    _ => Interrupted::Closed(opened.attempt),
                }
            }
            None => Interrupted::Closed(opened.attempt),
        };

        model.mode = match snapshot.state {
            State::Closed => Mode::Closed(model.restored_window(snapshot, passed)),
            State::ObserveOnly => Mode::ObserveOnly(model.restored_window(snapshot, passed)),
            State::Disabled => Mode::Disabled,
            State::ForcedOpen => Mode::ForcedOpen(match snapshot.remaining {
                Some(left) => opened_for(saturating_nanos(left.saturating_sub(passed))),
                None => Deadline::NEVER,
            }),
            State::HalfOpen => Mode::Open(opened, opened_for(0)),
            State::Open => Mode::Open(opened, opened_for(open_for(snapshot.remaining))),
        };
        let told = snapshot.evidence.older(passed);
        model.why = match snapshot.state {
            State::Closed | State::ObserveOnly => Why::default(),
            State::Open | State::HalfOpen => Why::restored(told.of_outage(opened.cause)),
            State::ForcedOpen | State::Disabled => Why::restored(told),
        };
        if !model.mode.is_by_operator() {
            model.interrupted = Interrupted::Closed(0);
        }
        model.restore_ramp(snapshot, passed);
        Ok(model)
    }

    /// The snapshot's window if it fits this breaker's, else an empty one.
    fn restored_window(&self, snapshot: &Snapshot, passed: Duration) -> Content {
        Content::restored(&self.config, snapshot, passed)
            .unwrap_or_else(|| Content::nothing(self.config.window))
    }
}

impl Why {
    fn restored(told: Evidence) -> Self {
        Self {
            trip: told.trip.map(|trip| (Moment::before(trip.age), trip)),
            operator: told
                .operator
                .map(|operator| (Moment::before(operator.age), operator.reason)),
        }
    }
}

impl Opened {
    /// What a snapshot says about the opening, made consistent.
    fn restored(snapshot: &Snapshot) -> Self {
        Self {
            cause: known(snapshot.cause),
            attempt: snapshot.attempt.min(MAX_ATTEMPT),
        }
    }
}

/// What a snapshot says that opened a breaker, if that can be.
fn known(cause: Option<Cause>) -> Cause {
    match cause {
        None => Cause::FailureRatio,
        Some(
            Cause::ProbesPassed
            | Cause::WaitElapsed
            | Cause::LeaseLost
            | Cause::Reconfigured
            | Cause::Ramping
            | Cause::Throttled,
        ) => Cause::Operator,
        Some(cause) => cause,
    }
}

impl Model {
    /// Every transition: one generation, one event.
    fn enter(&mut self, next: Mode, cause: Cause, reason: Option<Arc<str>>, at: Duration) {
        self.enter_after(self.counts(at), next, cause, reason, at);
    }

    /// As [`enter`](Self::enter), by a rule that matches or a probe's verdict.
    fn enter_by_outcome(&mut self, next: Mode, cause: Cause, label: Option<Label>, at: Duration) {
        self.enter(next, cause, None, at);
        let threshold = rules::Rules::of(&self.config).threshold(cause);
        let label = label.map(|label| Arc::from(label.as_str()));
        if let Some(event) = self.events.last_mut() {
            event.threshold = threshold;
            event.label.clone_from(&label);
        }
        if let (Mode::Open(..), Some((_, trip))) = (&self.mode, &mut self.why.trip) {
            trip.threshold = trip.threshold.or(threshold);
            trip.label = label.or(trip.label.take());
        }
    }

    /// What is told of the state that follows.
    fn explain(
        &mut self,
        next: State,
        cause: Cause,
        reason: Option<&Arc<str>>,
        counts: Counts,
        at: Duration,
    ) {
        let moment = Moment::at(saturating_nanos(at));
        match next {
            State::Closed => self.why = Why::default(),
            // It is not shown meanwhile.
            State::ObserveOnly => self.why.operator = None,
            State::Open => {
                self.why.operator = None;
                self.why.trip.get_or_insert_with(|| {
                    let trip = Trip {
                        cause,
                        age: Duration::ZERO,
                        counts,
                        threshold: None,
                        label: None,
                    };
                    (moment, trip)
                });
            }
            State::HalfOpen => {}
            State::ForcedOpen | State::Disabled => {
                self.why.operator = reason.map(|reason| {
                    let kept = cut(reason, OperatorAction::MAX_REASON);
                    (moment, kept.into())
                });
            }
        }
    }

    /// As [`enter`](Self::enter), the window having held so much.
    fn enter_after(
        &mut self,
        counts: Counts,
        next: Mode,
        cause: Cause,
        reason: Option<Arc<str>>,
        at: Duration,
    ) {
        let generation = self.next_generation();
        self.explain(next.name(), cause, reason.as_ref(), counts, at);
        self.events.push(Event {
            generation,
            from: self.mode.name(),
            to: next.name(),
            cause,
            reason,
            at,
            counts,
            threshold: None,
            label: None,
        });
        self.generation = generation;
        self.ramp_after(&next, at);
        if next.is_by_operator() {
            self.interrupted = self.interruption();
        }
        self.mode = next;
        if !self.mode.is_by_operator() {
            self.interrupted = Interrupted::Closed(0);
        }
        self.forget_in_flight();
    }

    /// What the window holds; nothing in a state without one.
    fn counts(&self, at: Duration) -> Counts {
        match self.mode.window() {
            Some(content) => content.counts(self.config.window, self.tick(at)),
            None => Counts::default(),
        }
    }

    const fn next_generation(&self) -> u32 {
        (self.generation + 1) % GENERATIONS
    }

    const fn since_start(&self, now: u64) -> Duration {
        Duration::from_nanos(now.saturating_sub(self.start))
    }

    fn open_wait_without_jitter(&self, attempt: u32) -> u64 {
        let wait = self.config.open_wait.jitter_percent(0);
        open_wait(&wait, attempt, None, self.seed, self.generation)
    }

    /// What an operator's action interrupts now: the state, or what the operator's state before
    /// has interrupted.
    fn interruption(&self) -> Interrupted {
        match self.mode {
            Mode::Closed(_) => Interrupted::Closed(0),
            Mode::Open(opened, deadline) => Interrupted::Open(opened, deadline.in_millis()),
            Mode::HalfOpen(opened, _) => Interrupted::HalfOpen(opened),
            Mode::ForcedOpen(_) | Mode::Disabled | Mode::ObserveOnly(_) => self.interrupted,
        }
    }
}

impl Mode {
    /// The state's name, whatever the time.
    const fn name(&self) -> State {
        match self {
            Self::Closed(_) => State::Closed,
            Self::Open(..) => State::Open,
            Self::HalfOpen(..) => State::HalfOpen,
            Self::ForcedOpen(_) => State::ForcedOpen,
            Self::Disabled => State::Disabled,
            Self::ObserveOnly(_) => State::ObserveOnly,
        }
    }

    const fn is_by_operator(&self) -> bool {
        matches!(
            self,
            Self::ForcedOpen(_) | Self::Disabled | Self::ObserveOnly(_)
        )
    }

    const fn window(&self) -> Option<&Content> {
        match self {
            Self::Closed(window) | Self::ObserveOnly(window) => Some(window),
            _ => None,
        }
    }

    const fn window_mut(&mut self) -> Option<&mut Content> {
        match self {
            Self::Closed(window) | Self::ObserveOnly(window) => Some(window),
            _ => None,
        }
    }
}

impl Probes {
    const NONE: Self = Self {
        out: 0,
        passed: 0,
        bad: 0,
        inconclusive: 0,
        leased_until: Deadline(0),
        generations: 0,
    };
}

/// A sample as a window holds it: one that was answered is as good as a success.
const fn in_window(sample: Sample) -> Sample {
    match sample.outcome {
        Outcome::Answered => Sample {
            outcome: Outcome::Success,
            ..sample
        },
        _ => sample,
    }
}

impl Interrupted {
    /// How often the breaker had re-opened.
    const fn attempt(self) -> u32 {
        match self {
            Self::Closed(attempt) => attempt,
            Self::Open(opened, _) | Self::HalfOpen(opened) => opened.attempt,
        }
    }
}

fn is_failure(sample: &Sample) -> bool {
    matches!(sample.outcome, Outcome::Failure | Outcome::Timeout)
}

/// The open wait in nanoseconds. Growth and jitter are the breaker's own, since
/// another order of the same multiplications may differ in the last bit.
fn open_wait(
    wait: &OpenWait,
    attempt: u32,
    asked: Option<Duration>,
    seed: u64,
    generation: u32,
) -> u64 {
    let configured = if wait.factor == 1.0 && wait.jitter_percent == 0 {
        saturating_nanos(wait.base)
    } else {
        rules::open_wait(wait, attempt, None, seed, generation)
    };
    configured.max(asked.map_or(0, saturating_nanos))
}

/// A rejection as the breaker words it.
fn rejection(state: State, cause: Cause, left: TimeLeft, generation: u32) -> Rejected {
    let before = Word::before(generation);
    let word = match state {
        State::HalfOpen => before.to_half_open(HalfOpen::new(cause)),
        State::ForcedOpen => before.to_forced_open(Wait::ENDLESS),
        _ => before.to_open(cause, Wait::ENDLESS),
    };
    Rejected {
        word,
        left,
        breaker: NameId::NONE,
    }
}
