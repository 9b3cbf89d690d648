//! `failsafe`: a mutex around an exponential moving average over a time window, or around
//! a count of failures in a row. It has no count window.

use failsafe::backoff::{Constant, constant};
use failsafe::failure_policy::{
    ConsecutiveFailures, SuccessRateOverTimeWindow, consecutive_failures,
    success_rate_over_time_window,
};
use failsafe::{CircuitBreaker, Config, Error, FailurePolicy, Instrument, StateMachine};

use crate::entry::{Can, Entry, Kind};
use crate::stage::{self, Stage};
use crate::subject::{Seen, Shared};
use crate::workload::{Load, TIME_WINDOW, Workload};

/// With the success-rate rule: what compares with a failure ratio.
pub(super) const RATE: Entry = Entry {
    name: "failsafe",
    version: env!("VERSION_failsafe"),
    kind: Kind::Peer,
    // Its window is always one of time.
    can: Can {
        time_window: true,
        ..Can::PLAIN.without_quota()
    },
    set: |workload| match workload.load {
        // The rate is judged only after a whole window of time: tripping it would take
        // a second, so the states beyond closed are reached by failures in a row.
        Load::Rejecting | Load::Flapping => set(workload, in_a_row),
        _ => set(workload, rate),
    },
};

/// With the rule on failures in a row alone: no window, no clock while closed.
pub(super) const CONSECUTIVE: Entry = Entry {
    name: "failsafe-consecutive",
    version: env!("VERSION_failsafe"),
    kind: Kind::Peer,
    can: Can {
        declines: |load| match load {
            Load::Rejecting | Load::Flapping => Some("it is the same as failsafe here"),
            load => (Can::PLAIN.without_quota().declines)(load),
        },
        ..Can::PLAIN
    },
    set: |workload| set(workload, in_a_row),
};

fn rate(workload: Workload) -> SuccessRateOverTimeWindow<Constant> {
    success_rate_over_time_window(
        1.0 - workload.ratio(),
        workload.min_calls() as u32,
        TIME_WINDOW,
        constant(workload.open_wait()),
    )
}

fn in_a_row(workload: Workload) -> ConsecutiveFailures<Constant> {
    consecutive_failures(workload.min_calls() as u32, constant(workload.open_wait()))
}

fn set<P>(workload: Workload, policy: fn(Workload) -> P) -> Result<Box<dyn Stage>, String>
where
    P: FailurePolicy + Send + 'static,
{
    let config = move || Config::new().failure_policy(policy(workload));
    if workload.listener {
        stage::set(workload, move || {
            Failsafe(config().instrument(Listener).build())
        })
    } else {
        stage::set(workload, move || Failsafe(config().build()))
    }
}

struct Listener;

impl Instrument for Listener {
    fn on_call_rejected(&self) {}
    fn on_open(&self) {}
    fn on_half_open(&self) {}
    fn on_closed(&self) {}
}

struct Failsafe<P, I>(StateMachine<P, I>);

impl<P, I> Shared for Failsafe<P, I>
where
    P: FailurePolicy + Send + 'static,
    I: Instrument + Send + Sync + 'static,
{
    #[inline(always)]
    fn call(&self, fails: bool) -> bool {
        let result = self.0.call(|| if fails { Err(()) } else { Ok(()) });
        !matches!(result, Err(Error::Rejected))
    }

    fn state(&self) -> Seen {
        // Its one view of the state is its `Debug` output.
        let shown = format!("{:?}", self.0);
        if shown.contains("closed") {
            Seen::Closed
        } else if shown.contains("half_open") {
            Seen::HalfOpen
        } else {
            Seen::Open
        }
    }
}
