//! A permit on its way through polls.

use core::future::{Future, poll_fn};
use core::mem;
use core::pin::pin;

use crate::breaker::gate::AnyPermit;
#[cfg(any(feature = "stream", feature = "body", feature = "tokio"))]
use crate::contract::outcome::{Report, Settled};

/// A permit and what says how it is settled, until it is.
///
/// Dropped, it abandons the permit, also where the thread is panicking: a panic that drops a future
/// between two polls is not one of its call. Another branch of a `join!` may have panicked.
pub(crate) struct Guard<J, P: AnyPermit>(Option<(P, J)>);

impl<J, P: AnyPermit> Guard<J, P> {
    pub(crate) const fn new(permit: P, judge: J) -> Self {
        Self(Some((permit, judge)))
    }

    #[inline]
    pub(crate) const fn take(&mut self) -> Option<(P, J)> {
        self.0.take()
    }

    /// Watches over a poll of what the permit is for, and over what is asked about its result, until it is
    /// [`over`](Unwinding::over). A panic in between is the call's, and a permit must see it while it
    /// unwinds: whoever catches it may drop the rest much later, when it would pass for abandoned.
    #[inline]
    pub(crate) const fn unwinding(&mut self) -> Unwinding<'_, J, P> {
        Unwinding(self)
    }

    /// Makes the call and awaits it.
    pub(crate) async fn call<F: Future>(&mut self, call: impl FnOnce() -> F) -> F::Output {
        let unwinding = self.unwinding();
        let call = call();
        unwinding.over();
        let mut call = pin!(call);
        poll_fn(|cx| {
            let unwinding = self.unwinding();
            let polled = call.as_mut().poll(cx);
            unwinding.over();
            polled
        })
        .await
    }

    /// Settles the permit, if it is not settled.
    #[cfg(any(feature = "stream", feature = "body", feature = "tokio"))]
    pub(crate) fn settle(&mut self, report: Report) -> Option<Settled> {
        let (permit, _) = self.take()?;
        Some(permit.done(report))
    }
}

impl<J, P: AnyPermit> Drop for Guard<J, P> {
    #[inline]
    fn drop(&mut self) {
        if let Some((permit, _)) = self.take() {
            permit.abandon();
        }
    }
}

/// Drops the permit, unless the poll comes to its end.
pub(crate) struct Unwinding<'a, J, P: AnyPermit>(&'a mut Guard<J, P>);

impl<J, P: AnyPermit> Unwinding<'_, J, P> {
    #[inline]
    pub(crate) const fn over(self) {
        mem::forget(self);
    }
}

impl<J, P: AnyPermit> Drop for Unwinding<'_, J, P> {
    fn drop(&mut self) {
        // Not abandoned: the permit sees the panic.
        drop(self.0.take());
    }
}

/// Of a permit that was settled.
impl<J, P: AnyPermit> Default for Guard<J, P> {
    fn default() -> Self {
        Self(None)
    }
}

#[cfg(any(feature = "stream", feature = "body"))]
mod judged {
    use core::time::Duration;

    use super::{Guard, Unwinding};
    use crate::breaker::gate::AnyPermit;
    use crate::contract::outcome::Report;

    impl<J, P: AnyPermit> Unwinding<'_, J, P> {
        /// Settles the permit, if it is not settled, by the verdict of its judge, if it has one.
        #[inline]
        pub(crate) fn judge(&mut self, verdict: impl FnOnce(&mut J) -> Option<Report>) {
            if let Some((_, judge)) = &mut self.0.0
                && let Some(report) = verdict(judge)
            {
                self.0.settle(report);
            }
        }
    }

    impl<J, P: AnyPermit> Guard<J, P> {
        pub(crate) const fn is_settled(&self) -> bool {
            self.0.is_none()
        }

        /// The time by the breaker's clock, unless there is nothing left to settle.
        pub(crate) fn now(&self) -> Option<Duration> {
            self.0.as_ref().map(|(permit, _)| permit.now())
        }
    }
}
