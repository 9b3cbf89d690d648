//! What the map holds for a key.

use alloc::sync::{Arc, Weak};
use core::sync::atomic::AtomicBool;

use arc_swap::ArcSwapOption;

use crate::breaker::Breaker;
use crate::contract::clock::SystemClock;
use crate::engine::sync::Relaxed;
use crate::throttle::Throttle;

/// A key's breaker, and the throttle beside it if there is one: a [`Gate`](crate::Gate) that asks both, as
/// [pairs](crate::Gate#pairs) do.
pub type KeyGate<C = SystemClock> = (Arc<Breaker<C>>, Option<Arc<Throttle<C>>>);

/// The throttle beside a breaker, or none. It is replaced when its config changes.
pub(super) type Slot<C> = Arc<ArcSwapOption<Throttle<C>>>;

/// A way to a breaker that does not keep it, and to the throttle beside it.
pub(super) struct Entry<C> {
    breaker: Weak<Breaker<C>>,
    throttle: Slot<C>,
    /// Whether it was asked for since it was last looked at.
    used: AtomicBool,
}

impl<C> Entry<C> {
    pub(super) fn new(breaker: &Arc<Breaker<C>>, throttle: &Slot<C>) -> Self {
        Self {
            breaker: Arc::downgrade(breaker),
            throttle: Arc::clone(throttle),
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

    /// As [`take`](Self::take), with the throttle beside it. Who evicts looks for holders of the throttle when there are none of the
    /// breaker: so the breaker is taken first.
    #[inline]
    pub(super) fn take_both(&self) -> Option<KeyGate<C>> {
        let breaker = self.take()?;
        Some((breaker, self.throttle.load_full()))
    }

    /// The breaker for use, and where the throttle beside it is.
    pub(super) fn take_with_slot(&self) -> Option<(Arc<Breaker<C>>, Slot<C>)> {
        Some((self.take()?, Arc::clone(&self.throttle)))
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
