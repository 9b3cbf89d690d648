//! How logs are to be read.

use std::time::Duration;

use jiff::tz::TimeZone;

use super::format::{Map, Name as FormatName};
use crate::Slow;
use crate::verdict::Verdicts;

/// What calls are told apart by: each gets a breaker of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Nothing: one breaker is for all.
    #[default]
    Nothing,
    /// The upstream, as the format has it: a service, a server, a target, the column `key`.
    Upstream,
    /// The host that was asked for.
    Host,
    /// The path, without its query.
    Path,
}

/// How logs are to be read.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format; found by itself where it is not given.
    pub format: Option<FormatName>,
    /// Which columns are what, for CSV and JSON lines.
    pub map: Option<Map>,
    /// What calls are told apart by.
    pub by: By,
    /// The zone of stamps that have none of their own.
    pub zone: TimeZone,
    /// Whether each attempt of a list of them is a call.
    pub attempts: bool,
    /// What statuses mean.
    pub verdicts: Verdicts,
    /// How long a call may take before one would rather not have made it.
    pub slow: Slow,
    /// Whether breakers are told that such a call timed out, as if its caller had given up.
    pub slow_is_timeout: bool,
    /// By how much lines may be out of order.
    pub within: Duration,
    /// The most keys that there may be.
    pub max_keys: usize,
    /// The present, in nanoseconds since the epoch: what lies a day beyond it is not believed.
    pub now: i64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: None,
            map: None,
            by: By::Nothing,
            zone: TimeZone::UTC,
            attempts: false,
            verdicts: Verdicts::default(),
            slow: Slow::default(),
            slow_is_timeout: false,
            within: Duration::from_secs(600),
            max_keys: 10_000,
            now: i64::MAX - DAY,
        }
    }
}

pub(super) const DAY: i64 = 86_400_000_000_000;
