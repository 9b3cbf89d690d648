//! Pure reads, whatever the time.

use super::*;
use crate::contract::snapshot::Interrupted as Shown;

impl Interrupted {
    fn shown(self, at: Duration) -> Shown {
        let (state, cause, remaining) = match self {
            Self::Closed(_) => (State::Closed, None, None),
            Self::Open(opened, deadline) if !deadline.passed(at) => {
                (State::Open, Some(opened.cause), Some(deadline.left(at)))
            }
            Self::Open(opened, _) | Self::HalfOpen(opened) => {
                (State::HalfOpen, Some(opened.cause), None)
            }
        };
        Shown {
            state,
            cause,
            remaining,
        }
    }
}

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
        self.refusal(now).is_none()
    }

    /// The rejection that [`allow`](Self::allow) would give now.
    pub fn refusal(&self, now: u64) -> Option<Rejected> {
        // What overdue calls would change shows once they are counted.
        if self.mode.window().is_some() {
            return None;
        }
        self.clone().allow(now).err()
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

    /// The clock's reading at which the newest bucket of a time window is over.
    pub fn next_bucket(&self, now: u64) -> Option<u64> {
        let Window::Time { length, buckets } = self.config.window else {
            return None;
        };
        let width = window::tick_width(length, buckets);
        let at = saturating_nanos(self.since_start(now));
        let next = (at / width).saturating_add(1).saturating_mul(width);
        Some(self.start.saturating_add(next))
    }

    /// The whole state as a value, taken at the wall-clock time `unix_now`.
    pub fn snapshot(&self, now: u64, unix_now: Duration) -> Snapshot {
        let at = self.since_start(now);
        let mut snapshot = Snapshot {
            state: self.state(now),
            generation: self.generation,
            cause: None,
            evidence: self.evidence(now),
            remaining: None,
            attempt: 0,
            interrupted: None,
            probes_out: 0,
            probes_passed: 0,
            probes_failed: 0,
            probes_inconclusive: 0,
            stage: 0,
            ramp_left: self.ramp_left(at),
            window: self.config.window.kept(),
            samples: Vec::new(),
            buckets: Vec::new(),
            failures_in_a_row: 0,
            scores: Scores::default(),
            taken: unix_now,
        };
        match &self.mode {
            Mode::Closed(window) | Mode::ObserveOnly(window) => {
                let ticks = window.ticks(self.config.window, self.tick(at));
                snapshot.buckets = ticks
                    .map(|(tick, counts)| Bucket {
                        age: self.age(tick, at),
                        counts,
                    })
                    .collect();
                match window {
                    Content::Samples(samples) => {
                        snapshot.samples = samples.iter().copied().collect()
                    }
                    Content::Ticks { run, .. } => snapshot.failures_in_a_row = *run,
                    Content::Scores(scores) => {
                        snapshot.failures_in_a_row = window.run();
                        snapshot.scores = scores.shown(at);
                    }
                }
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
                if let Some(stages) = self.config.stages {
                    let stage = calls::stage(stages, probes.passed);
                    snapshot.stage = stage.number;
                    snapshot.probes_passed = probes.passed - stage.start;
                }
                snapshot.probes_failed = probes.bad;
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
        if self.mode.is_by_operator() {
            snapshot.attempt = self.interrupted.attempt();
            snapshot.interrupted = Some(self.interrupted.shown(at));
        }
        snapshot
    }

    /// Why it is not closed.
    pub fn evidence(&self, now: u64) -> Evidence {
        if let Mode::ObserveOnly(_) = self.mode {
            return Evidence::default();
        }
        let now = saturating_nanos(self.since_start(now));
        Evidence {
            trip: self.why.trip.as_ref().map(|(moment, trip)| Trip {
                age: moment.age(now),
                ..trip.clone()
            }),
            operator: self
                .why
                .operator
                .as_ref()
                .map(|(moment, reason)| OperatorAction {
                    age: moment.age(now),
                    reason: Arc::clone(reason),
                }),
        }
    }

    /// The transitions since the last time this was asked, oldest first.
    pub fn take_events(&mut self) -> Vec<Event> {
        mem::take(&mut self.events)
    }
}
