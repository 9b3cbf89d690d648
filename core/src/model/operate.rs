//! What an operator does, and a restart.

use super::*;

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
            Some(wait) => Deadline::of_wait(at, saturating_nanos(wait)),
            None => Deadline::NEVER,
        };
        self.operate(Mode::ForcedOpen(deadline), reason.into(), at);
    }

    /// Closes with an empty window, and ends any override.
    pub fn close(&mut self, reason: impl Into<Arc<str>>, now: u64) {
        let at = self.since_start(now);
        let empty = Content::nothing(self.config.window);
        self.operate(Mode::Closed(empty), reason.into(), at);
    }

    /// Admits all calls and records nothing.
    pub fn disable(&mut self, reason: impl Into<Arc<str>>, now: u64) {
        let at = self.since_start(now);
        self.operate(Mode::Disabled, reason.into(), at);
    }

    /// Admits all calls, records them, and reports what would have tripped.
    pub fn observe_only(&mut self, reason: impl Into<Arc<str>>, now: u64) {
        let at = self.since_start(now);
        let empty = Content::nothing(self.config.window);
        self.operate(Mode::ObserveOnly(empty), reason.into(), at);
    }

    /// Goes back to what the first of the operator's actions that hold has interrupted. False if
    /// there is none.
    pub fn resume(&mut self, reason: impl Into<Arc<str>>, now: u64) -> bool {
        if !self.mode.is_by_operator() {
            return false;
        }
        let at = self.since_start(now);
        let next = match self.interrupted {
            Interrupted::Closed(_) => Mode::Closed(Content::nothing(self.config.window)),
            Interrupted::Open(opened, Deadline::NEVER) => Mode::Open(opened, Deadline::NEVER),
            Interrupted::Open(opened, deadline) => {
                let left = saturating_nanos(deadline.left(at));
                Mode::Open(opened, Deadline::of_wait(at, left))
            }
            Interrupted::HalfOpen(opened) => Mode::HalfOpen(opened, Probes::NONE),
        };
        if let Mode::Open(opened, _) = next {
            // For want of a better one: it has been lost if the breaker was restored meanwhile.
            self.why.trip.get_or_insert_with(|| {
                let trip = Trip {
                    cause: opened.cause,
                    age: Duration::ZERO,
                    counts: Counts::default(),
                    threshold: None,
                    label: None,
                };
                (Moment::at(saturating_nanos(at)), trip)
            });
        }
        if let Mode::HalfOpen(opened, _) = next
            && opened.cause != Cause::Operator
        {
            self.why.operator = None;
        }
        self.operate(next, reason.into(), at);
        true
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
        let at = self.since_start(now);
        let counts = self.counts(at);
        let old = mem::replace(&mut self.config, config);
        if config.ramp.is_none() {
            self.ramp_begun = None;
        }
        if self.pulse.is_none() {
            self.pulse = Pulse::of(&config);
        }
        if old.overdue_after() != config.overdue_after() {
            let running = match self.config.overdue {
                Some(_) => self.running(at),
                None => at,
            };
            self.follow_anew(running);
        }
        if config.consecutive_failures.is_none()
            && let Some(window) = self.mode.window_mut()
        {
            window.forget_run();
        }
        if old.window.kept() != config.window.kept() {
            // The ticks of another window are others.
            self.newest = 0;
            self.newest = self.tick(at);
            let empty = Content::nothing(config.window);
            let empty = match self.mode {
                Mode::Closed(_) => Mode::Closed(empty),
                Mode::ObserveOnly(_) => Mode::ObserveOnly(empty),
                _ => return Ok(()),
            };
            self.enter_after(counts, empty, Cause::Reconfigured, None, at);
        }
        Ok(())
    }
}
