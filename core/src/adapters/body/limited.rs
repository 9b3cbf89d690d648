//! The body with limits.

use core::error::Error;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::adapters::body::GuardedBody;
use crate::breaker::gate::AnyPermit;
use crate::breaker::permit::OwnedPermit;
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
    }
}

impl<B, J, P: AnyPermit> GuardedBody<B, J, P> {
    /// Limits how long the body may keep its consumer waiting.
    pub const fn limits<T: Timer>(self, limits: Limits, timer: T) -> LimitedBody<B, T, J, P> {
        LimitedBody {
            body: self,
            waiting: Waiting::new(timer, limits),
        }
    }
}

impl<B, T: Timer, J, P: AnyPermit> LimitedBody<B, T, J, P> {
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
        if this.waiting.is_over() {
            return Poll::Ready(None);
        }
        let polled = this.body.as_mut().poll_frame(cx);
        let limited = this.waiting.limit(cx, polled, this.body.guard());
        limited.map(|next| {
            next.map(|frame| match frame {
                Ok(frame) => frame.map_err(BodyError::Inner),
                Err(elapsed) => Err(BodyError::Elapsed(elapsed)),
            })
        })
    }

    fn is_end_stream(&self) -> bool {
        self.waiting.is_over() || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.waiting.is_over() {
            return SizeHint::with_exact(0);
        }
        self.body.size_hint()
    }
}

impl<B: fmt::Debug, T: Timer, J, P: AnyPermit> fmt::Debug for LimitedBody<B, T, J, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitedBody")
            .field("body", &self.body)
            .field("over", &self.waiting.is_over())
            .finish_non_exhaustive()
    }
}
