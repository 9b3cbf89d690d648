//! A breaker as the inbox and the writer know it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cutout::Snapshot;

use super::Totals;

/// What is kept of a breaker besides its transitions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Health {
    pub(super) snapshot: Snapshot,
    pub(super) totals: Totals,
}

/// A breaker whose health is kept.
pub(super) struct Followed {
    pub(super) name: Arc<str>,
    source: Mutex<Source>,
}

/// Where a breaker's health is read.
enum Source {
    Nowhere,
    Live(Box<dyn Fn() -> Health + Send>),
    Last(Box<Health>),
}

impl Followed {
    /// A breaker that is not built yet.
    pub(super) fn new(name: &str) -> Arc<Self> {
        Arc::new(Self {
            name: name.into(),
            source: Mutex::new(Source::Nowhere),
        })
    }

    /// Reads its health here from now on.
    pub(super) fn live(&self, now: impl Fn() -> Health + Send + 'static) {
        *self.source() = Source::Live(Box::new(now));
    }

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
    /// Breaker, listener and this hold each other until then.
    pub(super) fn end(&self) {
        let last = self.health().map(Box::new);
        let ended = last.map_or(Source::Nowhere, Source::Last);
        let live = std::mem::replace(&mut *self.source(), ended);
        // Not while this is locked: this may be the end of the breaker.
        drop(live);
    }

    fn source(&self) -> MutexGuard<'_, Source> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
