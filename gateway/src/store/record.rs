//! What is kept of a breaker: its transitions, its latest snapshot, its totals.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cutout::{Breaker, Clock, Snapshot};
use serde::Serialize;

use super::inbox::Inbox;
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

/// Keeps one breaker in the store, for as long as it lives.
///
/// The breaker's listener hands each transition to the [`sink`](Self::sink), and
/// the built breaker goes to [`follow`](Self::follow), before it is used:
/// transitions before that are not kept. Dropping it saves a last snapshot and
/// ends the record.
pub struct Recorder {
    inbox: Arc<Inbox>,
    slot: Arc<Slot>,
}

/// Where the transitions of one breaker go.
#[derive(Clone)]
pub struct Sink {
    inbox: Arc<Inbox>,
    slot: Arc<Slot>,
}

impl Recorder {
    pub(super) fn new(inbox: Arc<Inbox>, breaker: &str) -> Self {
        let slot = Arc::new(Slot {
            breaker: breaker.into(),
            source: Mutex::new(Source::Nowhere),
        });
        Self { inbox, slot }
    }

    /// Where the breaker's listener puts its transitions.
    pub fn sink(&self) -> Sink {
        Sink {
            inbox: Arc::clone(&self.inbox),
            slot: Arc::clone(&self.slot),
        }
    }

    /// What this breaker's calls came to before; the totals go on from there.
    pub fn earlier(&self) -> Totals {
        self.inbox.earlier(&self.slot.breaker)
    }

    /// Takes the snapshots of this breaker from now on, and what its calls came to.
    pub fn follow<C: Clock + 'static>(
        &self,
        breaker: &Arc<Breaker<C>>,
        totals: impl Fn() -> Totals + Send + 'static,
    ) {
        let breaker = Arc::clone(breaker);
        let now = move || Health {
            snapshot: breaker.snapshot(),
            totals: totals(),
        };
        *self.slot.source() = Source::Live(Box::new(now));
        self.inbox.follow(&self.slot);
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.inbox.leave(&self.slot);
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("breaker", &self.slot.breaker)
            .finish_non_exhaustive()
    }
}

impl Sink {
    /// Puts a transition into the store's inbox. Never blocks.
    pub fn transition(&self, transition: &Arc<Transition>) {
        self.inbox.transition(&self.slot, Arc::clone(transition));
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink")
            .field("breaker", &self.slot.breaker)
            .finish_non_exhaustive()
    }
}

/// What is kept of a breaker besides its transitions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Health {
    pub(super) snapshot: Snapshot,
    pub(super) totals: Totals,
}

/// A breaker as the inbox and the writer know it.
pub(super) struct Slot {
    pub(super) breaker: Arc<str>,
    source: Mutex<Source>,
}

/// Where a breaker's health is read.
enum Source {
    Nowhere,
    Live(Box<dyn Fn() -> Health + Send>),
    Last(Box<Health>),
}

impl Slot {
    /// The breaker's health: of now, or the last; none before it is followed.
    pub(super) fn health(&self) -> Option<Health> {
        match &*self.source() {
            Source::Nowhere => None,
            Source::Live(now) => Some(now()),
            Source::Last(health) => Some((**health).clone()),
        }
    }

    /// Lets the breaker go and keeps its last health.
    ///
    /// Breaker, listener and slot hold each other until then.
    pub(super) fn end(&self) {
        let last = self.health().map(Box::new);
        let ended = last.map_or(Source::Nowhere, Source::Last);
        let live = std::mem::replace(&mut *self.source(), ended);
        // Not while the slot is locked: this may be the end of the breaker.
        drop(live);
    }

    fn source(&self) -> MutexGuard<'_, Source> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
