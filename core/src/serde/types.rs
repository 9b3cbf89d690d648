//! Which types are written, and how each of their fields is.

use alloc::string::String;
use alloc::vec::Vec;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::wire::{OrNone, Span, Wait};
use crate::config::{Config, OpenWait, SlowRule, Window};
use crate::event::Event;
use crate::outcome::{Counts, Outcome, Sample};
use crate::snapshot::Snapshot;
use crate::state::{Cause, State};

record!(Config {
    window: Window = Config::default().window,
    min_calls: u32 = Config::default().min_calls,
    failure_ratio: OrNone<f64> = Config::default().failure_ratio,
    timeout_ratio: OrNone<f64> = Config::default().timeout_ratio,
    slow: OrNone<SlowRule> = Config::default().slow,
    consecutive_failures: OrNone<u32> = Config::default().consecutive_failures,
    open_wait: Wait = Config::default().open_wait,
    max_probes: u32 = Config::default().max_probes,
    successes_to_close: u32 = Config::default().successes_to_close,
    probe_lease: OrNone<Span> = Config::default().probe_lease,
    max_inconclusive: u32 = Config::default().max_inconclusive,
    abandoned: Outcome = Config::default().abandoned,
    panicked: Outcome = Config::default().panicked,
});

record!(SlowRule {
    limit: Span,
    ratio: f64,
});

record!(OpenWait {
    base: Span,
    factor: f64,
    max: Span,
    jitter_percent: u32 = 0,
});

/// A window as it is written: which of the fields are there says what kind it is.
#[derive(Clone)]
struct Shape {
    count: Option<u32>,
}

record!(Shape {
    count: Option<u32> = None,
});

impl Serialize for Window {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self::Count(size) = *self;
        Shape { count: Some(size) }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let shape = Shape::deserialize(from)?;
        let size = shape
            .count
            .ok_or_else(|| D::Error::missing_field("count"))?;
        Ok(Self::Count(size))
    }
}

names!(State {
    Closed = "closed",
    Open = "open",
    HalfOpen = "half_open",
    ForcedOpen = "forced_open",
    Disabled = "disabled",
    ObserveOnly = "observe_only",
});

names!(Cause {
    ConsecutiveFailures = "consecutive_failures",
    FailureRatio = "failure_ratio",
    TimeoutRatio = "timeout_ratio",
    SlowRatio = "slow_ratio",
    ProbeFailed = "probe_failed",
    ProbeTimedOut = "probe_timed_out",
    ProbeSlow = "probe_slow",
    ProbesInconclusive = "probes_inconclusive",
    ProbesPassed = "probes_passed",
    WaitElapsed = "wait_elapsed",
    LeaseLost = "lease_lost",
    Operator = "operator",
    Reconfigured = "reconfigured",
});

names!(Outcome {
    Success = "success",
    Failure = "failure",
    Timeout = "timeout",
    Ignored = "ignored",
});

record!(Sample {
    outcome: Outcome,
    slow: bool,
});

record!(Counts {
    samples: u32,
    failures: u32,
    timeouts: u32,
    slow: u32,
});

record!(Snapshot {
    state: State,
    generation: u32,
    cause: Option<Cause> = None,
    remaining: Option<Span> = None,
    attempt: u32,
    probes_out: u32,
    probes_passed: u32,
    probes_inconclusive: u32,
    window: Window,
    samples: Vec<Sample>,
    taken: Span,
});

record!(Event {
    generation: u32,
    from: State,
    to: State,
    cause: Cause,
    reason: Option<String> = None,
    at: Span,
    counts: Counts,
});
