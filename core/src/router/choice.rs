//! A chosen target, reserved for one call.

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use super::pace::News;
use super::target::{Granted, Upstream};
use crate::breaker::Breaker;
use crate::breaker::permit::OwnedPermit;
use crate::breaker::token::Token;
use crate::contract::clock::{Clock, SystemClock};
use crate::contract::outcome::{Outcome, Report, Settled};
use crate::throttle::Throttle;
use crate::throttle::permit::OwnedThrottlePermit;

/// The permits of a choice: that of its target's breaker, and that of the throttle beside it, if there is one. Settled as one, they
/// are [`AnyPermit`](crate::AnyPermit).
pub type ChoicePermit<C = SystemClock> = (OwnedPermit<C>, Option<OwnedThrottlePermit<C>>);

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
    /// The permit, which is the breaker's through `call`; taken when it settles.
    token: Option<Token>,
    throttled: Option<OwnedThrottlePermit<C>>,
    call: InFlight<T, C>,
}

impl<T, C: Clock> Choice<T, C> {
    #[inline]
    pub(super) fn new(
        upstream: &Arc<Upstream<T, C>>,
        granted: Option<Granted<C>>,
        is_timed: bool,
    ) -> Self {
        let (token, throttled) = match granted {
            Some((token, throttled)) => (Some(token), throttled),
            None => (None, None),
        };
        Self {
            token,
            throttled,
            call: InFlight {
                since: is_timed.then(|| upstream.breaker.now()),
                upstream: Arc::clone(upstream),
            },
        }
    }

    /// Says how long the target took to answer, for [`Policy::Fastest`](super::Policy::Fastest): say to the first piece of a
    /// long answer. The call's own length does not count then. It means nothing to the other policies.
    pub fn took(&mut self, latency: Duration) {
        self.call.took(latency);
    }

    /// The target's name.
    pub fn name(&self) -> &str {
        self.call.name()
    }

    /// What the target was given to make calls with.
    pub fn payload(&self) -> &T {
        self.call.payload()
    }

    /// The target's breaker.
    pub fn breaker(&self) -> &Arc<Breaker<C>> {
        self.call.breaker()
    }

    /// The throttle beside the breaker, if there is one.
    pub fn throttle(&self) -> Option<&Arc<Throttle<C>>> {
        self.call.upstream.throttle.as_ref()
    }

    /// Whether the call is a probe: its outcome decides a half-open breaker.
    pub fn is_probe(&self) -> bool {
        self.token.is_some_and(|token| token.stamp().is_probe())
    }

    /// Whether the breaker has admitted the call. It has not for a last resort whose breaker or throttle
    /// rejects, and for a target that [`max_shed`](super::RouterConfig::max_shed)
    /// keeps in use: the outcome of such a call is not recorded.
    pub fn is_guarded(&self) -> bool {
        self.token.is_some()
    }

    /// Settles the permit with the call's outcome, or with a [`Report`] that says
    /// more. Without a permit that is [`Settled::Ignored`].
    #[inline]
    pub fn done(mut self, report: impl Into<Report>) -> Settled {
        let report = report.into();
        self.call.ended(match report.outcome {
            Outcome::Success | Outcome::Answered => News::Came,
            _ => News::NotBefore,
        });
        if let Some(permit) = self.throttled.take() {
            permit.done(report);
        }
        match self.token.take() {
            Some(token) => self.call.upstream.breaker.settle(token, &report),
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

    /// Settles as [`Outcome::Answered`].
    pub fn answered(self) -> Settled {
        self.done(Outcome::Answered)
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

    /// The permit by itself, for a wrapper that settles it as [`AnyPermit`](crate::AnyPermit), and what counts the call
    /// as in flight until it is dropped. No permit for a call that is not guarded.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use cutout::{AnyPermit, Breaker, Outcome};
    /// use cutout::router::{Attempts, Router, RouterConfig, Target};
    ///
    /// let breaker = Arc::new(Breaker::builder().build()?);
    /// let router = Router::new(RouterConfig::default(), [Target::new("only", "10.0.0.7", breaker)])?;
    /// let (permit, target) = router.choose(&mut Attempts::new())?.into_parts();
    /// let call = std::thread::spawn(move || {
    ///     println!("calling {}", target.payload());
    ///     permit.done(Outcome::Success.into())
    /// });
    /// call.join().unwrap();
    /// assert_eq!(router.members()[0].in_flight(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn into_parts(mut self) -> (Option<ChoicePermit<C>>, InFlight<T, C>) {
        let throttled = self.throttled.take();
        let token = self.token.take();
        let owned = |token| {
            (
                OwnedPermit::new(Arc::clone(self.breaker()), token),
                throttled,
            )
        };
        let permit = token.map(owned);
        let call = InFlight {
            upstream: Arc::clone(&self.call.upstream),
            since: self.call.since.take(),
        };
        (permit, call)
    }
}

impl<T, C: Clock> Drop for Choice<T, C> {
    #[inline]
    fn drop(&mut self) {
        self.call.ended(News::NotBefore);
        if let Some(token) = self.token.take() {
            self.call.upstream.breaker.drop_permit(token);
        }
    }
}

impl<T, C: Clock> fmt::Debug for Choice<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Choice")
            .field("name", &self.name())
            .field("is_guarded", &self.is_guarded())
            .field("is_probe", &self.is_probe())
            .finish_non_exhaustive()
    }
}

/// Counts a call as in flight until it is dropped. For [`Policy::Fastest`](super::Policy::Fastest) the target has answered by
/// then, unless [`took`](Self::took) has said when.
pub struct InFlight<T, C: Clock = SystemClock> {
    upstream: Arc<Upstream<T, C>>,
    /// The reading of the breaker's clock at the choice, as long as the call's length counts.
    since: Option<u64>,
}

impl<T, C: Clock> InFlight<T, C> {
    /// The target's name.
    pub fn name(&self) -> &str {
        &self.upstream.name
    }

    /// What the target was given to make calls with.
    pub fn payload(&self) -> &T {
        &self.upstream.payload
    }

    /// The target's breaker.
    pub fn breaker(&self) -> &Arc<Breaker<C>> {
        &self.upstream.breaker
    }

    /// As [`Choice::took`].
    pub fn took(&mut self, latency: Duration) {
        if self.since.take().is_some() {
            let now = self.upstream.breaker.now();
            self.upstream.pace.note(now, latency, News::Came);
        }
    }

    #[inline]
    fn ended(&mut self, news: News) {
        if let Some(since) = self.since.take() {
            let now = self.upstream.breaker.now();
            let took = Duration::from_nanos(now.saturating_sub(since));
            self.upstream.pace.note(now, took, news);
        }
    }
}

impl<T, C: Clock> Drop for InFlight<T, C> {
    #[inline]
    fn drop(&mut self) {
        self.ended(News::Came);
    }
}

impl<T, C: Clock> fmt::Debug for InFlight<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InFlight").field(&self.name()).finish()
    }
}
