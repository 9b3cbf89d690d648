//! What the map holds for a key.

use alloc::sync::{Arc, Weak};
use core::sync::atomic::AtomicBool;

use crate::breaker::Breaker;
use crate::engine::sync::Relaxed;

/// A way to a breaker that does not keep it.
pub(super) struct Entry<C> {
    breaker: Weak<Breaker<C>>,
    /// Whether it was asked for since it was last looked at.
    used: AtomicBool,
}

impl<C> Entry<C> {
    pub(super) fn new(breaker: &Arc<Breaker<C>>) -> Self {
        Self {
            breaker: Arc::downgrade(breaker),
            used: AtomicBool::new(true),
        }
    }

    /// The breaker, for use; `None` if it is gone, or about to go.
    #[inline]
    pub(super) fn take(&self) -> Option<Arc<Breaker<C>>> {
        // Written once between two looks, so that the line stays shared. Relaxed: who
        // finds no reference left but its own (`Arc::try_unwrap`, acquire) sees what those who
        // gave theirs up did before.
        if !self.used.load(Relaxed) {
            self.used.store(true, Relaxed);
        }
        self.breaker.upgrade()
    }

    /// The breaker, to look at.
    pub(super) fn peek(&self) -> Option<Arc<Breaker<C>>> {
        self.breaker.upgrade()
    }

    /// Whether it was asked for since it was last looked at.
    pub(super) fn was_used(&self) -> bool {
        self.used.swap(false, Relaxed)
    }
}
