//! A breaker that is not ours, by a clock that is simulated.

use std::time::Duration;

use cutout::{AnyPermit, Outcome, Report, Settled};
use failsafe::backoff::{Constant, constant};
use failsafe::clock::{MockClock, freeze};
use failsafe::failure_policy::{SuccessRateOverTimeWindow, success_rate_over_time_window};
use failsafe::{Config, StateMachine};

use crate::simulation::run::Door;

type Machine = StateMachine<SuccessRateOverTimeWindow<Constant>, ()>;

/// `failsafe`: half-open it lets everyone in, and the first outcome decides.
#[derive(Debug)]
pub(super) struct Failsafe(Machine);

impl Failsafe {
    /// One that opens at this share of failures over so long, from so many calls on.
    pub(super) fn new(ratio: f64, calls: u32, window: Duration, wait: Duration) -> Self {
        let policy = success_rate_over_time_window(1.0 - ratio, calls, window, constant(wait));
        Self(Config::new().failure_policy(policy).build())
    }
}

impl Door for Failsafe {
    type Permit = Passed;

    fn enter(&self) -> Option<Passed> {
        self.0.is_call_permitted().then(|| Passed(self.0.clone()))
    }
}

/// A call that it let in.
#[derive(Debug)]
pub(super) struct Passed(Machine);

impl AnyPermit for Passed {
    fn done(self, report: Report) -> Settled {
        match report.outcome {
            Outcome::Success | Outcome::Answered => self.0.on_success(),
            Outcome::Failure | Outcome::Timeout => self.0.on_error(),
            _ => return Settled::Ignored,
        }
        Settled::Recorded
    }

    fn abandon(self) {}

    fn withdraw(self) {}

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

/// Does it with `failsafe`'s clock frozen, and something that sets it to a time from its begin.
pub(super) fn on_its_clock<T>(play: impl FnOnce(&mut dyn FnMut(Duration)) -> T) -> T {
    freeze(|clock: &mut MockClock| {
        let mut at = Duration::ZERO;
        play(&mut |to| {
            clock.advance(to.saturating_sub(at));
            at = at.max(to);
        })
    })
}
