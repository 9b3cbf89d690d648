//! A chosen target, reserved for one call.

use core::fmt;
use core::time::Duration;

use super::target::Member;
use crate::clock::{Clock, SystemClock};
use crate::outcome::{Outcome, Report, Settled};
use crate::permit::OwnedPermit;
use crate::sync::Relaxed;

/// A target chosen for one call, and the permit to make it.
///
/// Settle it with the call's outcome, as a permit. Dropping it settles the permit
/// as abandoned. Only the target of this call is charged.
///
/// # Cancel safety
///
/// A future that holds it may be dropped at any time: the permit settles as
/// abandoned and the call is no longer in flight.
#[must_use = "a choice that is dropped at once settles as abandoned"]
pub struct Choice<T, C: Clock = SystemClock> {
    permit: Option<OwnedPermit<C>>,
    call: InFlight<T, C>,
}

impl<T, C: Clock> Choice<T, C> {
    pub(super) fn new(member: Member<T, C>, permit: Option<OwnedPermit<C>>) -> Self {
        Self {
            permit,
            call: InFlight::new(member),
        }
    }

    /// The target.
    pub fn member(&self) -> &Member<T, C> {
        &self.call.0
    }

    /// The target's name.
    pub fn name(&self) -> &str {
        self.member().name()
    }

    /// What the target was given to make calls with.
    pub fn payload(&self) -> &T {
        self.member().payload()
    }

    /// Whether the call is a probe: its outcome decides a half-open breaker.
    pub fn is_probe(&self) -> bool {
        self.permit.as_ref().is_some_and(OwnedPermit::is_probe)
    }

    /// Whether the breaker has admitted the call. It has not for a last resort whose breaker
    /// rejects, and for a target that [`max_shed`](super::RouterConfig::max_shed)
    /// keeps in use: the outcome of such a call is not recorded.
    pub fn is_guarded(&self) -> bool {
        self.permit.is_some()
    }

    /// Settles the permit with the call's outcome, or with a [`Report`] that says
    /// more. Without a permit that is [`Settled::Ignored`].
    pub fn done(self, report: impl Into<Report>) -> Settled {
        match self.permit {
            Some(permit) => permit.done(report),
            None => Settled::Ignored,
        }
    }

    /// Settles with an outcome and the duration that the caller measured.
    pub fn done_after(self, outcome: Outcome, elapsed: Duration) -> Settled {
        self.done(Report::from(outcome).elapsed(elapsed))
    }

    /// Settles as [`Outcome::Success`].
    pub fn success(self) -> Settled {
        self.done(Outcome::Success)
    }

    /// Settles as [`Outcome::Failure`].
    pub fn failure(self) -> Settled {
        self.done(Outcome::Failure)
    }

    /// Settles as [`Outcome::Timeout`].
    pub fn timeout(self) -> Settled {
        self.done(Outcome::Timeout)
    }

    /// Settles as [`Outcome::Ignored`].
    pub fn ignore(self) -> Settled {
        self.done(Outcome::Ignored)
    }

    /// The permit by itself, for a wrapper that settles it, and what counts the call as in
    /// flight until it is dropped.
    pub fn into_parts(self) -> (Option<OwnedPermit<C>>, InFlight<T, C>) {
        (self.permit, self.call)
    }
}

impl<T, C: Clock> fmt::Debug for Choice<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Choice")
            .field("name", &self.name())
            .field("permit", &self.permit)
            .finish_non_exhaustive()
    }
}

/// Counts a call as in flight until it is dropped.
pub struct InFlight<T, C: Clock = SystemClock>(Member<T, C>);

impl<T, C: Clock> InFlight<T, C> {
    fn new(member: Member<T, C>) -> Self {
        // Relaxed, here and in drop: a count that others compare, and nothing hangs on.
        member.entry().in_flight.fetch_add(1, Relaxed);
        Self(member)
    }

    /// The target that is called.
    pub fn member(&self) -> &Member<T, C> {
        &self.0
    }
}

impl<T, C: Clock> Drop for InFlight<T, C> {
    fn drop(&mut self) {
        self.0.entry().in_flight.fetch_sub(1, Relaxed);
    }
}

impl<T, C: Clock> fmt::Debug for InFlight<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InFlight").field(&self.0).finish()
    }
}
