//! Which types are written, and how each of their fields is.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::duration;
use super::wire::{OrNone, Span, Wait, Wire};
use crate::contract::config::{Config, OpenWait, Overdue, SlowRule, Window};
use crate::contract::cusum::{Cusum, SlowScore};
use crate::contract::event::Event;
use crate::contract::evidence::{Evidence, OperatorAction, Threshold, Trip};
use crate::contract::outcome::{Counts, Outcome, Sample};
use crate::contract::score::Score;
use crate::contract::snapshot::{Bucket, HeldScore, Interrupted, Scores, Snapshot};
use crate::contract::stages::Stages;
use crate::contract::state::{Cause, State};
use crate::contract::throttle::ThrottleConfig;

record!(Config {
    window: Window = Config::default().window,
    min_calls: OrNone<u32> = Config::default().min_calls,
    failure_ratio: OrNone<f64> = beside(window),
    timeout_ratio: OrNone<f64> = Config::default().timeout_ratio,
    slow: OrNone<SlowRule> = Config::default().slow,
    overdue: OrNone<Overdue> = Config::default().overdue,
    consecutive_failures: OrNone<u32> = Config::default().consecutive_failures,
    failures: OrNone<u32> = Config::default().failures,
    open_wait: Wait = Config::default().open_wait,
    max_probes: u32 = Config::default().max_probes,
    successes_to_close: u32 = Config::default().successes_to_close,
    probe_lease: OrNone<Span> = Config::default().probe_lease,
    ramp: OrNone<Span> = Config::default().ramp,
    max_inconclusive: u32 = Config::default().max_inconclusive,
    abandoned: Outcome = Config::default().abandoned,
    abandoned_after: OrNone<Span> = Config::default().abandoned_after,
    panicked: Outcome = Config::default().panicked,
    stages: OrNone<Stages> = Config::default().stages,
});

/// The failure ratio of a config that says none, beside such a window.
fn beside(window: Option<Window>) -> Option<f64> {
    let config = Config {
        window: window.unwrap_or(Config::default().window),
        ..Config::default()
    };
    config.default_failure_ratio()
}

record!(SlowRule, like "{ limit = \"2s\", ratio = 0.8 }" {
    limit: Span,
    ratio: f64,
});

record!(ThrottleConfig, like "{ length = \"10s\", k = 2.0 }" {
    length: Span = ThrottleConfig::DEFAULT.length,
    buckets: u32 = ThrottleConfig::DEFAULT.buckets,
    k: f64 = ThrottleConfig::DEFAULT.k,
    probes_per_second: f64 = ThrottleConfig::DEFAULT.probes_per_second,
    abandoned: Outcome = ThrottleConfig::DEFAULT.abandoned,
    panicked: Outcome = ThrottleConfig::DEFAULT.panicked,
});

record!(OpenWait, like "{ base = \"30s\", factor = 2.0, max = \"5m\" }" {
    base: Span,
    factor: f64,
    max: Span,
    jitter_percent: u32 = 0,
});

record!(Stages, like "{ first = 1, growth = 2, until = 64, failure_ratio = 0.5 }" {
    first: u32 = Stages::default().first,
    growth: u32 = Stages::default().growth,
    until: u32 = Stages::default().until,
    failure_ratio: f64 = Stages::default().failure_ratio,
});

/// A window as it is written in a table: which of the fields are there says what kind it is.
#[derive(Clone, Default)]
struct Shape {
    count: Option<u32>,
    time: Option<Duration>,
    buckets: Option<u32>,
    cusum: Option<Cusum>,
}

record!(Shape, like "{ count = 100 } or { time = \"10s\" }" {
    count: Option<u32> = None,
    time: Option<Span> = None,
    buckets: Option<u32> = None,
    cusum: Option<Cusum> = None,
});

record!(Cusum, like "{ failures = { p0 = 0.01, p1 = 0.3, calls = 1e9 } }" {
    failures: Option<Score> = None,
    slow: Option<SlowScore> = None,
    lasting: Span = Cusum::NONE.lasting,
    max_age: OrNone<Span> = Cusum::NONE.max_age,
    head_start_percent: u32 = 0,
});

record!(SlowScore, like "{ limit = \"2s\", score = { p0 = 0.01, p1 = 0.3, calls = 1e9 } }" {
    limit: Span,
    score: Score,
});

/// A score as it is written: by its numbers, or by what they are found from.
#[derive(Clone, Copy, Default)]
struct Wish {
    bad: Option<u16>,
    good: Option<u16>,
    limit: Option<u16>,
    p0: Option<f64>,
    p1: Option<f64>,
    calls: Option<f64>,
}

record!(Wish, like "{ bad = 10, good = 1, limit = 55 } or { p0 = 0.01, p1 = 0.3, calls = 1e9 }" {
    bad: Option<u16> = None,
    good: Option<u16> = None,
    limit: Option<u16> = None,
    p0: Option<f64> = None,
    p1: Option<f64> = None,
    calls: Option<f64> = None,
});

impl Wish {
    fn score<E: Error>(self) -> Result<Score, E> {
        let missing = |field| E::missing_field(field);
        let Self {
            bad,
            good,
            limit,
            p0,
            p1,
            calls,
        } = self;
        let is_by_numbers = bad.or(good).or(limit).is_some();
        let is_by_rates = p0.or(p1).or(calls).is_some();
        match (is_by_numbers, is_by_rates) {
            (true, true) => Err(E::custom(
                "give either `bad`, `good` and `limit`, or `p0`, `p1` and `calls`",
            )),
            (false, true) => by_rates(
                p0.ok_or_else(|| missing("p0"))?,
                p1.ok_or_else(|| missing("p1"))?,
                calls.ok_or_else(|| missing("calls"))?,
            ),
            (_, false) => Ok(Score {
                bad: bad.ok_or_else(|| missing("bad"))?,
                good: good.ok_or_else(|| missing("good"))?,
                limit: limit.ok_or_else(|| missing("limit"))?,
            }),
        }
    }
}

#[cfg(feature = "odds")]
fn by_rates<E: Error>(p0: f64, p1: f64, calls: f64) -> Result<Score, E> {
    Score::for_rates(p0, p1, calls).map_err(|error| {
        let (field, value, legal) = (error.field(), error.value(), error.legal());
        E::custom(format_args!(
            "{field}: {value} is not legal: it must be {legal}"
        ))
    })
}

#[cfg(not(feature = "odds"))]
fn by_rates<E: Error>(_: f64, _: f64, _: f64) -> Result<Score, E> {
    Err(E::custom(
        "p0, p1 and calls need the feature `odds` of cutout; without it give bad, good and limit",
    ))
}

/// By its numbers, also where they were found from something else.
impl Serialize for Score {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() {
            return to.collect_map([
                ("bad", self.bad),
                ("good", self.good),
                ("limit", self.limit),
            ]);
        }
        let wish = Wish {
            bad: Some(self.bad),
            good: Some(self.good),
            limit: Some(self.limit),
            ..Wish::default()
        };
        wish.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Score {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Wish::deserialize(from)?.score()
    }
}

impl Shape {
    fn window<E: Error>(self) -> Result<Window, E> {
        match self {
            Self {
                count: None,
                time: None,
                buckets: None,
                cusum: Some(cusum),
            } => Ok(Window::Cusum(cusum)),
            Self {
                count: Some(size),
                time: None,
                buckets: None,
                cusum: None,
            } => Ok(Window::Count(size)),
            Self {
                count: None,
                time: Some(length),
                buckets,
                cusum: None,
            } => Ok(Window::Time {
                length,
                buckets: buckets.unwrap_or(Window::BUCKETS),
            }),
            Self {
                count: None,
                time: None,
                cusum: None,
                ..
            } => Err(E::missing_field("count")),
            _ => Err(E::custom(
                "give either `count`, or `time` and perhaps `buckets`, or `cusum`; where one config is laid over another, \
                 write the window in one word, such as 100 or \"10s\"",
            )),
        }
    }
}

/// For people one word, so that a window is replaced as a whole where one config is laid over another.
impl Serialize for Window {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() {
            return match *self {
                Self::Count(size) => to.serialize_u32(size),
                Self::Time { length, buckets } => {
                    let length = duration::Text(length);
                    to.collect_str(&format_args!("{length} in {buckets}"))
                }
                Self::Cusum(cusum) => to.collect_map([("cusum", cusum)]),
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
            Self::Cusum(cusum) => Shape {
                cusum: Some(cusum),
                ..Shape::default()
            },
        };
        shape.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Word;

        impl<'de> Visitor<'de> for Word {
            type Value = Window;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a number of outcomes such as 100, a time such as \"10s\" or \"10s in 20\" buckets, \
                     or a table such as { count = 100 }, { time = \"10s\" } or \
                     { cusum = { failures = { bad = 10, good = 1, limit = 55 } } }",
                )
            }

            fn visit_u64<E: Error>(self, size: u64) -> Result<Window, E> {
                let size = u32::try_from(size);
                size.map(Window::Count)
                    .map_err(|_| E::custom("count: above 4294967295"))
            }

            fn visit_i64<E: Error>(self, size: i64) -> Result<Window, E> {
                match u64::try_from(size) {
                    Ok(size) => self.visit_u64(size),
                    Err(_) => Err(E::invalid_value(Unexpected::Signed(size), &self)),
                }
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Window, E> {
                if let Ok(size) = text.trim().parse() {
                    return Ok(Window::Count(size));
                }
                let (length, buckets) = match text.split_once(" in ") {
                    Some((length, buckets)) => (length, buckets.trim().parse().ok()),
                    None => (text, Some(Window::BUCKETS)),
                };
                match (duration::parse(length), buckets) {
                    (Ok(length), Some(buckets)) => Ok(Window::Time { length, buckets }),
                    _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Window, A::Error> {
                Shape::deserialize(MapAccessDeserializer::new(map))?.window()
            }
        }

        if from.is_human_readable() {
            from.deserialize_any(Word)
        } else {
            Shape::deserialize(from)?.window()
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
    Failures = "failures",
    FailureRatio = "failure_ratio",
    TimeoutRatio = "timeout_ratio",
    SlowRatio = "slow_ratio",
    FailureScore = "failure_score",
    SlowScore = "slow_score",
    ProbeFailed = "probe_failed",
    ProbeTimedOut = "probe_timed_out",
    ProbeSlow = "probe_slow",
    ProbesInconclusive = "probes_inconclusive",
    ProbesPassed = "probes_passed",
    WaitElapsed = "wait_elapsed",
    LeaseLost = "lease_lost",
    Operator = "operator",
    Reconfigured = "reconfigured",
    Outlier = "outlier",
    Peers = "peers",
    Ramping = "ramping",
    Throttled = "throttled",
});

names!(Outcome {
    Success = "success",
    Failure = "failure",
    Timeout = "timeout",
    Ignored = "ignored",
    Answered = "answered",
});

record!(Sample [grows] {
        outcome: Outcome,
        slow: bool,
    }
);

record!(Counts [grows] {
        samples: u32,
        failures: u32,
        timeouts: u32,
        slow: u32,
    }
);

record!(Bucket [grows] {
        age: Span,
        counts: Counts,
    }
);

/// A threshold as it is written: the field that is there says what kind it is.
#[derive(Default)]
struct Amount {
    failures: Option<u32>,
    ratio: Option<f64>,
    score: Option<u32>,
}

record!(Amount [grows] {
    failures: Option<u32> = None,
    ratio: Option<f64> = None,
    score: Option<u32> = None,
});

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() {
            // The field of its kind alone.
            return match *self {
                Self::Failures(failures) => to.collect_map([("failures", failures)]),
                Self::Ratio(ratio) => to.collect_map([("ratio", ratio)]),
                Self::Score(score) => to.collect_map([("score", score)]),
            };
        }
        let amount = match *self {
            Self::Failures(failures) => Amount {
                failures: Some(failures),
                ..Amount::default()
            },
            Self::Ratio(ratio) => Amount {
                ratio: Some(ratio),
                ..Amount::default()
            },
            Self::Score(score) => Amount {
                score: Some(score),
                ..Amount::default()
            },
        };
        amount.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Amount::deserialize(from)? {
            Amount {
                failures: Some(failures),
                ratio: None,
                score: None,
            } => Ok(Self::Failures(failures)),
            Amount {
                failures: None,
                ratio: Some(ratio),
                score: None,
            } => Ok(Self::Ratio(ratio)),
            Amount {
                failures: None,
                ratio: None,
                score: Some(score),
            } => Ok(Self::Score(score)),
            _ => Err(D::Error::custom(
                "one of `failures`, `ratio` and `score` is needed",
            )),
        }
    }
}

record!(Trip [grows] {
    cause: Cause,
    age: Span,
    counts: Counts,
    threshold: Option<Threshold> = None,
    label: Option<String> = None,
});

record!(OperatorAction [grows] {
    age: Span,
    reason: String,
});

record!(Evidence [grows] {
    trip: Option<Trip> = None,
    operator: Option<OperatorAction> = None,
});

record!(Interrupted [grows] {
        state: State,
        cause: Option<Cause> = None,
        remaining: Option<Span> = None,
    }
);

record!(HeldScore [grows] {
    value: u32,
    above_zero: Option<Span> = None,
    raised: Option<Span> = None,
});

record!(Scores [grows] {
    failures: HeldScore,
    slow: HeldScore,
});

// The version rises when a release that knows only the one before would take something in it for something else. A
// field more is no reason: it is passed over.
record!(Snapshot [grows], version 1 {
    state: State,
    generation: u32,
    cause: Option<Cause> = None,
    remaining: Option<Span> = None,
    attempt: u32,
    interrupted: Option<Interrupted> = None,
    probes_out: u32,
    probes_passed: u32,
    probes_inconclusive: u32,
    window: Window,
    samples: Vec<Sample> = Vec::new(),
    buckets: Vec<Bucket> = Vec::new(),
    failures_in_a_row: u32 = 0,
    taken: Span,
    evidence: Evidence = Evidence::default(),
    scores: Scores = Scores::default(),
    probes_failed: u32 = 0,
    stage: u32 = 0,
    ramp_left: Option<Span> = None,
});

record!(Event [grows] {
    generation: u32,
    from: State,
    to: State,
    cause: Cause,
    reason: Option<String> = None,
    at: Span,
    counts: Counts,
    threshold: Option<Threshold> = None,
    label: Option<String> = None,
});
