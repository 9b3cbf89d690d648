//! Calls: admission, and what outcomes do.

use super::*;

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
        self.ramp_up(at)?;
        self.count_overdue(at);
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
                    attempt: self.interrupted.attempt(),
                };
                self.enter(
                    Mode::HalfOpen(opened, Probes::NONE),
                    Cause::WaitElapsed,
                    None,
                    at,
                );
                Ok(self.probe(at))
            }
            Mode::HalfOpen(_, probes) if self.has_slot(probes) => Ok(self.probe(at)),
            Mode::HalfOpen(opened, probes) if probes.leased_until.passed(at) => {
                let kept = Probes {
                    passed: probes.passed,
                    bad: probes.bad,
                    inconclusive: probes.inconclusive,
                    generations: probes.generations + 1,
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
            Mode::HalfOpen(opened, probes) => {
                let left = probes
                    .leased_until
                    .time()
                    .map(|time| time.saturating_sub(at));
                Err(self.rejected(opened.cause, left))
            }
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

    fn permit(&mut self, probe: bool, at: Duration) -> ModelPermit {
        self.granted += 1;
        let number = self.granted;
        let records = self.mode.window().is_some();
        let measured = self.config.slow_limit().is_some() || self.config.abandoned_after.is_some();
        let granted = if records && self.config.overdue.is_some() {
            let running = self.running(at);
            Some(self.start_following(number, running))
        } else {
            // A rule on slow calls may be set while a probe is out.
            (probe || measured && records).then(|| self.running(at))
        };
        ModelPermit {
            generation: self.generation,
            probe,
            granted,
            number,
        }
    }

    fn rejected(&self, cause: Cause, retry_after: Option<Duration>) -> Rejected {
        let left = match retry_after {
            None => TimeLeft::UNKNOWN,
            Some(Duration::MAX) => TimeLeft::ENDLESS,
            Some(left) => TimeLeft::nanos(saturating_nanos(left)),
        };
        rejection(self.mode.name(), cause, left, self.generation)
    }
}

impl Model {
    /// Settles a permit. A permit of another generation is stale: it is
    /// counted as such and has no other effect. But a probe whose lease was lost
    /// has its say as long as the half-open period lasts.
    pub fn done(&mut self, permit: ModelPermit, report: impl Into<Report>, now: u64) -> Settled {
        let report = report.into();
        let at = self.since_start(now);
        if permit.generation == self.generation {
            self.count_overdue(at);
        }
        let late = self.is_late_probe(&permit);
        if permit.generation != self.generation && !late {
            self.stale += 1;
            return Settled::Stale;
        }
        let judges = self.mode.window().is_some() || matches!(self.mode, Mode::HalfOpen(..));
        let running = if judges && self.config.is_timed() {
            self.running(at)
        } else {
            at
        };
        if self.mode.window().is_some() && self.was_overdue(&permit) {
            return Settled::Overdue;
        }
        let report = self.without_pause(&permit, report, running);
        let slow = self.is_slow(&permit, report, running);
        match self.mode {
            Mode::Closed(_) | Mode::ObserveOnly(_) => self.record(report, slow, at),
            Mode::HalfOpen(opened, mut probes) => {
                // A late one has lost its slot already.
                probes.out -= u32::from(!late);
                self.judge(opened, probes, report, slow, at)
            }
            Mode::Disabled => Settled::Ignored,
            Mode::Open(..) | Mode::ForcedOpen(_) => {
                unreachable!("these states grant no permits of their generation")
            }
        }
    }

    /// Takes back a permit whose call is not made, as if nobody had asked for it. There is nothing to take back once its generation
    /// is over: a probe that has lost its lease has lost its slot too.
    pub fn withdraw(&mut self, permit: ModelPermit, now: u64) {
        if permit.generation != self.generation {
            return;
        }
        self.count_overdue(self.since_start(now));
        if permit.generation != self.generation {
            return;
        }
        self.in_flight.forget(&permit);
        if let Mode::HalfOpen(_, probes) = &mut self.mode {
            probes.out -= 1;
        }
    }

    /// Whether a permit is a probe of an earlier generation of this half-open period.
    fn is_late_probe(&self, permit: &ModelPermit) -> bool {
        let Mode::HalfOpen(_, probes) = self.mode else {
            return false;
        };
        let ago = self.generation.wrapping_sub(permit.generation) % GENERATIONS;
        permit.probe && ago > 0 && ago <= probes.generations
    }

    /// Settles a permit that was dropped, `panicking` or not, by the config's policy.
    pub fn drop_permit(&mut self, permit: ModelPermit, panicking: bool, now: u64) -> Settled {
        let at = self.since_start(now);
        let judges = self.mode.window().is_some() || matches!(self.mode, Mode::HalfOpen(..));
        let is_present = permit.generation == self.generation || self.is_late_probe(&permit);
        let is_present = is_present && judges && self.config.is_timed();
        let running = if is_present { self.running(at) } else { at };
        let held = permit
            .granted
            .map(|granted| running.saturating_sub(granted));
        let too_long = self.config.abandoned_after.map(saturating_nanos);
        let outcome = if panicking {
            self.config.panicked
        } else if held
            .is_some_and(|held| too_long.is_some_and(|most| saturating_nanos(held) >= most))
        {
            Outcome::Timeout
        } else {
            self.config.abandoned
        };
        self.done(permit, outcome, now)
    }

    /// Whether a call was slow: a slow rule is set and the call is known to have
    /// taken its limit or longer. The caller's measurement counts before the breaker's.
    fn is_slow(&self, permit: &ModelPermit, report: Report, running: Duration) -> bool {
        let measured = permit
            .granted
            .map(|granted| running.saturating_sub(granted));
        let said = match measured {
            Some(ran) if self.stood_still_since(permit) => {
                report.elapsed.map(|elapsed| elapsed.min(ran))
            }
            _ => report.elapsed,
        };
        match (self.config.slow_limit(), said.or(measured)) {
            (Some(limit), Some(elapsed)) => saturating_nanos(elapsed) >= saturating_nanos(limit),
            _ => false,
        }
    }

    /// An outcome in closed or observe-only: it enters the window, and the rules
    /// are evaluated, whatever the outcome was.
    fn record(&mut self, report: Report, slow: bool, at: Duration) -> Settled {
        if report.outcome == Outcome::Ignored {
            return Settled::Ignored;
        }
        let sample = in_window(Sample {
            outcome: report.outcome,
            slow,
        });
        self.enter_window(sample, 1, report, at)
    }

    /// So many outcomes of a kind enter the window, and the rules are evaluated.
    pub(super) fn enter_window(
        &mut self,
        sample: Sample,
        how_many: u32,
        report: Report,
        at: Duration,
    ) -> Settled {
        let tick = self.tick(at);
        self.newest = self.newest.max(tick);
        let config = self.config;
        let window = self.mode.window_mut().expect("the state has a window");
        for _ in 0..how_many {
            window.push(&config, sample, tick, at);
        }
        let Some(rule) = self.matching_rule(at) else {
            return Settled::Recorded;
        };
        if let Mode::ObserveOnly(_) = self.mode {
            let empty = Content::nothing(self.config.window);
            self.enter_by_outcome(Mode::ObserveOnly(empty), rule, report.label, at);
            return Settled::WouldTrip;
        }
        let opened = Opened {
            cause: rule,
            attempt: 0,
        };
        self.open(opened, report, at);
        Settled::Tripped
    }

    /// The first rule that the window matches.
    fn matching_rule(&self, at: Duration) -> Option<Cause> {
        let window = self.mode.window()?;
        let run = window.run();
        let counts = self.counts(at);
        let reaches = |count: u32, ratio: Option<f64>| {
            counts.samples >= self.config.min_calls()
                && ratio.is_some_and(|ratio| f64::from(count) / f64::from(counts.samples) >= ratio)
        };

        let consecutive = self.config.consecutive_failures;
        if consecutive.is_some_and(|limit| run >= limit) {
            Some(Cause::ConsecutiveFailures)
        } else if self
            .config
            .failures
            .is_some_and(|limit| counts.failures >= limit)
        {
            Some(Cause::Failures)
        } else if reaches(counts.failures, self.config.failure_ratio) {
            Some(Cause::FailureRatio)
        } else if reaches(counts.timeouts, self.config.timeout_ratio) {
            Some(Cause::TimeoutRatio)
        } else if reaches(counts.slow, self.config.slow.map(|rule| rule.ratio)) {
            Some(Cause::SlowRatio)
        } else if let Content::Scores(scores) = window {
            scores.matching()
        } else {
            None
        }
    }

    /// An outcome in half-open, whose slot is free: it may decide.
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
            Outcome::Success | Outcome::Answered if slow => Some(Cause::ProbeSlow),
            Outcome::Success | Outcome::Answered | Outcome::Ignored => None,
        };
        if let Some(cause) = verdict {
            probes.bad += 1;
            if self.is_tolerated(probes) {
                self.mode = Mode::HalfOpen(opened, probes);
                return Settled::Recorded;
            }
            let attempt = (opened.attempt + 1).min(MAX_ATTEMPT);
            self.open(Opened { cause, attempt }, report, at);
            return Settled::Reopened;
        }

        if report.outcome == Outcome::Ignored {
            probes.inconclusive += 1;
            if probes.inconclusive >= self.config.max_inconclusive {
                // No verdict, and no one may set the wait; it grows all the same.
                let cause = Cause::ProbesInconclusive;
                let attempt = (opened.attempt + 1).min(MAX_ATTEMPT);
                let unasked = Report {
                    retry_after: None,
                    ..report
                };
                self.open(Opened { cause, attempt }, unasked, at);
                return Settled::Reopened;
            }
            self.mode = Mode::HalfOpen(opened, probes);
            return Settled::Ignored;
        }

        let closes = match self.config.stages {
            None => {
                probes.passed += 1;
                probes.passed >= self.config.successes_to_close
            }
            Some(stages) => self.passes(stages, &mut probes),
        };
        if closes {
            let window = Content::after_probes(self.config.window);
            self.enter(Mode::Closed(window), Cause::ProbesPassed, None, at);
            return Settled::Closed;
        }
        self.mode = Mode::HalfOpen(opened, probes);
        Settled::Recorded
    }

    /// One more probe of a stage is well: the stage has passed if its share of bad ones could not be reached any more
    /// were all the others bad. True if it was the last stage.
    fn passes(&self, stages: Stages, probes: &mut Probes) -> bool {
        let Stage { start, quota, .. } = stage(stages, probes.passed);
        probes.passed += 1;
        let good = probes.passed - start;
        let most_bad = quota.saturating_sub(good);
        if f64::from(most_bad) / f64::from(quota) >= stages.failure_ratio {
            return false;
        }
        probes.passed = start + quota;
        probes.bad = 0;
        probes.inconclusive = 0;
        quota == stages.until
    }

    /// Whether the bad probes of the stage may go on being looked at.
    fn is_tolerated(&self, probes: Probes) -> bool {
        self.config.stages.is_some_and(|stages| {
            let quota = stage(stages, probes.passed).quota;
            f64::from(probes.bad) / f64::from(quota) < stages.failure_ratio
        })
    }

    /// Whether one more probe may be out.
    fn has_slot(&self, probes: Probes) -> bool {
        match self.config.stages {
            None => probes.out < self.config.max_probes,
            Some(stages) => {
                let Stage { start, quota, .. } = stage(stages, probes.passed);
                let judged = probes.passed - start + probes.bad;
                probes.out == 0 || probes.out + judged < quota
            }
        }
    }

    /// Opens for the config's wait, or for as long as the upstream asked for if that is longer.
    fn open(&mut self, opened: Opened, report: Report, at: Duration) {
        let wait = open_wait(
            &self.config.open_wait,
            opened.attempt,
            report.retry_after,
            self.seed,
            self.next_generation(),
        );
        self.enter_by_outcome(
            Mode::Open(opened, Deadline::of_wait(at, wait)),
            opened.cause,
            report.label,
            at,
        );
    }
}

/// One of the stages of half-open.
pub(super) struct Stage {
    /// From one.
    pub(super) number: u32,
    /// What those before it come to.
    pub(super) start: u32,
    pub(super) quota: u32,
}

/// The stage in which the next outcome falls, if so many have come; the last one if there are more.
pub(super) fn stage(stages: Stages, passed: u32) -> Stage {
    let mut stage = Stage {
        number: 1,
        start: 0,
        quota: stages.first,
    };
    while passed >= stage.start + stage.quota && stage.quota < stages.until {
        stage = Stage {
            number: stage.number + 1,
            start: stage.start + stage.quota,
            quota: (stage.quota * stages.growth).min(stages.until),
        };
    }
    stage
}
