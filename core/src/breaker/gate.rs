//! What grants permits, and permits whoever granted them: for those who wrap calls.

use core::time::Duration;

use crate::breaker::rejected::Rejected;
use crate::contract::outcome::{Report, Settled};

/// What calls ask for admission: a [`Breaker`](crate::Breaker) or a [`Throttle`](crate::Throttle), shared in an `Arc` or
/// borrowed, say from a `static`; or two of them, as a pair.
///
/// An `Arc` counts its references: one more for each permit, and one less when that is settled.
/// What many threads call at once is faster borrowed, since borrowing writes nothing.
///
/// # Pairs
///
/// A pair `(breaker, throttle)` admits what both admit, and tells both what became of it: the breaker is for an
/// upstream that is down, the throttle for one that is overloaded. The first is looked at, then the second is asked, and
/// the first again for its permit. So while the breaker is open the throttle counts nothing, and no probe's slot
/// is taken for a call that the throttle refuses.
///
/// If the first refuses after the second has admitted, since it refuses a share or others have come between, the second's
/// permit is [withdrawn](AnyPermit::withdraw). So in either order a call that is not made is no outcome and takes no probe.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use cutout::adapters::tower::BreakerLayer;
/// use cutout::{Breaker, Throttle, ThrottleConfig};
///
/// let breaker = Arc::new(Breaker::builder().name("search").build()?);
/// let throttle = Arc::new(Throttle::builder().name("search").build()?);
/// let layer = BreakerLayer::new((breaker, throttle));
/// # let _ = layer;
/// # Ok::<(), cutout::ConfigError>(())
/// ```
pub trait Gate: Clone {
    /// The permits it grants.
    type Permit: AnyPermit;

    /// Asks for admission.
    ///
    /// # Errors
    ///
    /// [`Rejected`], which says why and for how long.
    fn admit(&self) -> Result<Self::Permit, Rejected>;

    /// The rejection that every call would get now; `None` if one may be admitted.
    ///
    /// A pure read, for those who prepare a call. A share that is refused is drawn call by call, so it shows
    /// only in [`admit`](Self::admit).
    fn refusal(&self) -> Option<Rejected>;

    /// Rejects a call that was [refused](Self::refusal) a while ago, with the time left now, and counts it.
    fn reject(&self, refused: Rejected) -> Rejected;
}

/// A permit, whoever granted it. Dropped, it settles as abandoned, or as panicked where the
/// thread is panicking.
pub trait AnyPermit {
    /// Settles the permit.
    fn done(self, report: Report) -> Settled;

    /// Settles the permit as abandoned, even where the thread is panicking: see
    /// [`Permit::abandon`](crate::Permit::abandon).
    fn abandon(self);

    /// Gives the permit back for a call that is not made, as if nobody had asked for it: no outcome, and a probe that was taken is
    /// there for the next call. A breaker that has become half-open for it stays so.
    ///
    /// For who asks several and is refused by a later one. A call that was made, if only in part, is
    /// [abandoned](Self::abandon) or settled.
    fn withdraw(self);

    /// The time by the clock of what granted it, from an origin of its own: for limits on how long a call may take.
    fn now(&self) -> Duration;
}

impl<A: Gate, B: Gate> Gate for (A, B) {
    type Permit = (A::Permit, B::Permit);

    fn admit(&self) -> Result<Self::Permit, Rejected> {
        let (first, second) = self;
        if let Some(refused) = first.refusal() {
            return Err(first.reject(refused));
        }
        let permit = second.admit()?;
        match first.admit() {
            Ok(first) => Ok((first, permit)),
            Err(rejected) => {
                permit.withdraw();
                Err(rejected)
            }
        }
    }

    fn refusal(&self) -> Option<Rejected> {
        let (first, second) = self;
        first.refusal().or_else(|| second.refusal())
    }

    fn reject(&self, refused: Rejected) -> Rejected {
        let (first, second) = self;
        if first.refusal().is_none() && second.refusal().is_some() {
            return second.reject(refused);
        }
        first.reject(refused)
    }
}

/// Both are settled with the same report; what that did is what it did to the first.
impl<P: AnyPermit, Q: AnyPermit> AnyPermit for (P, Q) {
    fn done(self, report: Report) -> Settled {
        self.1.done(report);
        self.0.done(report)
    }

    fn abandon(self) {
        self.1.abandon();
        self.0.abandon();
    }

    fn withdraw(self) {
        self.1.withdraw();
        self.0.withdraw();
    }

    fn now(&self) -> Duration {
        self.0.now()
    }
}
