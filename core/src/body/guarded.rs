//! The body that carries a permit.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::body::LimitedBody;
use crate::classify::{ByResult, Judge};
use crate::clock::{Clock, SystemClock};
use crate::guard::Guard;
use crate::limit::{Limits, Timer};
use crate::outcome::{Report, Settled};
use crate::permit::OwnedPermit;

pin_project! {
    /// A body that settles a permit when it ends: see the [module's docs](crate::body).
    ///
    /// # Cancel safety
    ///
    /// Dropping it settles the permit as abandoned, if it is not settled.
    pub struct GuardedBody<B, J = ByResult, C = SystemClock>
    where
        C: Clock,
    {
        #[pin]
        inner: B,
        guard: Guard<J, C>,
    }
}

impl<B: Body, C: Clock> GuardedBody<B, ByResult, C> {
    /// Settles `permit` by the frames of `body`: an error is a failure.
    ///
    /// A body that says that it has ended settles at once.
    pub fn new(body: B, permit: OwnedPermit<C>) -> Self {
        Self::with_judge(body, permit, ByResult)
    }
}

impl<B, J, C> GuardedBody<B, J, C>
where
    B: Body,
    J: Judge<Result<Frame<B::Data>, B::Error>>,
    C: Clock,
{
    /// Settles `permit` by what `judge` says of the frames, the error and the end of `body`.
    ///
    /// A body that says that it has ended settles at once.
    pub fn with_judge(body: B, permit: OwnedPermit<C>, mut judge: J) -> Self {
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

impl<B, J, C: Clock> GuardedBody<B, J, C> {
    /// A body that has no permit to settle.
    pub fn settled(body: B) -> Self {
        Self {
            inner: body,
            guard: Guard::default(),
        }
    }

    /// Limits how long the body may keep its consumer waiting.
    pub const fn limits<T: Timer>(self, limits: Limits, timer: T) -> LimitedBody<B, T, J, C> {
        LimitedBody::new(self, limits, timer)
    }

    /// Settles the permit now, if it is not settled: for a consumer that knows better.
    pub fn settle(self: Pin<&mut Self>, report: impl Into<Report>) -> Option<Settled> {
        self.project().guard.settle(report.into())
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

impl<B, J, C> Body for GuardedBody<B, J, C>
where
    B: Body,
    J: Judge<Result<Frame<B::Data>, B::Error>>,
    C: Clock,
{
    type Data = B::Data;
    type Error = B::Error;

    #[inline]
    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let mut this = self.project();
        let inner = this.inner.as_mut();
        let next = ready!(this.guard.while_polling(|| inner.poll_frame(cx)));
        this.guard.judge(|judge| {
            let verdict = match &next {
                Some(frame) => judge.item(frame),
                None => Some(judge.end()),
            };
            // A consumer that sees the end need not ask for it.
            verdict.or_else(|| this.inner.is_end_stream().then(|| judge.end()))
        });
        Poll::Ready(next)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl<B: fmt::Debug, J, C: Clock> fmt::Debug for GuardedBody<B, J, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardedBody")
            .field("inner", &self.inner)
            .field("is_settled", &self.is_settled())
            .finish_non_exhaustive()
    }
}
