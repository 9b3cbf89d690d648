//! The body with limits.

use core::error::Error;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::adapters::body::GuardedBody;
use crate::breaker::breaker_ref::AnyPermit;
use crate::breaker::permit::OwnedPermit;
use crate::contract::outcome::Outcome;
use crate::wrap::classify::{ByResult, Judge};
use crate::wrap::stream_limits::{Elapsed, Limits, Timer, Waiting};

pin_project! {
    /// A guarded body with limits, made by [`GuardedBody::limits`].
    ///
    /// # Cancel safety
    ///
    /// As of [`GuardedBody`].
    ///
    /// # Panics
    ///
    /// As [`GuardedBody`]; a panic of the timer is not the upstream's.
    pub struct LimitedBody<B, T, J = ByResult, P = OwnedPermit>
    where
        T: Timer,
        P: AnyPermit,
    {
        #[pin]
        body: GuardedBody<B, J, P>,
        #[pin]
        waiting: Waiting<T>,
        over: bool,
    }
}

impl<B, T: Timer, J, P: AnyPermit> LimitedBody<B, T, J, P> {
    pub(super) const fn new(body: GuardedBody<B, J, P>, limits: Limits, timer: T) -> Self {
        Self {
            body,
            waiting: Waiting::new(timer, limits),
            over: false,
        }
    }

    /// The body without its limits.
    pub const fn get_ref(&self) -> &GuardedBody<B, J, P> {
        &self.body
    }

    /// The body without its limits.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut GuardedBody<B, J, P>> {
        self.project().body
    }
}

/// The error of a [`LimitedBody`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError<E> {
    /// A limit was reached; the body has ended.
    Elapsed(Elapsed),
    /// The body's own error.
    Inner(E),
}

impl<E: fmt::Display> fmt::Display for BodyError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elapsed(elapsed) => elapsed.fmt(f),
            Self::Inner(error) => error.fmt(f),
        }
    }
}

impl<E: Error + 'static> Error for BodyError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Elapsed(_) => None,
            Self::Inner(error) => error.source(),
        }
    }
}

impl<B, T, J, P> Body for LimitedBody<B, T, J, P>
where
    B: Body,
    T: Timer,
    J: Judge<Result<Frame<B::Data>, B::Error>>,
    P: AnyPermit,
{
    type Data = B::Data;
    type Error = BodyError<B::Error>;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, Self::Error>>> {
        let mut this = self.project();
        if *this.over {
            return Poll::Ready(None);
        }
        if let Poll::Ready(next) = this.body.as_mut().poll_frame(cx) {
            this.waiting.end();
            return Poll::Ready(next.map(|frame| frame.map_err(BodyError::Inner)));
        }
        let elapsed = ready!(this.waiting.poll_elapsed(cx));
        this.body.settle(Outcome::Timeout);
        *this.over = true;
        Poll::Ready(Some(Err(BodyError::Elapsed(elapsed))))
    }

    fn is_end_stream(&self) -> bool {
        self.over || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.over {
            return SizeHint::with_exact(0);
        }
        self.body.size_hint()
    }
}

impl<B: fmt::Debug, T: Timer, J, P: AnyPermit> fmt::Debug for LimitedBody<B, T, J, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitedBody")
            .field("body", &self.body)
            .field("over", &self.over)
            .finish_non_exhaustive()
    }
}
