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
mod read;
mod window;

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use crate::breaker::name::NameId;
use crate::breaker::rejected::{Rejected, TimeLeft};
use crate::contract::clock::saturating_nanos;
use crate::contract::config::{Config, OpenWait, Window};
use crate::contract::error::ConfigError;
use crate::contract::event::Event;
use crate::contract::evidence::{Evidence, Moment, OperatorAction, Trip};
use crate::contract::label::{Label, cut};
use crate::contract::outcome::{Counts, Outcome, Report, Sample, Settled};
use crate::contract::rules;
use crate::contract::snapshot::{Bucket, Snapshot};
use crate::contract::state::{Cause, State};
use crate::engine::word::{HalfOpen, Word};

use deadline::Deadline;
use overdue::Flights;
use window::Held;

/// How many generations there are before they start again at zero.
const GENERATIONS: u32 = 1 << 22;

/// How many re-openings in a row are told apart; the wait grows no further.
const MAX_ATTEMPT: u32 = 127;

/// The sequential circuit breaker. See the [module](self).
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    config: Config,
    /// The clock's reading when the breaker was built; it also seeds the jitter.
    start: u64,
    generation: u32,
    mode: Mode,
    why: Why,
    stale: u64,
    events: Vec<Event>,
    /// The latest tick of a time window in which an outcome came: a clock that steps back
    /// does not make another one of it.
    newest: u64,
    flights: Flights,
    /// How many permits there have been.
    granted: u64,
}

/// The state with what belongs to it.
#[derive(Clone, Debug, PartialEq)]
enum Mode {
    Closed(Held),
    Open(Opened, Deadline),
    HalfOpen(Opened, Probes),
    ForcedOpen(Deadline),
    Disabled,
    ObserveOnly(Held),
}

/// What is told of why the breaker is not closed.
#[derive(Clone, Debug, Default, PartialEq)]
struct Why {
    trip: Option<(Moment, Trip)>,
    operator: Option<(Moment, Arc<str>)>,
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
    passed: u32,
    inconclusive: u32,
    /// When the last lease of the probes granted in this generation runs out.
    leased_until: Deadline,
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
            generation: 0,
            mode: Mode::Closed(Held::nothing(config.window)),
            why: Why::default(),
            stale: 0,
            events: Vec::new(),
            newest: 0,
            flights: Flights::default(),
            granted: 0,
        })
    }

    /// A breaker that goes on where `snapshot` was taken.
    ///
    /// The time that has passed between the snapshot and `unix_now` is taken
    /// off what is left to wait, and no wait is longer than the config's. Half-open
    /// is restored as open with nothing left to wait.
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

        let known = !snapshot.taken.is_zero() && !unix_now.is_zero();
        let passed = if known {
            unix_now.saturating_sub(snapshot.taken)
        } else {
            Duration::ZERO
        };
        let opened = Opened::restored(snapshot);
        let open_for = |left: Duration| Deadline::after(Duration::ZERO, saturating_nanos(left));

        model.mode = match snapshot.state {
            State::Closed => Mode::Closed(model.restored_window(snapshot, passed)),
            State::ObserveOnly => Mode::ObserveOnly(model.restored_window(snapshot, passed)),
            State::Disabled => Mode::Disabled,
            State::ForcedOpen => Mode::ForcedOpen(match snapshot.remaining {
                Some(left) => open_for(left.saturating_sub(passed)),
                None => Deadline::NEVER,
            }),
            State::HalfOpen => Mode::Open(opened, open_for(Duration::ZERO)),
            State::Open => {
                let longest = model.open_wait_without_jitter(opened.attempt);
                let left = snapshot.remaining.unwrap_or(Duration::MAX).min(longest);
                Mode::Open(opened, open_for(left.saturating_sub(passed)))
            }
        };
        let told = snapshot.evidence.older(passed);
        model.why = match snapshot.state {
            State::Closed | State::ObserveOnly => Why::default(),
            State::Open | State::HalfOpen => Why::restored(told.of_outage(opened.cause)),
            State::ForcedOpen | State::Disabled => Why::restored(told),
        };
        Ok(model)
    }

    /// The snapshot's window if it fits this breaker's, else an empty one.
    fn restored_window(&self, snapshot: &Snapshot, passed: Duration) -> Held {
        Held::restored(&self.config, snapshot, passed)
            .unwrap_or_else(|| Held::nothing(self.config.window))
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
        let cause = match snapshot.cause {
            None => Cause::FailureRatio,
            Some(
                Cause::ProbesPassed | Cause::WaitElapsed | Cause::LeaseLost | Cause::Reconfigured,
            ) => Cause::Operator,
            Some(cause) => cause,
        };
        let attempt = match cause {
            Cause::ProbeFailed | Cause::ProbeTimedOut | Cause::ProbeSlow => snapshot.attempt.max(1),
            Cause::ProbesInconclusive => snapshot.attempt,
            _ => 0,
        };
        Self {
            cause,
            attempt: attempt.min(MAX_ATTEMPT),
        }
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
        if let Some((_, trip)) = &mut self.why.trip {
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
            State::Closed | State::ObserveOnly => self.why = Why::default(),
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
        self.mode = next;
        self.forget_flights();
    }

    /// What the window holds; nothing in a state without one.
    fn counts(&self, at: Duration) -> Counts {
        match self.mode.window() {
            Some(held) => held.counts(self.config.window, self.tick(at)),
            None => Counts::default(),
        }
    }

    const fn next_generation(&self) -> u32 {
        (self.generation + 1) % GENERATIONS
    }

    const fn since_start(&self, now: u64) -> Duration {
        Duration::from_nanos(now.saturating_sub(self.start))
    }

    fn open_wait_without_jitter(&self, attempt: u32) -> Duration {
        let wait = self.config.open_wait.jitter_percent(0);
        Duration::from_nanos(open_wait(&wait, attempt, self.start, self.generation))
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

    const fn window(&self) -> Option<&Held> {
        match self {
            Self::Closed(window) | Self::ObserveOnly(window) => Some(window),
            _ => None,
        }
    }

    const fn window_mut(&mut self) -> Option<&mut Held> {
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
        inconclusive: 0,
        leased_until: Deadline(0),
    };
}

/// A sample as a window holds it: one that was answered is as good as a success.
const fn held(sample: Sample) -> Sample {
    match sample.outcome {
        Outcome::Answered => Sample {
            outcome: Outcome::Success,
            ..sample
        },
        _ => sample,
    }
}

fn is_failure(sample: &Sample) -> bool {
    matches!(sample.outcome, Outcome::Failure | Outcome::Timeout)
}

/// The open wait in nanoseconds. Growth and jitter are the breaker's own, since
/// another order of the same multiplications may differ in the last bit.
fn open_wait(wait: &OpenWait, attempt: u32, seed: u64, generation: u32) -> u64 {
    if wait.factor == 1.0 && wait.jitter_percent == 0 {
        return saturating_nanos(wait.base);
    }
    rules::open_wait(wait, attempt, seed, generation)
}

/// A rejection as the breaker words it.
fn rejection(state: State, cause: Cause, left: TimeLeft, generation: u32) -> Rejected {
    let before = Word::before(generation);
    let word = match state {
        State::HalfOpen => before.to_half_open(HalfOpen {
            cause,
            attempt: 0,
            out: 0,
            passed: 0,
            inconclusive: 0,
        }),
        State::ForcedOpen => before.to_forced_open(crate::contract::deadline::Deadline::NEVER),
        _ => before.to_open(cause, crate::contract::deadline::Deadline::NEVER),
    };
    Rejected {
        word,
        left,
        breaker: NameId::NONE,
    }
}
