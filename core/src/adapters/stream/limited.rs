//! The stream with limits.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};

use futures_core::Stream;
use pin_project_lite::pin_project;

use crate::adapters::stream::GuardedStream;
use crate::breaker::gate::AnyPermit;
use crate::breaker::permit::OwnedPermit;
use crate::wrap::classify::{ByResult, Judge};
use crate::wrap::stream_limits::{Elapsed, Limits, Timer, Waiting};

pin_project! {
    /// A guarded stream with limits, made by [`GuardedStream::limits`].
    ///
    /// Its items are results: after an [`Elapsed`] it ends.
    ///
    /// # Cancel safety
    ///
    /// As of [`GuardedStream`].
    ///
    /// # Panics
    ///
    /// As [`GuardedStream`]; a panic of the timer is not the upstream's.
    pub struct LimitedStream<S, T, J = ByResult, P = OwnedPermit>
    where
        T: Timer,
        P: AnyPermit,
    {
        #[pin]
        stream: GuardedStream<S, J, P>,
        #[pin]
        waiting: Waiting<T>,
    }
}

impl<S, J, P: AnyPermit> GuardedStream<S, J, P> {
    /// Limits how long the stream may keep its consumer waiting.
    pub const fn limits<T: Timer>(self, limits: Limits, timer: T) -> LimitedStream<S, T, J, P> {
        LimitedStream {
            stream: self,
            waiting: Waiting::new(timer, limits),
        }
    }
}

impl<S, T: Timer, J, P: AnyPermit> LimitedStream<S, T, J, P> {
    /// The stream without its limits.
    pub const fn get_ref(&self) -> &GuardedStream<S, J, P> {
        &self.stream
    }

    /// The stream without its limits.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut GuardedStream<S, J, P>> {
        self.project().stream
    }
}

impl<S, T, J, P> Stream for LimitedStream<S, T, J, P>
where
    S: Stream,
    T: Timer,
    J: Judge<S::Item>,
    P: AnyPermit,
{
    type Item = Result<S::Item, Elapsed>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        if this.waiting.is_over() {
            return Poll::Ready(None);
        }
        let polled = this.stream.as_mut().poll_next(cx);
        this.waiting.limit(cx, polled, this.stream.guard())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        if self.waiting.is_over() {
            return (0, Some(0));
        }
        // At any moment an `Elapsed` may take the place of all that is left.
        let (least, most) = self.stream.size_hint();
        (least.min(1), most.and_then(|most| most.checked_add(1)))
    }
}

impl<S: fmt::Debug, T: Timer, J, P: AnyPermit> fmt::Debug for LimitedStream<S, T, J, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitedStream")
            .field("stream", &self.stream)
            .field("over", &self.waiting.is_over())
            .finish_non_exhaustive()
    }
}
