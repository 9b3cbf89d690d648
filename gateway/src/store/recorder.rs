//! What puts a breaker into the store.

use std::fmt;
use std::sync::Arc;

use cutout::{Breaker, Clock};

use super::Totals;
use super::followed::{Followed, Health};
use super::inbox::Inbox;
use crate::events::Transition;

/// Keeps one breaker in the store, for as long as it lives.
///
/// The breaker's listener hands each transition to the [`sink`](Self::sink), and
/// the built breaker goes to [`follow`](Self::follow), before it is used:
/// transitions before that are not kept. Dropping it saves a last snapshot and
/// ends the record.
pub struct Recorder {
    inbox: Arc<Inbox>,
    followed: Arc<Followed>,
}

/// Where the transitions of one breaker go.
#[derive(Clone)]
pub struct Sink {
    inbox: Arc<Inbox>,
    followed: Arc<Followed>,
}

impl Recorder {
    pub(super) fn new(inbox: Arc<Inbox>, breaker: &str) -> Self {
        Self {
            inbox,
            followed: Followed::new(breaker),
        }
    }

    /// Where the breaker's listener puts its transitions.
    pub fn sink(&self) -> Sink {
        Sink {
            inbox: Arc::clone(&self.inbox),
            followed: Arc::clone(&self.followed),
        }
    }

    /// What this breaker's calls came to before; the totals go on from there.
    pub fn earlier(&self) -> Totals {
        self.inbox.earlier(&self.followed.name)
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
        self.followed.live(now);
        self.inbox.follow(&self.followed);
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.inbox.leave(&self.followed);
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("breaker", &self.followed.name)
            .finish_non_exhaustive()
    }
}

impl Sink {
    /// Puts a transition into the store's inbox. Never blocks.
    pub fn transition(&self, transition: &Arc<Transition>) {
        self.inbox
            .transition(&self.followed, Arc::clone(transition));
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink")
            .field("breaker", &self.followed.name)
            .finish_non_exhaustive()
    }
}
