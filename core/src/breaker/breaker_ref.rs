//! Breakers and permits however they are held, for those who wrap calls.

use alloc::sync::Arc;
use core::time::Duration;

use crate::breaker::Breaker;
use crate::breaker::permit::{OwnedPermit, Permit};
use crate::breaker::rejected::Rejected;
use crate::contract::clock::Clock;
use crate::contract::outcome::{Report, Settled};

/// A breaker that is shared in an `Arc` or borrowed, say from a `static`.
///
/// An `Arc` counts its references: one more for each permit, and one less when that is settled.
/// A breaker that many threads call at once is faster borrowed, since borrowing writes nothing.
pub trait BreakerRef: Clone {
    /// The breaker's clock.
    type Clock: Clock;

    /// The permits it grants.
    type Permit: AnyPermit;

    /// The breaker.
    fn breaker(&self) -> &Breaker<Self::Clock>;

    /// Asks for admission, as [`Breaker::allow`] does.
    ///
    /// # Errors
    ///
    /// [`Rejected`], which says why and for how long.
    fn admit(&self) -> Result<Self::Permit, Rejected>;
}

impl<C: Clock> BreakerRef for Arc<Breaker<C>> {
    type Clock = C;
    type Permit = OwnedPermit<C>;

    #[inline]
    fn breaker(&self) -> &Breaker<C> {
        self
    }

    #[inline]
    fn admit(&self) -> Result<OwnedPermit<C>, Rejected> {
        self.allow_owned()
    }
}

impl<'a, C: Clock> BreakerRef for &'a Breaker<C> {
    type Clock = C;
    type Permit = Permit<'a, C>;

    #[inline]
    fn breaker(&self) -> &Breaker<C> {
        self
    }

    #[inline]
    fn admit(&self) -> Result<Permit<'a, C>, Rejected> {
        self.allow()
    }
}

/// A [`Permit`] or an [`OwnedPermit`]. Dropped, it settles as abandoned, or as panicked where the
/// thread is panicking.
pub trait AnyPermit {
    /// Settles the permit.
    fn done(self, report: Report) -> Settled;

    /// Settles the permit as abandoned, even where the thread is panicking: see
    /// [`Permit::abandon`].
    fn abandon(self);

    /// The time by the breaker's clock, from an origin of its own: for limits on how long a call may take.
    fn now(&self) -> Duration;
}

impl<C: Clock> AnyPermit for Permit<'_, C> {
    #[inline]
    fn done(self, report: Report) -> Settled {
        self.done_apart(report)
    }

    fn abandon(self) {
        self.abandon();
    }

    fn now(&self) -> Duration {
        self.breaker_time()
    }
}

impl<C: Clock> AnyPermit for OwnedPermit<C> {
    #[inline]
    fn done(self, report: Report) -> Settled {
        self.done_apart(report)
    }

    fn abandon(self) {
        self.abandon();
    }

    fn now(&self) -> Duration {
        self.breaker_time()
    }
}
