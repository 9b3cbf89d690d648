//! The result as plain values.

use std::collections::BTreeMap;

use cutout::Threshold;
use serde::Serialize;

use crate::input::Reading;
use crate::judge::Answer;
use crate::replay::Sums;
use crate::timeline::Moment;
use crate::trouble::Trouble;

/// Everything that a replay found out. Its JSON has these names, and keeps them: new ones may come.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of these names: 1.
    pub version: u32,
    /// What was read.
    pub reading: Reading,
    /// What is taken for a bad call, in words.
    pub bad: String,
    /// Calls that are bad.
    pub bad_calls: u64,
    /// How many orders were replayed; more than one where stamps are too coarse to tell one.
    pub orders: usize,
    /// Whether the troubles were given, or found in hindsight.
    pub troubles_are_given: bool,
    /// How long after a trouble's end a trip is still one of it.
    pub slack_ns: u64,
    /// When an upstream was in trouble.
    pub troubles: Vec<TroubleRow>,
    /// The keys, those with the most bad calls first.
    pub keys: Vec<KeyRow>,
    /// What each config would have done.
    pub configs: Vec<ConfigRow>,
    /// How long a moment of the timeline is.
    pub moment_ns: u64,
    /// Calls over time.
    pub timeline: Vec<Moment>,
    /// What a search advises, if there was one.
    pub advice: Option<crate::search::Advice>,
}

/// A time in which an upstream was in trouble.
#[derive(Clone, Debug, Serialize)]
pub struct TroubleRow {
    /// Its name.
    pub name: String,
    /// Whose; `None` for all.
    pub key: Option<String>,
    /// When it began, in nanoseconds since the epoch.
    pub start_ns: i64,
    /// When it ended.
    pub end_ns: i64,
}

/// The calls of one key.
#[derive(Clone, Debug, Serialize)]
pub struct KeyRow {
    /// Its name.
    pub name: String,
    /// How many.
    pub calls: u64,
    /// How many were bad.
    pub bad: u64,
}

/// A number, and between what it lies over all orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ranged {
    /// In the order in which the calls were written.
    pub value: u64,
    /// The least of all orders.
    pub min: u64,
    /// The most.
    pub max: u64,
}

/// What one config would have done.
#[derive(Clone, Debug, Serialize)]
pub struct ConfigRow {
    /// Its name.
    pub name: String,
    /// Its TOML.
    pub toml: String,
    /// How often a closed breaker opened.
    pub trips: Ranged,
    /// Those in no trouble.
    pub false_trips: Ranged,
    /// Troubles in which no breaker opened.
    pub missed: Ranged,
    /// How often a half-open one opened again.
    pub reopenings: Ranged,
    /// Calls that were made and well.
    pub made_well: Ranged,
    /// Calls that were made and bad.
    pub made_bad: Ranged,
    /// Bad calls that were refused.
    pub spared: Ranged,
    /// Well calls that were refused.
    pub lost: Ranged,
    /// How long the spared calls took.
    pub saved_ns: Ranged,
    /// Calls of the spared and the lost that a throttle refused.
    pub throttled: Ranged,
    /// Those that were refused on the ramp of a breaker that had closed.
    pub ramped: Ranged,
    /// How long breakers were in each state other than closed, by the state.
    pub states_ns: BTreeMap<&'static str, u64>,
    /// How long breakers that had closed were on their ramps.
    pub ramping_ns: u64,
    /// How long throttles refused a share of the calls.
    pub refusing_ns: u64,
    /// What it did about each trouble, in the order of the troubles.
    pub troubles: Vec<Answer>,
    /// What became of the calls of each key.
    pub keys: BTreeMap<String, Sums>,
    /// From when on the breakers were no longer looked at, because they had changed their states too often; trips,
    /// states and answers are those before. Made, spared and lost count all calls.
    pub judged_until_ns: Option<i64>,
    /// Each trip with its evidence, the first thousand.
    pub trip_list: Vec<Trip>,
    /// The times in which breakers were other than closed or on their ramps, and those in which throttles refused a share; the
    /// first ten thousand.
    pub stretches: Vec<Stretch>,
}

/// A trip with its evidence.
#[derive(Clone, Debug, Serialize)]
pub struct Trip {
    /// When, in nanoseconds since the epoch.
    pub at_ns: i64,
    /// Whose breaker.
    pub key: String,
    /// The rule that matched.
    pub cause: &'static str,
    /// The rule in words.
    pub why: String,
    /// Outcomes in the window.
    pub samples: u32,
    /// Failures among them.
    pub failures: u32,
    /// Timeouts among them.
    pub timeouts: u32,
    /// Slow calls among them.
    pub slow: u32,
    /// What the rule asked for.
    pub threshold: Option<Threshold>,
    /// What the log says of the call that opened it; `None` if it was well, or had not come back.
    pub label: Option<String>,
    /// The trouble that it belongs to; `None`: it is a false one.
    pub trouble: Option<String>,
}

/// A time in which a breaker was other than closed or on its ramp, or a throttle refused a share.
#[derive(Clone, Debug, Serialize)]
pub struct Stretch {
    /// Whose.
    pub key: String,
    /// In which state; [`RAMPING`](Self::RAMPING) or [`REFUSING`](Self::REFUSING).
    pub state: &'static str,
    /// In which stage of a recovery by stages, from 1; zero without them.
    pub stage: u8,
    /// The share of its calls that a throttle refused.
    pub share: Option<f64>,
    /// From when.
    pub start_ns: i64,
    /// To when.
    pub end_ns: i64,
}

impl Stretch {
    /// A breaker that has closed refuses a falling share.
    pub const RAMPING: &str = "ramping";
    /// A throttle refuses a share.
    pub const REFUSING: &str = "refusing";
}

impl Report {
    /// The troubles as they were given or found.
    pub fn found_troubles(&self) -> Vec<Trouble> {
        let trouble = |row: &TroubleRow| Trouble {
            name: row.name.clone(),
            key: row.key.clone(),
            start: row.start_ns,
            end: row.end_ns,
        };
        self.troubles.iter().map(trouble).collect()
    }
}

impl Trip {
    /// What the window held against what the rule asked for: `6 of 10 failed, 2 by timeout; asked: a share of 0.5`.
    pub(super) fn evidence(&self) -> String {
        let Self {
            samples,
            failures,
            timeouts,
            slow,
            ..
        } = self;
        let mut text = String::new();
        // A window of scores holds no outcomes.
        if *samples > 0 {
            text = format!("{failures} of {samples} failed");
            if *timeouts > 0 {
                text.push_str(&format!(", {timeouts} by timeout"));
            }
            if *slow > 0 {
                text.push_str(&format!(", {slow} slow"));
            }
        }
        if let Some(threshold) = self.threshold {
            let part = if text.is_empty() { "" } else { "; " };
            text.push_str(&format!("{part}asked: {threshold}"));
        }
        text
    }
}

impl ConfigRow {
    /// How long breakers were other than closed, in nanoseconds.
    pub fn not_closed_ns(&self) -> u64 {
        self.states_ns.values().sum()
    }
}
