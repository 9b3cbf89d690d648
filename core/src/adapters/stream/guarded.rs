//! The stream that carries a permit.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};

use futures_core::{FusedStream, Stream};
use pin_project_lite::pin_project;

use crate::breaker::gate::AnyPermit;
use crate::breaker::guard::Guard;
use crate::breaker::permit::OwnedPermit;
use crate::contract::outcome::{Report, Settled};
use crate::wrap::classify::{ByResult, Judge, judge_next};

pin_project! {
    /// A stream that settles a permit when it ends: see the [module's docs](crate::adapters::stream).
    ///
    /// # Cancel safety
    ///
    /// Dropping it settles the permit as abandoned, if it is not settled.
    ///
    /// # Panics
    ///
    /// Passes on a panic of the stream or of the judge, which settles the permit as
    /// [`Config::panicked`](crate::Config::panicked) says. A panic of anybody else that drops it abandons the permit.
    pub struct GuardedStream<S, J = ByResult, P = OwnedPermit>
    where
        P: AnyPermit,
    {
        #[pin]
        inner: S,
        guard: Guard<J, P>,
    }
}

impl<S, P: AnyPermit> GuardedStream<S, ByResult, P> {
    /// Settles `permit` by the items of `stream`, which are results: an `Err` is a failure.
    pub const fn new(stream: S, permit: P) -> Self {
        Self::with_judge(stream, permit, ByResult)
    }
}

impl<S, J, P: AnyPermit> GuardedStream<S, J, P> {
    /// Settles `permit` by what `judge` says of the items and the end of `stream`.
    pub const fn with_judge(stream: S, permit: P, judge: J) -> Self {
        Self {
            inner: stream,
            guard: Guard::new(permit, judge),
        }
    }

    /// Settles the permit now, if it is not settled: for a consumer that knows better.
    pub fn settle(self: Pin<&mut Self>, report: impl Into<Report>) -> Option<Settled> {
        self.project().guard.settle(report.into())
    }

    /// For the limits.
    pub(super) fn guard(self: Pin<&mut Self>) -> &mut Guard<J, P> {
        self.project().guard
    }

    /// Whether the permit is settled.
    pub const fn is_settled(&self) -> bool {
        self.guard.is_settled()
    }

    /// The stream itself.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }
}

impl<S: Stream, J: Judge<S::Item>, P: AnyPermit> Stream for GuardedStream<S, J, P> {
    type Item = S::Item;

    #[inline]
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let this = self.project();
        let mut unwinding = this.guard.unwinding();
        let polled = this.inner.poll_next(cx);
        if let Poll::Ready(next) = &polled {
            unwinding.judge(|judge| judge_next(judge, next.as_ref(), || false));
        }
        unwinding.over();
        polled
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

impl<S, J, P> FusedStream for GuardedStream<S, J, P>
where
    S: FusedStream,
    J: Judge<S::Item>,
    P: AnyPermit,
{
    fn is_terminated(&self) -> bool {
        self.inner.is_terminated()
    }
}

impl<S: fmt::Debug, J, P: AnyPermit> fmt::Debug for GuardedStream<S, J, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardedStream")
            .field("inner", &self.inner)
            .field("is_settled", &self.is_settled())
            .finish_non_exhaustive()
    }
}
