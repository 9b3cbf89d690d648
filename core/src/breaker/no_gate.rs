//! A place for a gate that is empty.

use core::time::Duration;

use crate::breaker::gate::{AnyPermit, Gate};
use crate::breaker::rejected::Rejected;
use crate::contract::outcome::{Report, Settled};

/// `None` in the place of a gate admits everything. So `(breaker, None)` is a pair too, of a breaker with no throttle beside it.
impl<G: Gate> Gate for Option<G> {
    type Permit = Option<G::Permit>;

    #[inline]
    fn admit(&self) -> Result<Self::Permit, Rejected> {
        self.as_ref().map(G::admit).transpose()
    }

    #[inline]
    fn refusal(&self) -> Option<Rejected> {
        self.as_ref().and_then(G::refusal)
    }

    fn reject(&self, refused: Rejected) -> Rejected {
        match self {
            Some(gate) => gate.reject(refused),
            None => refused,
        }
    }
}

/// A call that needed no permit: nobody learns of it, and its clock stands still.
impl<P: AnyPermit> AnyPermit for Option<P> {
    #[inline]
    fn done(self, report: Report) -> Settled {
        self.map_or(Settled::Ignored, |permit| permit.done(report))
    }

    fn withdraw(self) {
        if let Some(permit) = self {
            permit.withdraw();
        }
    }

    fn abandon(self) {
        if let Some(permit) = self {
            permit.abandon();
        }
    }

    fn now(&self) -> Duration {
        self.as_ref().map_or(Duration::ZERO, P::now)
    }
}
