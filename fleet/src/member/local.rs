//! What a member knows of one of its own breakers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cutout::{Config, Counts, Label, OpenWait};

use crate::statement::{Entry, Phase, SaidTrip, SaidVerdict, digest, millis};

/// A name that a breaker of this member has.
#[derive(Debug)]
pub(super) struct Local {
    /// The digest of the config that it goes by.
    pub(super) config: u64,
    pub(super) goes_by: Config,
    pub(super) is: Standing,
    /// When it was last opened by something else than a probe.
    pub(super) opened: Duration,
    /// What has opened it, if that was what it has seen itself.
    pub(super) trip: Option<OwnTrip>,
    pub(super) verdict: Option<OwnVerdict>,
    /// How often in a row probes have failed: over the fleet, and here.
    pub(super) attempt: u32,
    pub(super) own_attempt: u32,
    pub(super) calls: Option<f64>,
    pub(super) claim: Claim,
    /// Trips by then are answered: since then a probe has passed, or an operator has closed the breaker.
    pub(super) answered_by: Option<Duration>,
    /// Those of them that were known: by member, its incarnation and the trip's number. What is said of them later does not
    /// make them later.
    pub(super) answered: BTreeMap<Arc<str>, (u64, u64)>,
    /// The order that was carried out last, and whether that was to end it.
    pub(super) order: (u64, bool),
}

/// How the breaker stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Standing {
    Closed,
    /// It waits, from and until. Free: a probe of another member has passed, so it probes without a lease.
    Open {
        from: Duration,
        until: Duration,
        free: bool,
    },
    Probing,
    Operated,
}

/// The right to probe.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Claim {
    None,
    /// Asked for, with this token, at this time.
    Asked(u64, Duration),
    /// Had, with this token, for certain until then.
    Held(u64, Duration),
    /// The bus gave no answer: this breaker acts by itself until it has probed.
    Alone,
}

#[derive(Clone, Debug)]
pub(super) struct OwnTrip {
    pub(super) number: u64,
    pub(super) at: Duration,
    pub(super) counts: Counts,
    pub(super) label: Option<Arc<str>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct OwnVerdict {
    pub(super) number: u64,
    pub(super) at: Duration,
    pub(super) well: bool,
}

impl Local {
    pub(super) fn new(config: Config) -> Self {
        Self {
            config: digest(&config),
            goes_by: config,
            is: Standing::Closed,
            opened: Duration::ZERO,
            trip: None,
            verdict: None,
            attempt: 0,
            own_attempt: 0,
            calls: None,
            claim: Claim::None,
            answered_by: None,
            answered: BTreeMap::new(),
            order: (0, true),
        }
    }

    /// What others are told.
    pub(super) fn entry(&self, name: &Arc<str>, now: Duration, lately: Duration) -> Entry {
        let age = |at: Duration| now.saturating_sub(at);
        let left = match self.is {
            Standing::Open { until, .. } => until.saturating_sub(now),
            _ => Duration::ZERO,
        };
        let verdict = self.verdict.filter(|verdict| age(verdict.at) <= lately);
        Entry {
            name: Arc::clone(name),
            config: self.config,
            is: match self.is {
                Standing::Closed => Phase::Closed,
                Standing::Open { .. } => Phase::Open,
                Standing::Probing => Phase::Probing,
                Standing::Operated => Phase::Operated,
            },
            calls: self.calls,
            trip: self.trip.as_ref().map(|trip| SaidTrip {
                number: trip.number,
                age_ms: millis(age(trip.at)),
                counts: trip.counts,
                label: trip.label.clone(),
            }),
            verdict: verdict.map(|verdict| SaidVerdict {
                number: verdict.number,
                age_ms: millis(age(verdict.at)),
                well: verdict.well,
                left_ms: if verdict.well { 0 } else { millis(left) },
                attempt: self.attempt,
            }),
        }
    }

    /// Whether others are to be told of it.
    pub(super) fn is_news(&self, now: Duration, lately: Duration) -> bool {
        let recent = |verdict: OwnVerdict| now.saturating_sub(verdict.at) <= lately;
        self.is != Standing::Closed || self.verdict.is_some_and(recent)
    }

    /// When it asks for the right to probe, if it waits for it.
    pub(super) fn asks(&self, lead: Duration) -> Option<Duration> {
        match (self.is, &self.claim) {
            (
                Standing::Open {
                    from,
                    until,
                    free: false,
                },
                Claim::None,
            ) => Some(until.saturating_sub(lead.min(until.saturating_sub(from) / 2))),
            _ => None,
        }
    }

    /// How long the fleet waits after so many failed probes.
    pub(super) fn wait_after(&self, attempt: u32) -> Duration {
        let OpenWait {
            base, factor, max, ..
        } = self.goes_by.open_wait;
        let grown =
            base.as_secs_f64() * factor.powi(i32::try_from(attempt.min(127)).unwrap_or(127));
        let grown = Duration::try_from_secs_f64(grown).unwrap_or(Duration::MAX);
        grown.min(max).max(base.min(max))
    }
}

pub(super) fn label(label: Option<&Label>) -> Option<Arc<str>> {
    label.map(|label| label.as_str().into())
}
