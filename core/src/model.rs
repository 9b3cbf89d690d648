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

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use crate::clock::saturating_nanos;
use crate::config::{Config, OpenWait, Window};
use crate::error::{ConfigError, Left, Rejected};
use crate::event::Event;
use crate::outcome::{Counts, Outcome, Report, Sample, Settled};
use crate::rules;
use crate::snapshot::Snapshot;
use crate::state::{Cause, State};
use crate::word::Word;

/// How many generations there are before they start again at zero.
const GENERATIONS: u32 = 1 << 22;

/// How many re-openings in a row are told apart; the wait grows no further.
const MAX_ATTEMPT: u32 = 511;

/// The sequential circuit breaker. See the [module](self).
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    config: Config,
    /// The clock's reading when the breaker was built; it also seeds the jitter.
    start: u64,
    generation: u32,
    mode: Mode,
    stale: u64,
    events: Vec<Event>,
}

/// The state with what belongs to it.
#[derive(Clone, Debug, PartialEq)]
enum Mode {
    Closed(VecDeque<Sample>),
    Open(Opened, Deadline),
    HalfOpen(Opened, Probes),
    ForcedOpen(Deadline),
    Disabled,
    ObserveOnly(VecDeque<Sample>),
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

/// A point in time in whole microseconds since the start, rounded up so that
/// it never comes early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Deadline(u64);

/// The right to make one call, as [`Model::allow`] gives it.
///
/// It has no `Drop`: hand it to [`Model::drop_permit`], or forget it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use = "a permit that is not handed back is a forgotten one"]
pub struct ModelPermit {
    generation: u32,
    probe: bool,
    /// When it was granted, if a slow rule was set then.
    granted: Option<Duration>,
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

// Building.

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
            mode: Mode::Closed(VecDeque::new()),
            stale: 0,
            events: Vec::new(),
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
            State::Closed => Mode::Closed(model.restored_window(snapshot)),
            State::ObserveOnly => Mode::ObserveOnly(model.restored_window(snapshot)),
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
        Ok(model)
    }

    /// The snapshot's window if it fits this breaker's, else an empty one.
    fn restored_window(&self, snapshot: &Snapshot) -> VecDeque<Sample> {
        let Window::Count(size) = self.config.window;
        let fits = snapshot.window == self.config.window
            && snapshot.samples.len() <= size as usize
            && snapshot
                .samples
                .iter()
                .all(|sample| sample.outcome != Outcome::Ignored);
        if fits {
            snapshot.samples.iter().copied().collect()
        } else {
            VecDeque::new()
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

// Admission.

impl Model {
    /// Asks for admission.
    ///
    /// Closed, disabled and observe-only always grant. Open and forced open
    /// reject until their deadline; the call that comes then moves the breaker
    /// to half-open and gets the first probe. Half-open grants while a slot is
    /// free; when all are taken and every lease has run out, it starts over with all
    /// slots free.
    ///
    /// # Errors
    ///
    /// [`Rejected`] when the call must not be made.
    pub fn allow(&mut self, now: u64) -> Result<ModelPermit, Rejected> {
        let at = self.since_start(now);
        match self.mode {
            Mode::Closed(_) | Mode::Disabled | Mode::ObserveOnly(_) => Ok(self.permit(false, at)),
            Mode::Open(opened, deadline) if deadline.passed(at) => {
                self.enter(
                    Mode::HalfOpen(opened, Probes::NONE),
                    Cause::WaitElapsed,
                    None,
                    at,
                );
                Ok(self.probe(at))
            }
            Mode::ForcedOpen(deadline) if deadline.passed(at) => {
                let opened = Opened {
                    cause: Cause::Operator,
                    attempt: 0,
                };
                self.enter(
                    Mode::HalfOpen(opened, Probes::NONE),
                    Cause::WaitElapsed,
                    None,
                    at,
                );
                Ok(self.probe(at))
            }
            Mode::HalfOpen(_, probes) if probes.out < self.config.max_probes => Ok(self.probe(at)),
            Mode::HalfOpen(opened, probes) if probes.leased_until.passed(at) => {
                let kept = Probes {
                    passed: probes.passed,
                    inconclusive: probes.inconclusive,
                    ..Probes::NONE
                };
                self.enter(Mode::HalfOpen(opened, kept), Cause::LeaseLost, None, at);
                Ok(self.probe(at))
            }
            Mode::Open(opened, deadline) => {
                Err(self.rejected(opened.cause, Some(deadline.left(at))))
            }
            Mode::ForcedOpen(Deadline::NEVER) => Err(self.rejected(Cause::Operator, None)),
            Mode::ForcedOpen(deadline) => {
                Err(self.rejected(Cause::Operator, Some(deadline.left(at))))
            }
            Mode::HalfOpen(opened, _) => Err(self.rejected(opened.cause, None)),
        }
    }

    /// Takes a slot of half-open.
    fn probe(&mut self, at: Duration) -> ModelPermit {
        let lease = match self.config.probe_lease {
            Some(lease) => Deadline::after(at, saturating_nanos(lease)).in_millis(),
            None => Deadline::NEVER,
        };
        if let Mode::HalfOpen(_, probes) = &mut self.mode {
            probes.out += 1;
            probes.leased_until = probes.leased_until.max(lease);
        }
        self.permit(true, at)
    }

    fn permit(&self, probe: bool, at: Duration) -> ModelPermit {
        ModelPermit {
            generation: self.generation,
            probe,
            granted: self.config.slow.map(|_| at),
        }
    }

    fn rejected(&self, cause: Cause, retry_after: Option<Duration>) -> Rejected {
        Rejected {
            word: Word::rejecting(self.mode.name(), cause, self.generation),
            left: match retry_after {
                None => Left::UNKNOWN,
                Some(Duration::MAX) => Left::ENDLESS,
                Some(left) => Left::nanos(saturating_nanos(left)),
            },
        }
    }
}

// Outcomes.

impl Model {
    /// Settles a permit. A permit of another generation is stale: it is
    /// counted as such and has no other effect.
    pub fn done(&mut self, permit: ModelPermit, report: impl Into<Report>, now: u64) -> Settled {
        let report = report.into();
        let at = self.since_start(now);
        if permit.generation != self.generation {
            self.stale += 1;
            return Settled::Stale;
        }
        let slow = self.is_slow(&permit, report, at);
        match self.mode {
            Mode::Closed(_) | Mode::ObserveOnly(_) => self.record(report, slow, at),
            Mode::HalfOpen(opened, probes) => self.judge(opened, probes, report, slow, at),
            Mode::Disabled => Settled::Ignored,
            Mode::Open(..) | Mode::ForcedOpen(_) => {
                unreachable!("these states grant no permits of their generation")
            }
        }
    }

    /// Settles a permit that was dropped, `panicking` or not, by the config's policy.
    pub fn drop_permit(&mut self, permit: ModelPermit, panicking: bool, now: u64) -> Settled {
        let outcome = if panicking {
            self.config.panicked
        } else {
            self.config.abandoned
        };
        self.done(permit, outcome, now)
    }

    /// Whether a call was slow: a slow rule is set and the call is known to have
    /// taken its limit or longer. The caller's measurement counts before the breaker's.
    fn is_slow(&self, permit: &ModelPermit, report: Report, at: Duration) -> bool {
        let measured = permit.granted.map(|granted| at.saturating_sub(granted));
        match (self.config.slow, report.elapsed.or(measured)) {
            (Some(rule), Some(elapsed)) => {
                saturating_nanos(elapsed) >= saturating_nanos(rule.limit)
            }
            _ => false,
        }
    }

    /// An outcome in closed or observe-only: it enters the window, and the rules
    /// are evaluated, whatever the outcome was.
    fn record(&mut self, report: Report, slow: bool, at: Duration) -> Settled {
        if report.outcome == Outcome::Ignored {
            return Settled::Ignored;
        }
        let Window::Count(size) = self.config.window;
        let window = self.mode.window_mut().expect("the state has a window");
        if window.len() == size as usize {
            window.pop_front();
        }
        window.push_back(Sample {
            outcome: report.outcome,
            slow,
        });
        let Some(rule) = self.matching_rule() else {
            return Settled::Recorded;
        };
        if let Mode::ObserveOnly(_) = self.mode {
            self.enter(Mode::ObserveOnly(VecDeque::new()), rule, None, at);
            return Settled::WouldTrip;
        }
        let opened = Opened {
            cause: rule,
            attempt: 0,
        };
        self.open(opened, report.retry_after, at);
        Settled::Tripped
    }

    /// The first rule that the window matches.
    fn matching_rule(&self) -> Option<Cause> {
        let window = self.mode.window()?;
        let run = window.iter().rev().take_while(|sample| is_failure(sample));
        let run = run.count();
        let counts = count(window);
        let reaches = |count: u32, ratio: Option<f64>| {
            counts.samples >= self.config.min_calls
                && ratio.is_some_and(|ratio| f64::from(count) / f64::from(counts.samples) >= ratio)
        };

        let consecutive = self.config.consecutive_failures;
        if consecutive.is_some_and(|limit| run >= limit as usize) {
            Some(Cause::ConsecutiveFailures)
        } else if reaches(counts.failures, self.config.failure_ratio) {
            Some(Cause::FailureRatio)
        } else if reaches(counts.timeouts, self.config.timeout_ratio) {
            Some(Cause::TimeoutRatio)
        } else if reaches(counts.slow, self.config.slow.map(|rule| rule.ratio)) {
            Some(Cause::SlowRatio)
        } else {
            None
        }
    }

    /// An outcome in half-open: it frees its slot, and may decide.
    fn judge(
        &mut self,
        opened: Opened,
        mut probes: Probes,
        report: Report,
        slow: bool,
        at: Duration,
    ) -> Settled {
        let verdict = match report.outcome {
            Outcome::Failure => Some(Cause::ProbeFailed),
            Outcome::Timeout => Some(Cause::ProbeTimedOut),
            Outcome::Success if slow => Some(Cause::ProbeSlow),
            Outcome::Success | Outcome::Ignored => None,
        };
        if let Some(cause) = verdict {
            let attempt = (opened.attempt + 1).min(MAX_ATTEMPT);
            self.open(Opened { cause, attempt }, report.retry_after, at);
            return Settled::Reopened;
        }

        probes.out -= 1;
        if report.outcome == Outcome::Ignored {
            probes.inconclusive += 1;
            if probes.inconclusive >= self.config.max_inconclusive {
                // No verdict: the wait does not grow, and no one may set it.
                let cause = Cause::ProbesInconclusive;
                let attempt = opened.attempt;
                self.open(Opened { cause, attempt }, None, at);
                return Settled::Reopened;
            }
            self.mode = Mode::HalfOpen(opened, probes);
            return Settled::Ignored;
        }

        probes.passed += 1;
        if probes.passed >= self.config.successes_to_close {
            self.enter(Mode::Closed(VecDeque::new()), Cause::ProbesPassed, None, at);
            return Settled::Closed;
        }
        self.mode = Mode::HalfOpen(opened, probes);
        Settled::Recorded
    }

    /// Opens for as long as the upstream `asked` for, or else for the config's wait.
    fn open(&mut self, opened: Opened, asked: Option<Duration>, at: Duration) {
        let wait = match asked {
            Some(wait) => saturating_nanos(wait),
            None => open_wait(
                &self.config.open_wait,
                opened.attempt,
                self.start,
                self.next_generation(),
            ),
        };
        self.enter(
            Mode::Open(opened, Deadline::after(at, wait)),
            opened.cause,
            None,
            at,
        );
    }
}

// Operator actions: each legal in every state, each a new generation.

impl Model {
    /// Rejects all calls; when `how_long` has passed the breaker is half-open.
    pub fn force_open(
        &mut self,
        how_long: Option<Duration>,
        reason: impl Into<Arc<str>>,
        now: u64,
    ) {
        let at = self.since_start(now);
        let deadline = match how_long {
            Some(wait) => Deadline::after(at, saturating_nanos(wait)),
            None => Deadline::NEVER,
        };
        self.operate(Mode::ForcedOpen(deadline), reason.into(), at);
    }

    /// Closes with an empty window, and ends any override.
    pub fn close(&mut self, reason: impl Into<Arc<str>>, now: u64) {
        let at = self.since_start(now);
        self.operate(Mode::Closed(VecDeque::new()), reason.into(), at);
    }

    /// Admits all calls and records nothing.
    pub fn disable(&mut self, reason: impl Into<Arc<str>>, now: u64) {
        let at = self.since_start(now);
        self.operate(Mode::Disabled, reason.into(), at);
    }

    /// Admits all calls, records them, and reports what would have tripped.
    pub fn observe_only(&mut self, reason: impl Into<Arc<str>>, now: u64) {
        let at = self.since_start(now);
        self.operate(Mode::ObserveOnly(VecDeque::new()), reason.into(), at);
    }

    fn operate(&mut self, next: Mode, reason: Arc<str>, at: Duration) {
        self.enter(next, Cause::Operator, Some(reason), at);
    }

    /// Replaces the config. The state, its deadline and the permits in flight
    /// stay. A new window shape empties the window, which is a new
    /// generation where the state has one.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] when a value is not legal; nothing has changed then.
    pub fn reconfigure(&mut self, config: Config, now: u64) -> Result<(), ConfigError> {
        config.validate()?;
        let old = mem::replace(&mut self.config, config);
        if old.window != config.window {
            let at = self.since_start(now);
            let empty = match self.mode {
                Mode::Closed(_) => Mode::Closed(VecDeque::new()),
                Mode::ObserveOnly(_) => Mode::ObserveOnly(VecDeque::new()),
                _ => return Ok(()),
            };
            self.enter(empty, Cause::Reconfigured, None, at);
        }
        Ok(())
    }
}

// Reads: pure, whatever the time.

impl Model {
    /// The state. Open and forced open read as half-open once their wait is over.
    pub fn state(&self, now: u64) -> State {
        match self.mode {
            Mode::Open(_, deadline) | Mode::ForcedOpen(deadline)
                if deadline.passed(self.since_start(now)) =>
            {
                State::HalfOpen
            }
            _ => self.mode.name(),
        }
    }

    /// Whether [`allow`](Self::allow) would grant now.
    pub fn is_available(&self, now: u64) -> bool {
        self.clone().allow(now).is_ok()
    }

    /// The generation.
    pub const fn generation(&self) -> u32 {
        self.generation
    }

    /// How many permits were settled after their generation had ended.
    pub const fn stale(&self) -> u64 {
        self.stale
    }

    /// The config.
    pub const fn config(&self) -> Config {
        self.config
    }

    /// The clock's reading at which time alone changes what
    /// [`allow`](Self::allow) answers: the end of a wait, or of the last lease.
    /// `None` where there is none, or it never comes.
    pub fn deadline(&self) -> Option<u64> {
        let deadline = match &self.mode {
            Mode::Open(_, deadline) | Mode::ForcedOpen(deadline) => *deadline,
            Mode::HalfOpen(_, probes) => probes.leased_until,
            Mode::Closed(_) | Mode::Disabled | Mode::ObserveOnly(_) => return None,
        };
        let since_start = saturating_nanos(deadline.time()?);
        Some(self.start.saturating_add(since_start))
    }

    /// The whole state as a value, taken at the wall-clock time `unix_now`.
    pub fn snapshot(&self, now: u64, unix_now: Duration) -> Snapshot {
        let at = self.since_start(now);
        let mut snapshot = Snapshot {
            state: self.state(now),
            generation: self.generation,
            cause: None,
            remaining: None,
            attempt: 0,
            probes_out: 0,
            probes_passed: 0,
            probes_inconclusive: 0,
            window: self.config.window,
            samples: Vec::new(),
            taken: unix_now,
        };
        match &self.mode {
            Mode::Closed(window) | Mode::ObserveOnly(window) => {
                snapshot.samples = window.iter().copied().collect();
            }
            Mode::Open(opened, deadline) => {
                snapshot.cause = Some(opened.cause);
                snapshot.attempt = opened.attempt;
                if !deadline.passed(at) {
                    snapshot.remaining = Some(deadline.left(at));
                }
            }
            Mode::HalfOpen(opened, probes) => {
                snapshot.cause = Some(opened.cause);
                snapshot.attempt = opened.attempt;
                snapshot.probes_out = probes.out;
                snapshot.probes_passed = probes.passed;
                snapshot.probes_inconclusive = probes.inconclusive;
            }
            Mode::ForcedOpen(deadline) => {
                snapshot.cause = Some(Cause::Operator);
                if *deadline != Deadline::NEVER && !deadline.passed(at) {
                    snapshot.remaining = Some(deadline.left(at));
                }
            }
            Mode::Disabled => {}
        }
        snapshot
    }

    /// The transitions since the last time this was asked, oldest first.
    pub fn take_events(&mut self) -> Vec<Event> {
        mem::take(&mut self.events)
    }
}

// Transitions and time.

impl Model {
    /// Every transition: one generation, one event.
    fn enter(&mut self, next: Mode, cause: Cause, reason: Option<Arc<str>>, at: Duration) {
        let generation = self.next_generation();
        self.events.push(Event {
            generation,
            from: self.mode.name(),
            to: next.name(),
            cause,
            reason,
            at,
            counts: self.mode.window().map(count).unwrap_or_default(),
        });
        self.generation = generation;
        self.mode = next;
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

    const fn window(&self) -> Option<&VecDeque<Sample>> {
        match self {
            Self::Closed(window) | Self::ObserveOnly(window) => Some(window),
            _ => None,
        }
    }

    const fn window_mut(&mut self) -> Option<&mut VecDeque<Sample>> {
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

impl Deadline {
    /// Later than every other, and never passed.
    const NEVER: Self = Self(u64::MAX);

    /// The last one that comes, in 35 years: as many units of 131 ms as the breaker can count.
    const LAST: Self = Self(((1 << 33) - 2) << 17);

    /// `wait` nanoseconds after `at`.
    fn after(at: Duration, wait: u64) -> Self {
        let nanos = saturating_nanos(at).saturating_add(wait);
        Self(nanos.div_ceil(1000)).unless_late()
    }

    /// Rounded up to a millisecond.
    fn in_millis(self) -> Self {
        if self == Self::NEVER {
            return self;
        }
        Self(self.0.next_multiple_of(1000)).unless_late()
    }

    fn unless_late(self) -> Self {
        if self > Self::LAST { Self::NEVER } else { self }
    }

    /// The time since the start, unless it never comes.
    fn time(self) -> Option<Duration> {
        (self != Self::NEVER).then(|| Duration::from_micros(self.0))
    }

    fn passed(self, at: Duration) -> bool {
        self.time().is_some_and(|time| at >= time)
    }

    /// The time left at `at`; for ever if it never comes.
    fn left(self, at: Duration) -> Duration {
        match self.time() {
            Some(time) => time.saturating_sub(at),
            None => Duration::MAX,
        }
    }
}

fn is_failure(sample: &Sample) -> bool {
    matches!(sample.outcome, Outcome::Failure | Outcome::Timeout)
}

fn count(window: &VecDeque<Sample>) -> Counts {
    let how_many =
        |is: fn(&Sample) -> bool| window.iter().filter(|sample| is(sample)).count() as u32;
    Counts {
        samples: how_many(|_| true),
        failures: how_many(is_failure),
        timeouts: how_many(|sample| sample.outcome == Outcome::Timeout),
        slow: how_many(|sample| sample.slow),
    }
}

/// The open wait in nanoseconds. Growth and jitter are the breaker's own, since
/// another order of the same multiplications may differ in the last bit.
fn open_wait(wait: &OpenWait, attempt: u32, seed: u64, generation: u32) -> u64 {
    if wait.factor == 1.0 && wait.jitter_percent == 0 {
        return saturating_nanos(wait.base);
    }
    rules::open_wait(wait, attempt, seed, generation)
}
