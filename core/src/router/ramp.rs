//! A recovered target's way back to its full share.

use core::time::Duration;

use crate::breaker::Breaker;
use crate::contract::clock::{Clock, saturating_nanos};
use crate::contract::state::State;
use crate::engine::ramp::{Credit, share};
use crate::engine::sync::{AtomicU64, Relaxed};

/// It has its full share.
const FULL: u64 = u64::MAX;
/// Its breaker has rejected a call or granted a probe, and has not been seen to admit since.
const DOWN: u64 = u64::MAX - 1;

/// Where a target is on its way. All relaxed: nothing else depends on it, and a
/// step taken twice or late shifts a share by one call.
#[derive(Debug)]
pub(super) struct Ramp {
    /// [`FULL`], [`DOWN`], or the reading of the breaker's clock at which the way began.
    begun: AtomicU64,
    credit: Credit,
}

impl Ramp {
    pub(super) fn new() -> Self {
        Self {
            begun: AtomicU64::new(FULL),
            credit: Credit::default(),
        }
    }

    /// Notes that the breaker is not simply admitting.
    #[cold]
    pub(super) fn interrupt(&self) {
        if self.begun.load(Relaxed) != DOWN {
            self.begun.store(DOWN, Relaxed);
        }
    }

    /// Whether the target's next call is above its share, and should go elsewhere.
    #[inline]
    pub(super) fn defers<C: Clock>(&self, breaker: &Breaker<C>, ramp: Option<Duration>) -> bool {
        match (self.begun.load(Relaxed), ramp) {
            (FULL, _) | (_, None) => false,
            (begun, Some(ramp)) => self.defers_after(begun, breaker, ramp),
        }
    }

    #[cold]
    fn defers_after<C: Clock>(&self, begun: u64, breaker: &Breaker<C>, ramp: Duration) -> bool {
        let now = breaker.now();
        if begun == DOWN {
            if breaker.state() != State::Closed {
                return false;
            }
            self.step(DOWN, now);
            return true;
        }
        match share(now.saturating_sub(begun), saturating_nanos(ramp)) {
            Some(share) => !self.credit.admits(share),
            None => {
                self.step(begun, FULL);
                false
            }
        }
    }

    fn step(&self, from: u64, to: u64) {
        let _ = self.begun.compare_exchange(from, to, Relaxed, Relaxed);
    }
}
