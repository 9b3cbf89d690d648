//! A permit on its way through polls.

use core::mem;

use crate::clock::Clock;
use crate::permit::OwnedPermit;

/// A permit and what says how it is settled, until it is.
pub(crate) struct Guard<J, C: Clock>(Option<(OwnedPermit<C>, J)>);

impl<J, C: Clock> Guard<J, C> {
    pub(crate) const fn new(permit: OwnedPermit<C>, judge: J) -> Self {
        Self(Some((permit, judge)))
    }

    #[inline]
    pub(crate) fn take(&mut self) -> Option<(OwnedPermit<C>, J)> {
        self.0.take()
    }

    /// Polls what the permit is for. A permit must see a panic while it unwinds: whoever
    /// catches it may drop the rest much later, when it would pass for abandoned.
    #[inline]
    pub(crate) fn while_polling<T>(&mut self, poll: impl FnOnce() -> T) -> T {
        struct Unwinding<'a, T>(&'a mut Option<T>);

        impl<T> Drop for Unwinding<'_, T> {
            fn drop(&mut self) {
                *self.0 = None;
            }
        }

        let unwinding = Unwinding(&mut self.0);
        let polled = poll();
        mem::forget(unwinding);
        polled
    }
}

/// Of a permit that was settled.
impl<J, C: Clock> Default for Guard<J, C> {
    fn default() -> Self {
        Self(None)
    }
}

#[cfg(any(feature = "stream", feature = "body"))]
mod judged {
    use super::Guard;
    use crate::clock::Clock;
    use crate::outcome::{Report, Settled};

    impl<J, C: Clock> Guard<J, C> {
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

        pub(crate) const fn is_settled(&self) -> bool {
            self.0.is_none()
        }
    }
}
