//! What is kept, and how the keeping goes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cutout::Snapshot;
use serde::{Serialize, Serializer};

use super::StoreError;
use crate::clock::rfc3339;
use crate::events::Transition;

/// What a check came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProbeResult {
    /// The breaker's name.
    pub breaker: String,
    /// When it was sent, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// What went wrong; `None` if it succeeded.
    pub error: Option<String>,
    /// Whether it counted for the breaker.
    pub counted: bool,
}

/// What one breaker's calls came to, over all restarts that the database has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Calls that were admitted.
    pub calls: u64,
    /// Calls that succeeded.
    pub successes: u64,
    /// Calls that were refused for a fault of theirs, or of the key: the provider lives.
    pub answered: u64,
    /// Failures, timeouts not among them.
    pub failures: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Calls that say nothing about the provider.
    pub ignored: u64,
    /// Calls that were not admitted.
    pub rejected: u64,
    /// Attempts beyond the first, inside calls.
    pub retries: u64,
}

/// What was spent with one key on one day, for one route, at one target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Spent {
    /// The day, counted from the Unix epoch in UTC.
    #[serde(serialize_with = "as_date")]
    pub day: u64,
    /// The name of the client's key; empty if none is asked for.
    pub key: String,
    /// The route.
    pub route: String,
    /// The provider and the model there.
    pub target: String,
    /// Requests that the target answered.
    pub requests: u64,
    /// Those of them whose answers did not tell their tokens.
    pub untold: u64,
    /// Tokens of questions.
    pub tokens_in: u64,
    /// Tokens of answers.
    pub tokens_out: u64,
}

/// What was spent with one key in its last minute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Minute {
    /// The name of the key.
    pub key: String,
    /// The minute, counted from the Unix epoch.
    pub minute: u64,
    /// Requests that were let in.
    pub requests: u64,
    /// Tokens, in and out.
    pub tokens: u64,
}

/// What was spent lately.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spending {
    /// By day, key, route and target.
    pub spent: Vec<Spent>,
    /// By key.
    pub minutes: Vec<Minute>,
}

/// What the database held when it was opened.
#[derive(Debug, Default)]
pub struct Saved {
    /// What was spent on the last day that it knows, and in the last minutes.
    pub spending: Spending,
    /// The last snapshot of each breaker, for [`Builder::restore`](cutout::Builder::restore).
    pub snapshots: BTreeMap<String, Snapshot>,
    /// What the calls of each breaker came to.
    pub totals: BTreeMap<String, Totals>,
    /// The last transitions, oldest first.
    pub transitions: Vec<Transition>,
    /// Breakers whose snapshot could not be read, and why; they start closed.
    pub unreadable: Vec<(String, String)>,
}

/// How the store is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Status {
    /// The database file; none when the gateway was told to keep nothing.
    pub path: Option<PathBuf>,
    /// Why nothing is being written at the moment, if so.
    #[serde(serialize_with = "as_text")]
    pub problem: Option<StoreError>,
    /// Transactions committed.
    pub commits: u64,
    /// Transitions written.
    pub transitions: u64,
    /// Transitions lost to overload.
    pub lost_transitions: u64,
    /// Probe results lost to overload.
    pub lost_probes: u64,
}

fn as_text<S: Serializer>(problem: &Option<StoreError>, serializer: S) -> Result<S::Ok, S::Error> {
    problem
        .as_ref()
        .map(StoreError::to_string)
        .serialize(serializer)
}

fn as_date<S: Serializer>(day: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    let date = rfc3339(day.saturating_mul(DAY_MS));
    serializer.serialize_str(date.split('T').next().unwrap_or_default())
}

const DAY_MS: u64 = 24 * 3600 * 1000;
