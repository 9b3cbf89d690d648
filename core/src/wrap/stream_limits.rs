//! Limits on how long a stream may keep its consumer waiting.

use core::error::Error;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;

use pin_project_lite::pin_project;

use crate::breaker::gate::AnyPermit;
use crate::breaker::guard::Guard;
use crate::contract::outcome::Report;

/// What sleeps: a runtime's timer. A function is one, such as `tokio::time::sleep`.
pub trait Timer {
    /// Completes when the time is over.
    type Sleep: Future<Output = ()>;

    /// Starts to sleep.
    fn sleep(&self, duration: Duration) -> Self::Sleep;
}

impl<F, S> Timer for F
where
    F: Fn(Duration) -> S,
    S: Future<Output = ()>,
{
    type Sleep = S;

    fn sleep(&self, duration: Duration) -> S {
        self(duration)
    }
}

/// How long a stream may keep its consumer waiting. None by default.
///
/// Only the time in which the consumer waits counts: a consumer that is slow to ask for more does
/// not make its upstream late. A limit that ends much too late, since the process stood still, says nothing
/// of the upstream: see [`Report::timed_out`]. It is measured by the breaker's clock, and the timer by its own: both should go alike.
///
/// # Examples
///
/// ```
/// use core::time::Duration;
/// use cutout::adapters::stream::Limits;
///
/// let limits = Limits::new().first(Duration::from_secs(20)).idle(Duration::from_secs(5));
/// assert_eq!(limits.first, Some(Duration::from_secs(20)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "limits do nothing until a stream is given them"]
pub struct Limits {
    /// How long the first item may take.
    pub first: Option<Duration>,
    /// How long each later item, or the end, may take.
    pub idle: Option<Duration>,
}

impl Limits {
    /// No limits.
    pub const fn new() -> Self {
        Self {
            first: None,
            idle: None,
        }
    }

    /// Sets how long the first item may take.
    pub const fn first(mut self, limit: Duration) -> Self {
        self.first = Some(limit);
        self
    }

    /// Sets how long each later item, or the end, may take.
    pub const fn idle(mut self, limit: Duration) -> Self {
        self.idle = Some(limit);
        self
    }
}

/// A stream kept its consumer waiting for longer than a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed {
    limit: Duration,
    first: bool,
}

impl Elapsed {
    /// The limit that was reached.
    pub const fn limit(&self) -> Duration {
        self.limit
    }

    /// Whether it was that of the first item.
    pub const fn is_first(&self) -> bool {
        self.first
    }
}

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.first {
            "nothing arrived"
        } else {
            "nothing more arrived"
        };
        write!(f, "{what} within {:?}", self.limit)
    }
}

impl Error for Elapsed {}

pin_project! {
    /// The wait for the next item.
    pub(crate) struct Waiting<T: Timer> {
        timer: T,
        limits: Limits,
        begun: bool,
        // A limit was reached, which ends the stream.
        over: bool,
        // Set while the consumer waits.
        #[pin]
        sleep: Option<T::Sleep>,
        // When it began to wait, by the breaker's clock.
        since: Option<Duration>,
    }
}

impl<T: Timer> Waiting<T> {
    pub(crate) const fn new(timer: T, limits: Limits) -> Self {
        Self {
            timer,
            limits,
            begun: false,
            over: false,
            sleep: None,
            since: None,
        }
    }

    /// Whether a limit was reached: then nothing more comes.
    pub(crate) const fn is_over(&self) -> bool {
        self.over
    }

    /// What the consumer gets of a poll that came to `polled`: the next item, or once that a limit is reached, which
    /// settles the permit.
    pub(crate) fn limit<I, J, P: AnyPermit>(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        polled: Poll<Option<I>>,
        guard: &mut Guard<J, P>,
    ) -> Poll<Option<Result<I, Elapsed>>> {
        if let Poll::Ready(next) = polled {
            self.end();
            return Poll::Ready(next.map(Ok));
        }
        let elapsed = ready!(self.as_mut().poll_elapsed(cx, || guard.now()));
        let this = self.project();
        *this.over = true;
        let waited = match (*this.since, guard.now()) {
            (Some(since), Some(now)) => now.saturating_sub(since),
            _ => Duration::ZERO,
        };
        guard.settle(Report::timed_out(elapsed.limit, waited));
        Poll::Ready(Some(Err(elapsed)))
    }

    /// An item has arrived.
    #[inline]
    fn end(self: Pin<&mut Self>) {
        let mut this = self.project();
        *this.begun = true;
        if this.sleep.is_some() {
            this.sleep.set(None);
        }
    }

    /// Nothing has arrived: ready when the limit is reached.
    fn poll_elapsed(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        now: impl FnOnce() -> Option<Duration>,
    ) -> Poll<Elapsed> {
        let mut this = self.project();
        let first = !*this.begun;
        let limit = if first {
            this.limits.first
        } else {
            this.limits.idle
        };
        let Some(limit) = limit else {
            return Poll::Pending;
        };
        if this.sleep.is_none() {
            // Before the timer starts: what it takes to start is no part of its time.
            *this.since = now();
            this.sleep.set(Some(this.timer.sleep(limit)));
        }
        if let Some(sleep) = this.sleep.as_pin_mut() {
            ready!(sleep.poll(cx));
        }
        Poll::Ready(Elapsed { limit, first })
    }
}
