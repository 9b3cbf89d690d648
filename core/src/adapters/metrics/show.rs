//! The series of one breaker.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use metrics::{Label, SharedString, counter, gauge};

use super::series::{
    CALLS, FAILURE_SCORE, FAILURES, LISTENER_PANICS, PROBES, REFUSALS, REJECTIONS, SAMPLES, SHARE,
    SHARE_ACCEPTS, SHARE_FAILURES, SHARE_REQUESTS, SLOW, SLOW_SCORE, STAGE, STALE, STATE,
    THROTTLE_CALLS, THROTTLE_LISTENER_PANICS, TIMEOUTS, TRANSITIONS, TRIP, TRIP_AGE, TRIP_FAILURES,
    TRIP_SAMPLES, TRIP_SLOW, TRIP_THRESHOLD, TRIP_TIMEOUTS, WAIT,
};
use crate::breaker::Breaker;
use crate::contract::clock::Clock;
use crate::contract::config::Window;
use crate::contract::evidence::Threshold;
use crate::contract::score::Score;
use crate::contract::snapshot::{HeldScore, Snapshot};
use crate::contract::state::{Cause, State};
use crate::contract::throttle::Share;
use crate::contract::totals::{Endings, Totals};
use crate::throttle::Throttle;

/// The state of a breaker that is not there any more.
const GONE: f64 = -1.0;

type Pair = (&'static str, &'static str);

/// What a name is of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Breaker,
    Throttle,
}

/// The series of a name.
#[derive(Clone)]
pub(super) struct Series {
    of: Of,
    name: SharedString,
}

/// A counter's series, but for the name, and what it has come to.
pub(super) struct Counter {
    name: &'static str,
    labels: [Option<Pair>; 2],
    pub(super) value: u64,
}

impl Series {
    pub(super) fn of(of: Of, name: &str) -> Self {
        Self {
            of,
            name: Arc::<str>::from(name).into(),
        }
    }

    /// Shows the share that a throttle refuses.
    pub(super) fn share(&self, share: &Share) {
        let values = [
            share.refused,
            share.requests.into(),
            share.accepts.into(),
            share.failures.into(),
        ];
        for (name, value) in SHARE_GAUGES.into_iter().zip(values) {
            self.set(name, value);
        }
    }

    /// Shows the state; `cause` is that of the trip that was shown before, and then of the one that is.
    pub(super) fn gauges(&self, snapshot: &Snapshot, cause: &mut Option<Cause>) {
        for (name, value) in GAUGES.into_iter().zip(values(snapshot)) {
            self.set(name, value);
        }
        self.trip(
            snapshot.evidence.trip.as_ref().map(|trip| trip.cause),
            cause,
        );
    }

    /// Shows that the breaker or throttle is not there any more.
    pub(super) fn gone(&self, cause: &mut Option<Cause>) {
        let gauges: &[&'static str] = match self.of {
            Of::Breaker => &GAUGES,
            Of::Throttle => &SHARE_GAUGES,
        };
        for &name in gauges {
            let tells = matches!(name, STATE | SHARE);
            self.set(name, if tells { GONE } else { 0.0 });
        }
        self.trip(None, cause);
    }

    fn trip(&self, cause: Option<Cause>, before: &mut Option<Cause>) {
        for (of, value) in [
            (before.take().filter(|before| Some(*before) != cause), 0.0),
            (cause, 1.0),
        ] {
            if let Some(of) = of {
                gauge!(TRIP, self.labels([Some(("cause", of.label()))])).set(value);
            }
        }
        *before = cause;
    }

    fn set(&self, name: &'static str, value: f64) {
        gauge!(name, self.labels([])).set(value);
    }

    pub(super) fn count(&self, counter: &Counter, more: u64) {
        counter!(counter.name, self.labels(counter.labels)).increment(more);
    }

    fn labels(&self, labels: impl IntoIterator<Item = Option<Pair>>) -> Vec<Label> {
        let key = match self.of {
            Of::Breaker => "breaker",
            Of::Throttle => "throttle",
        };
        let own = Label::new(key, self.name.clone());
        let further = labels.into_iter().flatten();
        let further = further.map(|(key, value)| Label::from_static_parts(key, value));
        core::iter::once(own).chain(further).collect()
    }
}

/// The gauges that every breaker has.
const GAUGES: [&str; 16] = [
    STATE,
    WAIT,
    PROBES,
    STAGE,
    SAMPLES,
    FAILURES,
    TIMEOUTS,
    SLOW,
    FAILURE_SCORE,
    SLOW_SCORE,
    TRIP_AGE,
    TRIP_SAMPLES,
    TRIP_FAILURES,
    TRIP_TIMEOUTS,
    TRIP_SLOW,
    TRIP_THRESHOLD,
];

/// The gauges that every throttle has.
const SHARE_GAUGES: [&str; 4] = [SHARE, SHARE_REQUESTS, SHARE_ACCEPTS, SHARE_FAILURES];

/// What they show.
fn values(snapshot: &Snapshot) -> [f64; GAUGES.len()] {
    let counts = snapshot.counts();
    let [failure_score, slow_score] = scores(snapshot);
    let trip = snapshot.evidence.trip.as_ref();
    let at_trip = trip.map(|trip| trip.counts).unwrap_or_default();
    let threshold = match trip.and_then(|trip| trip.threshold) {
        Some(Threshold::Failures(failures)) => f64::from(failures),
        Some(Threshold::Ratio(ratio)) => ratio,
        Some(Threshold::Score(score)) => f64::from(score),
        None => 0.0,
    };
    [
        f64::from(snapshot.state as u8),
        wait_seconds(snapshot),
        snapshot.probes_out.into(),
        snapshot.stage.into(),
        counts.samples.into(),
        counts.failures.into(),
        counts.timeouts.into(),
        counts.slow.into(),
        failure_score,
        slow_score,
        trip.map_or(0.0, |trip| trip.age.as_secs_f64()),
        at_trip.samples.into(),
        at_trip.failures.into(),
        at_trip.timeouts.into(),
        at_trip.slow.into(),
        threshold,
    ]
}

/// The scores as shares of their limits.
fn scores(snapshot: &Snapshot) -> [f64; 2] {
    let cusum = match snapshot.window {
        Window::Cusum(cusum) => Some(cusum),
        _ => None,
    };
    let share = |held: HeldScore, score: Option<Score>| {
        score.map_or(0.0, |score| f64::from(held.value) / f64::from(score.limit))
    };
    let slow = cusum.and_then(|cusum| cusum.slow);
    [
        share(
            snapshot.scores.failures,
            cusum.and_then(|cusum| cusum.failures),
        ),
        share(snapshot.scores.slow, slow.map(|slow| slow.score)),
    ]
}

/// What a breaker has counted, always in the same order.
pub(super) fn counters<C: Clock>(breaker: &Breaker<C>) -> Vec<Counter> {
    let mut counters = Vec::new();
    let mut count = |name, labels, value| {
        counters.push(Counter {
            name,
            labels,
            value,
        });
    };
    count(STALE, [None, None], breaker.stale());
    count(LISTENER_PANICS, [None, None], breaker.listener_panics());
    if let Some(totals) = breaker.totals() {
        of_totals(&totals, count);
    }
    counters
}

/// What a throttle has counted, always in the same order.
pub(super) fn throttle_counters<C: Clock>(throttle: &Throttle<C>) -> Vec<Counter> {
    let mut counters = Vec::new();
    let mut count = |name, labels, value| {
        counters.push(Counter {
            name,
            labels,
            value,
        });
    };
    count(
        THROTTLE_LISTENER_PANICS,
        [None, None],
        throttle.listener_panics(),
    );
    if let Some(totals) = throttle.totals() {
        count(REFUSALS, [None, None], totals.rejections.closed);
        for (outcome, happened) in of_endings(totals.calls) {
            count(THROTTLE_CALLS, [Some(("outcome", outcome)), None], happened);
        }
    }
    counters
}

fn of_endings(endings: Endings) -> [(&'static str, u64); 6] {
    let Endings {
        success,
        answered,
        failure,
        timeout,
        ignored,
        abandoned,
    } = endings;
    [
        ("success", success),
        ("answered", answered),
        ("failure", failure),
        ("timeout", timeout),
        ("ignored", ignored),
        ("abandoned", abandoned),
    ]
}

fn of_totals(totals: &Totals, mut count: impl FnMut(&'static str, [Option<Pair>; 2], u64)) {
    for (kind, endings) in [("normal", totals.calls), ("probe", totals.probes)] {
        for (outcome, happened) in of_endings(endings) {
            count(
                CALLS,
                [Some(("kind", kind)), Some(("outcome", outcome))],
                happened,
            );
        }
    }
    for (state, happened) in [
        (State::Open, totals.rejections.open),
        (State::HalfOpen, totals.rejections.half_open),
        (State::ForcedOpen, totals.rejections.forced_open),
        (State::Closed, totals.rejections.closed),
    ] {
        count(REJECTIONS, [Some(("state", state.label())), None], happened);
    }
    // Those that have not happened yet too: a rate needs a zero to rise from.
    for (to, cause) in possible_transitions() {
        let happened = totals.transitions.iter();
        let happened = happened
            .filter(|&&(state, by, _)| (state, by) == (to, cause))
            .map(|&(_, _, times)| times)
            .sum();
        let labels = [Some(("to", to.label())), Some(("cause", cause.label()))];
        count(TRANSITIONS, labels, happened);
    }
}

/// The wait left, infinite if only an operator can end it.
fn wait_seconds(snapshot: &Snapshot) -> f64 {
    match (snapshot.state, snapshot.remaining) {
        (_, Some(Duration::MAX)) | (State::Open | State::ForcedOpen, None) => f64::INFINITY,
        (_, left) => left.unwrap_or_default().as_secs_f64(),
    }
}

/// Which causes lead to which states.
fn possible_transitions() -> impl Iterator<Item = (State, Cause)> {
    Cause::ALL.into_iter().flat_map(|cause| {
        let to: &[State] = match cause {
            Cause::ConsecutiveFailures
            | Cause::Failures
            | Cause::FailureRatio
            | Cause::TimeoutRatio
            | Cause::SlowRatio
            | Cause::FailureScore
            | Cause::SlowScore => &[State::Open, State::ObserveOnly],
            Cause::ProbeFailed
            | Cause::ProbeTimedOut
            | Cause::ProbeSlow
            | Cause::ProbesInconclusive
            | Cause::Outlier
            | Cause::Peers => &[State::Open],
            Cause::ProbesPassed => &[State::Closed],
            Cause::WaitElapsed | Cause::LeaseLost => &[State::HalfOpen],
            // Open and half-open: what was before is resumed.
            Cause::Operator => &[
                State::Closed,
                State::Open,
                State::HalfOpen,
                State::ForcedOpen,
                State::Disabled,
                State::ObserveOnly,
            ],
            Cause::Reconfigured => &[State::Closed, State::ObserveOnly],
            Cause::Ramping | Cause::Throttled => &[],
        };
        to.iter().map(move |&to| (to, cause))
    })
}
