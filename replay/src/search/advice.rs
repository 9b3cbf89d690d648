//! What a search found out, as plain values.

use serde::Serialize;

use super::bootstrap::FalseTrips;

/// What a search found out.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// How many configs were tried.
    pub tried: usize,
    /// How many there were to try: more if the search was stopped.
    pub of: usize,
    /// Where the log was split, in nanoseconds since the epoch: chosen on what is before, judged on what is after.
    pub split_ns: i64,
    /// Troubles before and after the split.
    pub troubles: (usize, usize),
    /// The share of bad calls outside troubles.
    pub quiet_rate: f64,
    /// All configs that were tried, each with what it did before the split.
    pub points: Vec<Point>,
    /// Those that no other beats in both numbers before the split, from the one that spares most.
    pub front: Vec<Tried>,
    /// Which of the front is advised.
    pub chosen: Option<usize>,
    /// Its TOML.
    pub toml: String,
    /// The same as a value, as `PATCH /admin/config` of `cutout-gateway` takes it for a provider's `breaker`.
    pub config: toml::Table,
    /// How often it opens for nothing.
    pub false_trips: Option<FalseTrips>,
    /// The reasons in words, and how sure they are.
    pub sentences: Vec<String>,
}

/// What a config did, in the two numbers that are weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Point {
    /// Bad calls made.
    pub made_bad: u64,
    /// Well calls lost.
    pub lost: u64,
}

/// A config of the front.
#[derive(Clone, Debug, Serialize)]
pub struct Tried {
    /// What it is.
    pub name: String,
    /// What it did before the split.
    pub first: Numbers,
    /// What it did after it.
    pub second: Numbers,
    #[serde(skip)]
    pub(super) guards: crate::configs::Guards,
}

/// What a config did in one part of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Numbers {
    /// Bad calls made.
    pub made_bad: u64,
    /// Bad calls spared.
    pub spared: u64,
    /// Well calls lost.
    pub lost: u64,
    /// Trips.
    pub trips: u64,
    /// Trips in no trouble.
    pub false_trips: u64,
    /// Troubles in which nothing opened.
    pub missed: u64,
}

impl Numbers {
    pub(super) const fn point(&self) -> Point {
        Point {
            made_bad: self.made_bad,
            lost: self.lost,
        }
    }
}
