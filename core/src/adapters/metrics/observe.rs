//! Reading a breaker into series.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use metrics::{IntoF64, Label, SharedString, counter, gauge};

use super::series::{
    CALLS, FAILURES, LISTENER_PANICS, PROBES, REJECTIONS, SAMPLES, SLOW, STALE, STATE, TIMEOUTS,
    TRANSITIONS, WAIT,
};
use crate::breaker::Breaker;
use crate::contract::clock::Clock;
use crate::contract::snapshot::Snapshot;
use crate::contract::state::{Cause, State};
use crate::contract::totals::{Endings, Totals};

/// Sets the series of a breaker to what it reads now.
///
/// Gauges are of one moment. Counters are set to what the breaker has counted, so it
/// does no harm to observe it from several places, or to miss a turn.
///
/// # Examples
///
/// For an exporter that pushes:
///
/// ```no_run
/// use std::sync::Arc;
/// use std::time::Duration;
/// use cutout::Breaker;
///
/// async fn keep_observing(breakers: Vec<Arc<Breaker>>) {
///     let mut tick = tokio::time::interval(Duration::from_secs(5));
///     loop {
///         tick.tick().await;
///         for breaker in &breakers {
///             cutout::adapters::metrics::observe(breaker);
///         }
///     }
/// }
/// ```
pub fn observe<C: Clock>(breaker: &Breaker<C>) {
    let to = Series {
        breaker: Arc::<str>::from(breaker.name()).into(),
    };
    to.state(&breaker.snapshot());
    to.count(STALE, [], breaker.stale());
    to.count(LISTENER_PANICS, [], breaker.listener_panics());
    if let Some(totals) = breaker.totals() {
        to.totals(&totals);
    }
}

/// The series of one breaker.
struct Series {
    breaker: SharedString,
}

impl Series {
    fn state(&self, snapshot: &Snapshot) {
        let counts = snapshot.counts();
        self.set(STATE, f64::from(snapshot.state as u8));
        self.set(WAIT, wait_seconds(snapshot));
        self.set(PROBES, snapshot.probes_out);
        self.set(SAMPLES, counts.samples);
        self.set(FAILURES, counts.failures);
        self.set(TIMEOUTS, counts.timeouts);
        self.set(SLOW, counts.slow);
    }

    fn totals(&self, totals: &Totals) {
        for (kind, endings) in [("normal", totals.calls), ("probe", totals.probes)] {
            let Endings {
                success,
                answered,
                failure,
                timeout,
                ignored,
                abandoned,
            } = endings;
            for (outcome, count) in [
                ("success", success),
                ("answered", answered),
                ("failure", failure),
                ("timeout", timeout),
                ("ignored", ignored),
                ("abandoned", abandoned),
            ] {
                self.count(CALLS, [("kind", kind), ("outcome", outcome)], count);
            }
        }
        for (state, count) in [
            (State::Open, totals.rejections.open),
            (State::HalfOpen, totals.rejections.half_open),
            (State::ForcedOpen, totals.rejections.forced_open),
        ] {
            self.count(REJECTIONS, [("state", state.label())], count);
        }
        // Those that have not happened yet too: a rate needs a zero to rise from.
        for (to, cause) in possible_transitions() {
            let happened = totals.transitions.iter();
            let count = happened
                .filter(|&&(state, by, _)| (state, by) == (to, cause))
                .map(|&(_, _, count)| count)
                .sum();
            let labels = [("to", to.label()), ("cause", cause.label())];
            self.count(TRANSITIONS, labels, count);
        }
    }

    fn set(&self, name: &'static str, value: impl IntoF64) {
        gauge!(name, self.labels([])).set(value);
    }

    fn count<const N: usize>(
        &self,
        name: &'static str,
        labels: [(&'static str, &'static str); N],
        count: u64,
    ) {
        counter!(name, self.labels(labels)).absolute(count);
    }

    fn labels<const N: usize>(&self, labels: [(&'static str, &'static str); N]) -> Vec<Label> {
        let own = Label::new("breaker", self.breaker.clone());
        let further = labels.map(|(key, value)| Label::from_static_parts(key, value));
        core::iter::once(own).chain(further).collect()
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
            | Cause::SlowRatio => &[State::Open, State::ObserveOnly],
            Cause::ProbeFailed
            | Cause::ProbeTimedOut
            | Cause::ProbeSlow
            | Cause::ProbesInconclusive => &[State::Open],
            Cause::ProbesPassed => &[State::Closed],
            Cause::WaitElapsed | Cause::LeaseLost => &[State::HalfOpen],
            Cause::Operator => &[
                State::Closed,
                State::ForcedOpen,
                State::Disabled,
                State::ObserveOnly,
            ],
            Cause::Reconfigured => &[State::Closed, State::ObserveOnly],
        };
        to.iter().map(move |&to| (to, cause))
    })
}
