//! Async calls with a time limit.

use core::error::Error;
use core::fmt;
use core::future::Future;
use core::time::Duration;

use tokio::time::{Instant, timeout};

use crate::breaker::Breaker;
use crate::breaker::gate::AnyPermit;
use crate::breaker::guard::Guard;
use crate::breaker::nested::{MayReject, is_rejection, of_error_in, remember};
use crate::breaker::rejected::{CallError, Rejected};
use crate::breaker::told::source_of_rejection;
use crate::contract::clock::Clock;
use crate::contract::outcome::{Outcome, Report};
use crate::throttle::Throttle;

/// The error of a call with a time limit: it was rejected, it took too long, or it
/// failed by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimedCallError<E> {
    /// The breaker or the throttle did not admit the call.
    Rejected(Rejected),
    /// The call was not done within this limit, was dropped, and counted as a timeout.
    TimedOut(Duration),
    /// The call was made and returned this error.
    Inner(E),
}

impl<E: fmt::Display> fmt::Display for TimedCallError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(rejected) => rejected.fmt(f),
            Self::TimedOut(limit) => write!(f, "the call was not done within {limit:?}"),
            Self::Inner(error) => error.fmt(f),
        }
    }
}

impl<E: Error + 'static> Error for TimedCallError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Rejected(_) => source_of_rejection(),
            Self::TimedOut(_) => None,
            Self::Inner(error) => error.source(),
        }
    }
}

impl<E: 'static> MayReject for TimedCallError<E> {
    fn is_rejection(&self) -> bool {
        match self {
            Self::Rejected(_) => true,
            Self::TimedOut(_) => false,
            Self::Inner(error) => is_rejection(error),
        }
    }
}

impl<E: 'static> From<Rejected> for TimedCallError<E> {
    fn from(rejected: Rejected) -> Self {
        remember::<Self>();
        Self::Rejected(rejected)
    }
}

impl<E> From<CallError<E>> for TimedCallError<E> {
    fn from(error: CallError<E>) -> Self {
        match error {
            CallError::Rejected(rejected) => Self::Rejected(rejected),
            CallError::Inner(error) => Self::Inner(error),
        }
    }
}

/// With the `tokio` feature.
impl<C: Clock> Breaker<C> {
    /// Makes an async call if it is admitted, and gives it up after `limit`: `Ok` is a
    /// success, `Err` a failure, giving up a timeout.
    ///
    /// The limit runs from admission. A limit that ends much too late says nothing of the
    /// upstream, since this process stood still: see [`Report::timed_out`]. As with any timeout, a call that blocks its
    /// thread is not interrupted, and what it gets done in the poll in which the limit
    /// ends still counts.
    ///
    /// # Cancel safety
    ///
    /// As [`call_async`](Self::call_async): dropped by its owner the call is abandoned,
    /// not timed out. So a timeout around this one that is shorter hides a hanging
    /// upstream from the breaker: keep `limit` the shorter of the two.
    ///
    /// # Errors
    ///
    /// [`TimedCallError::Rejected`] if the breaker did not admit the call, which was
    /// then not made; [`TimedCallError::TimedOut`]; [`TimedCallError::Inner`] with the
    /// call's own error.
    ///
    /// # Panics
    ///
    /// If it is polled outside a tokio runtime with its time driver enabled. Passes on a
    /// panic of `call` or its future, which counts as
    /// [`Config::panicked`](crate::Config::panicked) says.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use cutout::adapters::tokio::TimedCallError;
    /// use cutout::{Breaker, Config};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), cutout::ConfigError> {
    /// let breaker = Breaker::new(Config::default())?;
    /// let limit = Duration::from_millis(50);
    /// let hangs = async || std::future::pending::<Result<(), std::io::Error>>().await;
    ///
    /// let error = breaker.call_timeout(limit, hangs).await.unwrap_err();
    /// assert!(matches!(error, TimedCallError::TimedOut(after) if after == limit));
    /// assert_eq!(breaker.snapshot().counts().timeouts, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn call_timeout<T, E, F>(
        &self,
        limit: Duration,
        call: impl FnOnce() -> F,
    ) -> Result<T, TimedCallError<E>>
    where
        E: 'static,
        F: Future<Output = Result<T, E>>,
    {
        self.call_timeout_with(limit, call, outcome_of).await
    }

    /// As [`call_timeout`](Self::call_timeout), and lets `classify` say what a result
    /// means that came in time.
    ///
    /// # Cancel safety
    ///
    /// As [`call_timeout`](Self::call_timeout).
    ///
    /// # Errors
    ///
    /// As [`call_timeout`](Self::call_timeout).
    ///
    /// # Panics
    ///
    /// As [`call_timeout`](Self::call_timeout); a panic of `classify` is like one of
    /// `call`.
    pub async fn call_timeout_with<T, E, F, R>(
        &self,
        limit: Duration,
        call: impl FnOnce() -> F,
        classify: impl FnOnce(&Result<T, E>) -> R,
    ) -> Result<T, TimedCallError<E>>
    where
        E: 'static,
        F: Future<Output = Result<T, E>>,
        R: Into<Report>,
    {
        within(self.allow()?, limit, call, classify).await
    }
}

/// With the `tokio` feature.
impl<C: Clock> Throttle<C> {
    /// Makes an async call if it is admitted, and gives it up after `limit`, as
    /// [`Breaker::call_timeout`](crate::Breaker::call_timeout) does.
    ///
    /// # Cancel safety
    ///
    /// Dropped by its owner the call is abandoned, not timed out: see
    /// [`ThrottleConfig::abandoned`](crate::ThrottleConfig::abandoned).
    ///
    /// # Errors
    ///
    /// [`TimedCallError::Rejected`] if the throttle refused the call, which was then not made;
    /// [`TimedCallError::TimedOut`]; [`TimedCallError::Inner`] with the call's own error.
    ///
    /// # Panics
    ///
    /// As [`Breaker::call_timeout`](crate::Breaker::call_timeout).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use cutout::Throttle;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), cutout::ConfigError> {
    /// let throttle = Throttle::builder().build()?;
    /// let hangs = async || std::future::pending::<Result<(), std::io::Error>>().await;
    /// assert!(throttle.call_timeout(Duration::from_millis(50), hangs).await.is_err());
    /// assert_eq!(throttle.share().failures, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn call_timeout<T, E, F>(
        &self,
        limit: Duration,
        call: impl FnOnce() -> F,
    ) -> Result<T, TimedCallError<E>>
    where
        E: 'static,
        F: Future<Output = Result<T, E>>,
    {
        self.call_timeout_with(limit, call, outcome_of).await
    }

    /// As [`call_timeout`](Self::call_timeout), and lets `classify` say what a result
    /// means that came in time.
    ///
    /// # Cancel safety
    ///
    /// As [`call_timeout`](Self::call_timeout).
    ///
    /// # Errors
    ///
    /// As [`call_timeout`](Self::call_timeout).
    ///
    /// # Panics
    ///
    /// As [`call_timeout`](Self::call_timeout); a panic of `classify` is like one of
    /// `call`.
    pub async fn call_timeout_with<T, E, F, R>(
        &self,
        limit: Duration,
        call: impl FnOnce() -> F,
        classify: impl FnOnce(&Result<T, E>) -> R,
    ) -> Result<T, TimedCallError<E>>
    where
        E: 'static,
        F: Future<Output = Result<T, E>>,
        R: Into<Report>,
    {
        within(self.allow()?, limit, call, classify).await
    }
}

fn outcome_of<T, E: 'static>(result: &Result<T, E>) -> Outcome {
    match result {
        Ok(_) => Outcome::Success,
        Err(error) => of_error_in::<TimedCallError<E>, E>(error),
    }
}

/// Makes the call that this permit is for, and gives it up after `limit`.
async fn within<P: AnyPermit, T, E, F: Future<Output = Result<T, E>>, R: Into<Report>>(
    permit: P,
    limit: Duration,
    call: impl FnOnce() -> F,
    classify: impl FnOnce(&Result<T, E>) -> R,
) -> Result<T, TimedCallError<E>> {
    let mut guard = Guard::new(permit, ());
    let started = Instant::now();
    let Ok(result) = timeout(limit, guard.call(call)).await else {
        let elapsed = started.elapsed();
        guard.settle(Report::timed_out(limit, elapsed).elapsed(elapsed));
        return Err(TimedCallError::TimedOut(limit));
    };
    if let Some((permit, ())) = guard.take() {
        permit.done(classify(&result).into());
    }
    result.map_err(TimedCallError::Inner)
}
