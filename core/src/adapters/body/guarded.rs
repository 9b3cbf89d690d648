//! The body that carries a permit.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::breaker::gate::AnyPermit;
use crate::breaker::guard::Guard;
use crate::breaker::permit::OwnedPermit;
use crate::contract::outcome::{Report, Settled};
use crate::wrap::classify::{ByResult, Judge, judge_next};

pin_project! {
    /// A body that settles a permit when it ends: see the [module's docs](crate::adapters::body).
    ///
    /// # Cancel safety
    ///
    /// Dropping it settles the permit as abandoned, if it is not settled.
    ///
    /// # Panics
    ///
    /// Passes on a panic of the body or of the judge, which settles the permit as
    /// [`Config::panicked`](crate::Config::panicked) says. A panic of anybody else that drops it abandons the permit.
    pub struct GuardedBody<B, J = ByResult, P = OwnedPermit>
    where
        P: AnyPermit,
    {
        #[pin]
        inner: B,
        guard: Guard<J, P>,
    }
}

impl<B: Body<Error: 'static>, P: AnyPermit> GuardedBody<B, ByResult, P> {
    /// Settles `permit` by the frames of `body`: an error is a failure, unless it is the
    /// rejection of another breaker.
    ///
    /// A body that says that it has ended settles at once.
    pub fn new(body: B, permit: P) -> Self {
        Self::with_judge(body, permit, ByResult)
    }
}

impl<B, J, P> GuardedBody<B, J, P>
where
    B: Body,
    J: Judge<Result<Frame<B::Data>, B::Error>>,
    P: AnyPermit,
{
    /// Settles `permit` by what `judge` says of the frames, the error and the end of `body`.
    ///
    /// A body that says that it has ended settles at once.
    pub fn with_judge(body: B, permit: P, mut judge: J) -> Self {
        if body.is_end_stream() {
            permit.done(judge.end());
            return Self::settled(body);
        }
        Self {
            inner: body,
            guard: Guard::new(permit, judge),
        }
    }
}

impl<B, J, P: AnyPermit> GuardedBody<B, J, P> {
    /// A body that has no permit to settle.
    pub fn settled(body: B) -> Self {
        Self {
            inner: body,
            guard: Guard::default(),
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

    /// The body itself.
    pub const fn get_ref(&self) -> &B {
        &self.inner
    }
}

impl<B, J, P> Body for GuardedBody<B, J, P>
where
    B: Body,
    J: Judge<Result<Frame<B::Data>, B::Error>>,
    P: AnyPermit,
{
    type Data = B::Data;
    type Error = B::Error;

    #[inline]
    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let mut this = self.project();
        let mut unwinding = this.guard.unwinding();
        let polled = this.inner.as_mut().poll_frame(cx);
        if let Poll::Ready(next) = &polled {
            let is_last = || this.inner.is_end_stream();
            unwinding.judge(|judge| judge_next(judge, next.as_ref(), is_last));
        }
        unwinding.over();
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl<B: fmt::Debug, J, P: AnyPermit> fmt::Debug for GuardedBody<B, J, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardedBody")
            .field("inner", &self.inner)
            .field("is_settled", &self.is_settled())
            .finish_non_exhaustive()
    }
}
