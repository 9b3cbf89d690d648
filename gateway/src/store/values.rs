//! What is kept, and how the keeping goes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cutout::Snapshot;
use serde::{Serialize, Serializer};

use super::StoreError;
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

/// What the database held when it was opened.
#[derive(Debug, Default)]
pub struct Saved {
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
