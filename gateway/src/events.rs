//! Transitions, told to all who want to know: the page, the log, the database, the webhook.
//!
//! A breaker's listener makes a [`Transition`] and publishes it; nothing here waits for a reader.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use cutout::Event;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;

use crate::clock::unix_millis;

/// How many transitions are kept to be shown.
const KEPT: usize = 256;

/// One transition of one breaker.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Transition {
    /// Counts the transitions of all breakers, from 1.
    pub id: u64,
    /// The breaker's name.
    pub breaker: String,
    /// The generation that the transition started.
    pub generation: u32,
    /// The state before.
    pub from: String,
    /// The state after.
    pub to: String,
    /// What made the transition.
    pub cause: String,
    /// The operator's reason, if it was one.
    pub reason: Option<String>,
    /// What the rule asked for, if it was one.
    #[serde(default)]
    pub threshold: Option<String>,
    /// What the outcome was that made it, in a few words.
    #[serde(default)]
    pub label: Option<String>,
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// What the window held.
    pub counts: Counts,
}

/// How many outcomes of each kind a window holds.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Counts {
    /// All outcomes.
    pub samples: u32,
    /// Failures, timeouts among them.
    pub failures: u32,
    /// Timeouts.
    pub timeouts: u32,
    /// Slow calls, whatever their outcome.
    pub slow: u32,
}

impl From<cutout::Counts> for Counts {
    fn from(counts: cutout::Counts) -> Self {
        Self {
            samples: counts.samples,
            failures: counts.failures,
            timeouts: counts.timeouts,
            slow: counts.slow,
        }
    }
}

/// Where transitions are published.
#[derive(Debug)]
pub struct Events {
    last: AtomicU64,
    recent: Mutex<VecDeque<Arc<Transition>>>,
    sender: broadcast::Sender<Arc<Transition>>,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            last: AtomicU64::new(0),
            recent: Mutex::new(VecDeque::with_capacity(KEPT)),
            sender: broadcast::channel(KEPT).0,
        }
    }
}

impl Events {
    /// Takes over the transitions of earlier processes, before any is published.
    pub fn preload(&self, transitions: Vec<Transition>) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let last = transitions.iter().map(|transition| transition.id).max();
        self.last.fetch_max(last.unwrap_or(0), Relaxed);
        let kept = transitions.len().saturating_sub(KEPT);
        recent.extend(transitions.into_iter().skip(kept).map(Arc::new));
    }

    /// Publishes a breaker's event.
    pub fn publish(&self, breaker: &str, event: &Event) -> Arc<Transition> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock, so that ids are in the order of the list.
        let transition = Arc::new(Transition {
            id: self.last.fetch_add(1, Relaxed) + 1,
            breaker: breaker.to_owned(),
            generation: event.generation,
            from: event.from.to_string(),
            to: event.to.to_string(),
            cause: event.cause.to_string(),
            reason: event.reason.as_deref().map(str::to_owned),
            threshold: event.threshold.map(|threshold| threshold.to_string()),
            label: event.label.as_deref().map(str::to_owned),
            at_ms: unix_millis(),
            counts: event.counts.into(),
        });
        if recent.len() == KEPT {
            recent.pop_front();
        }
        recent.push_back(Arc::clone(&transition));
        tracing::info!(
            breaker,
            from = transition.from,
            to = transition.to,
            cause = transition.cause,
            reason = transition.reason,
            threshold = transition.threshold,
            label = transition.label,
            "a breaker changed its state"
        );
        // An error says that nobody listens.
        let _ = self.sender.send(Arc::clone(&transition));
        transition
    }

    /// The last transitions, oldest first.
    pub fn recent(&self) -> Vec<Arc<Transition>> {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.iter().cloned().collect()
    }

    /// All transitions from now on. A reader that falls 256 behind misses the oldest.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<Transition>> {
        self.sender.subscribe()
    }
}
