//! The permits that a throttle grants.

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use crate::breaker::permit::{Holder, Unsettled, permit};
use crate::breaker::token::Dropped;
use crate::contract::clock::{Clock, SystemClock};
use crate::contract::outcome::{Outcome, Report, Settled};
use crate::throttle::Throttle;

/// How a call came to be admitted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Admission {
    /// It was not among those that are refused.
    Drawn,
    /// It is the one of those that is admitted all the same; the next one is at this time.
    Probe { next: u64 },
}

/// The right to make one call, as [`Throttle::allow`] gives it.
///
/// Settle it with the call's outcome, as a [`Permit`](crate::Permit). Dropping it settles it as
/// [`ThrottleConfig::abandoned`](crate::ThrottleConfig::abandoned) says.
#[must_use = "a permit that is dropped at once settles as abandoned"]
pub struct ThrottlePermit<'a, C: Clock = SystemClock>(Unsettled<&'a Throttle<C>>);

/// A [`ThrottlePermit`] that owns its share of the throttle.
#[must_use = "a permit that is dropped at once settles as abandoned"]
pub struct OwnedThrottlePermit<C: Clock = SystemClock>(Unsettled<Arc<Throttle<C>>>);

permit!(ThrottlePermit<'a, C>, &'a Throttle<C>, Admission);
permit!(OwnedThrottlePermit<C>, Arc<Throttle<C>>, Admission);

/// For both ways to hold one.
macro_rules! holder {
    ($holder:ty $(, $lifetime:lifetime)?) => {
        impl<$($lifetime,)? C: Clock> Holder for $holder {
            type Token = Admission;

            #[inline]
            fn settle(&self, _: Admission, report: &Report) -> Settled {
                Throttle::settle(self, report)
            }

            fn abandon(&self, _: Admission, dropped: Dropped) {
                Throttle::abandon(self, dropped);
            }

            fn drop_permit(&self, _: Admission) {
                Throttle::abandon(self, Dropped::here());
            }

            fn withdraw(&self, admission: Admission) {
                Throttle::withdraw(self, admission);
            }

            fn now(&self) -> u64 {
                Throttle::now(self)
            }
        }
    };
}

holder!(&'a Throttle<C>, 'a);
holder!(Arc<Throttle<C>>);

impl<C: Clock> fmt::Debug for ThrottlePermit<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThrottlePermit").finish_non_exhaustive()
    }
}

impl<C: Clock> fmt::Debug for OwnedThrottlePermit<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedThrottlePermit")
            .finish_non_exhaustive()
    }
}
