//! Answers and states in short, so that outcomes can be compared and read.

use std::fmt::Write;

use crate::cutout::{
    Bucket, Counts, Event, Evidence, HeldScore, Outcome, Rejected, Sample, Scores, Snapshot, State,
    Window,
};

pub(crate) fn permit(probe: bool, generation: u32) -> String {
    let kind = if probe { "probe" } else { "permit" };
    format!("{kind} g{generation}")
}

pub(crate) fn rejected(rejected: &Rejected) -> String {
    format!(
        "rejected g{} {} {:?} {:?}",
        rejected.generation(),
        rejected.state(),
        rejected.cause(),
        rejected.retry_after(),
    )
}

/// `closed g0 [s f t s~]`, a tilde for slow.
pub(crate) fn snapshot(snapshot: &Snapshot) -> String {
    let mut text = format!("{} g{}", snapshot.state, snapshot.generation);
    if let Some(cause) = snapshot.cause {
        let _ = write!(text, " {cause:?} attempt {}", snapshot.attempt);
    }
    if let Some(left) = snapshot.remaining {
        let _ = write!(text, " left {left:?}");
    }
    if let Some(left) = snapshot.ramp_left {
        let _ = write!(text, " ramp {left:?}");
    }
    if snapshot.state == State::HalfOpen {
        let _ = write!(
            text,
            " out {} passed {} inconclusive {}",
            snapshot.probes_out, snapshot.probes_passed, snapshot.probes_inconclusive
        );
        if snapshot.stage > 0 {
            let _ = write!(
                text,
                " stage {} failed {}",
                snapshot.stage, snapshot.probes_failed
            );
        }
    }
    let _ = match snapshot.window {
        Window::Count(size) => {
            let samples: Vec<_> = snapshot.samples.iter().map(sample).collect();
            write!(text, " [{}]/{size}", samples.join(" "))
        }
        Window::Cusum(_) => {
            let run = snapshot.failures_in_a_row;
            let Scores { failures, slow } = snapshot.scores;
            let (failures, slow) = (score(&failures), score(&slow));
            write!(text, " failures {failures} slow {slow} {run} in a row")
        }
        _ => {
            let buckets: Vec<_> = snapshot.buckets.iter().map(bucket).collect();
            let run = snapshot.failures_in_a_row;
            write!(text, " [{}] {run} in a row", buckets.join(", "))
        }
    };
    text
}

/// `FailureRatio 1f 0t 0~ of 1 (label) and by force_open`, or `none`.
pub(crate) fn evidence(evidence: &Evidence) -> String {
    let trip = evidence.trip.as_ref();
    let trip = trip.map(|trip| {
        let label = trip.label.as_deref();
        let label = label.map_or_else(String::new, |label| format!(" ({label})"));
        format!("{:?} {}{label}", trip.cause, counts(&trip.counts))
    });
    let operator = evidence.operator.as_ref();
    let operator = operator.map(|operator| format!("by {}", operator.reason));
    let told: Vec<_> = trip.into_iter().chain(operator).collect();
    if told.is_empty() {
        return "none".to_owned();
    }
    told.join(" and ")
}

/// `20 for 10s raised 0ns ago`, by the ages.
fn score(score: &HeldScore) -> String {
    let age = |age: Option<_>| {
        age.map_or_else(String::new, |age: std::time::Duration| format!("{age:?}"))
    };
    let (since, raised) = (age(score.above_zero), age(score.raised));
    format!("{} for {since} raised {raised} ago", score.value)
}

/// `2f 1t 0~ of 4 at 10s`, by the age.
fn bucket(bucket: &Bucket) -> String {
    format!("{} at {:?}", counts(&bucket.counts), bucket.age)
}

fn counts(counts: &Counts) -> String {
    let Counts {
        samples,
        failures,
        timeouts,
        slow,
    } = counts;
    format!("{failures}f {timeouts}t {slow}~ of {samples}")
}

fn sample(sample: &Sample) -> String {
    let letter = match sample.outcome {
        Outcome::Success => 's',
        Outcome::Failure => 'f',
        Outcome::Timeout => 't',
        outcome => unreachable!("{outcome:?} in a window"),
    };
    let slow = if sample.slow { "~" } else { "" };
    format!("{letter}{slow}")
}

pub(crate) fn event(event: &Event) -> String {
    let counts = counts(&event.counts);
    format!(
        "g{} {} > {} {:?} {:?} at {:?} {counts}",
        event.generation, event.from, event.to, event.cause, event.reason, event.at,
    )
}
