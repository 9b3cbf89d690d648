//! Which types are written, and how each of their fields is.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::duration;
use super::wire::{OrNone, Span, Wait, Wire};
use crate::contract::config::{Config, OpenWait, Overdue, SlowRule, Window};
use crate::contract::event::Event;
use crate::contract::outcome::{Counts, Outcome, Sample};
use crate::contract::snapshot::{Bucket, Snapshot};
use crate::contract::state::{Cause, State};

record!(Config {
    window: Window = Config::default().window,
    min_calls: u32 = Config::default().min_calls,
    failure_ratio: OrNone<f64> = Config::default().failure_ratio,
    timeout_ratio: OrNone<f64> = Config::default().timeout_ratio,
    slow: OrNone<SlowRule> = Config::default().slow,
    overdue: OrNone<Overdue> = Config::default().overdue,
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
#[derive(Clone, Default)]
struct Shape {
    count: Option<u32>,
    time: Option<Duration>,
    buckets: Option<u32>,
}

record!(Shape {
    count: Option<u32> = None,
    time: Option<Span> = None,
    buckets: Option<u32> = None,
});

impl Serialize for Window {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() {
            // The fields of its kind alone.
            return match *self {
                Self::Count(size) => to.collect_map([("count", size)]),
                Self::Time { length, buckets } => {
                    let mut fields = to.serialize_map(Some(2))?;
                    fields.serialize_entry("time", &Span::of(&length))?;
                    fields.serialize_entry("buckets", &buckets)?;
                    fields.end()
                }
            };
        }
        let shape = match *self {
            Self::Count(size) => Shape {
                count: Some(size),
                ..Shape::default()
            },
            Self::Time { length, buckets } => Shape {
                time: Some(length),
                buckets: Some(buckets),
                ..Shape::default()
            },
        };
        shape.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Shape::deserialize(from)? {
            Shape {
                count: Some(size),
                time: None,
                buckets: None,
            } => Ok(Self::Count(size)),
            Shape {
                count: None,
                time: Some(length),
                buckets,
            } => Ok(Self::Time {
                length,
                buckets: buckets.unwrap_or(Self::BUCKETS),
            }),
            Shape {
                count: None,
                time: None,
                ..
            } => Err(D::Error::missing_field("count")),
            _ => Err(D::Error::custom(
                "give either `count`, or `time` and perhaps `buckets`",
            )),
        }
    }
}

/// For people a text: `slow`, or the time after which a call is a timeout.
impl Serialize for Overdue {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let timeout = match self {
            Self::Slow => None,
            Self::Timeout(limit) => Some(Span::of(limit)),
        };
        match timeout {
            None if to.is_human_readable() => to.serialize_str("slow"),
            Some(limit) if to.is_human_readable() => limit.serialize(to),
            timeout => timeout.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Overdue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if !from.is_human_readable() {
            let timeout = Option::<Span>::deserialize(from)?;
            return Ok(timeout.map_or(Self::Slow, |limit| Self::Timeout(limit.value())));
        }
        let text = String::deserialize(from)?;
        match text.as_str() {
            "slow" => Ok(Self::Slow),
            limit => duration::parse(limit).map(Self::Timeout).map_err(|error| {
                D::Error::custom(format_args!("neither `slow` nor a duration: {error}"))
            }),
        }
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
    Answered = "answered",
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

record!(Bucket {
    age: Span,
    counts: Counts,
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
    samples: Vec<Sample> = Vec::new(),
    buckets: Vec<Bucket> = Vec::new(),
    failures_in_a_row: u32 = 0,
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
