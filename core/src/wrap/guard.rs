//! A permit on its way through polls.

use core::mem;

/// A permit and what says how it is settled, until it is.
pub(crate) struct Guard<J, P>(Option<(P, J)>);

impl<J, P> Guard<J, P> {
    pub(crate) const fn new(permit: P, judge: J) -> Self {
        Self(Some((permit, judge)))
    }

    #[inline]
    pub(crate) fn take(&mut self) -> Option<(P, J)> {
        self.0.take()
    }

    /// Watches over a poll of what the permit is for, until it is [`over`](Unwinding::over). A
    /// permit must see a panic while it unwinds: whoever catches it may drop the rest much
    /// later, when it would pass for abandoned.
    #[inline]
    pub(crate) const fn unwinding(&mut self) -> Unwinding<'_, J, P> {
        Unwinding(self)
    }
}

/// Drops the permit, unless the poll comes to its end.
pub(crate) struct Unwinding<'a, J, P>(&'a mut Guard<J, P>);

impl<J, P> Unwinding<'_, J, P> {
    #[inline]
    pub(crate) const fn over(self) {
        mem::forget(self);
    }
}

impl<J, P> Drop for Unwinding<'_, J, P> {
    fn drop(&mut self) {
        self.0.0 = None;
    }
}

/// Of a permit that was settled.
impl<J, P> Default for Guard<J, P> {
    fn default() -> Self {
        Self(None)
    }
}

#[cfg(any(feature = "stream", feature = "body"))]
mod judged {
    use super::Guard;
    use crate::breaker::breaker_ref::AnyPermit;
    use crate::contract::outcome::{Report, Settled};

    impl<J, P: AnyPermit> Guard<J, P> {
        /// Settles the permit, if it is not settled, by the verdict of its judge, if it has one.
        #[inline]
        pub(crate) fn judge(&mut self, verdict: impl FnOnce(&mut J) -> Option<Report>) {
            if let Some((_, judge)) = &mut self.0
                && let Some(report) = verdict(judge)
            {
                self.settle(report);
            }
        }

        /// Settles the permit, if it is not settled.
        pub(crate) fn settle(&mut self, report: Report) -> Option<Settled> {
            let (permit, _) = self.take()?;
            Some(permit.done(report))
        }
    }

    impl<J, P> Guard<J, P> {
        pub(crate) const fn is_settled(&self) -> bool {
            self.0.is_none()
        }
    }
}
