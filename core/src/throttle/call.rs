//! Calls made through the throttle.

use core::future::Future;

use crate::breaker::guard::Guard;
use crate::breaker::nested::of_error;
use crate::breaker::rejected::CallError;
use crate::contract::clock::Clock;
use crate::contract::outcome::{Outcome, Report};
use crate::throttle::Throttle;

impl<C: Clock> Throttle<C> {
    /// Makes a call if it is admitted: `Ok` is a success, `Err` a failure, unless it is the rejection of a
    /// breaker or another throttle, which is ignored.
    ///
    /// # Errors
    ///
    /// [`CallError::Rejected`] if the throttle did not admit the call, which was then not made;
    /// [`CallError::Inner`] with the call's own error.
    ///
    /// # Panics
    ///
    /// Passes on a panic of `call`, which counts as [`ThrottleConfig::panicked`](crate::ThrottleConfig::panicked) says.
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::Throttle;
    ///
    /// let throttle = Throttle::builder().build()?;
    /// assert_eq!(throttle.call(|| "42".parse::<u32>()).unwrap(), 42);
    /// assert_eq!(throttle.share().accepts, 1);
    /// # Ok::<(), cutout::ConfigError>(())
    /// ```
    #[inline]
    pub fn call<T, E: 'static>(
        &self,
        call: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        self.call_with(call, outcome_of)
    }

    /// Makes a call if it is admitted, and lets `classify` say what its result means.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    ///
    /// # Panics
    ///
    /// As [`call`](Self::call); a panic of `classify` is like one of `call`.
    #[inline]
    pub fn call_with<T, E: 'static, R: Into<Report>>(
        &self,
        call: impl FnOnce() -> Result<T, E>,
        classify: impl FnOnce(&Result<T, E>) -> R,
    ) -> Result<T, CallError<E>> {
        let permit = self.allow()?;
        let result = call();
        permit.done(classify(&result));
        result.map_err(CallError::Inner)
    }

    /// As [`call`](Self::call), for calls that are awaited, on any runtime or none.
    ///
    /// # Cancel safety
    ///
    /// A future that is dropped before it is done settles its permit as
    /// [`ThrottleConfig::abandoned`](crate::ThrottleConfig::abandoned) says.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    ///
    /// # Panics
    ///
    /// As [`call`](Self::call).
    #[inline]
    pub async fn call_async<T, E, F>(&self, call: impl FnOnce() -> F) -> Result<T, CallError<E>>
    where
        E: 'static,
        F: Future<Output = Result<T, E>>,
    {
        self.call_async_with(call, outcome_of).await
    }

    /// As [`call_with`](Self::call_with), for calls that are awaited.
    ///
    /// # Cancel safety
    ///
    /// As [`call_async`](Self::call_async).
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    ///
    /// # Panics
    ///
    /// As [`call_with`](Self::call_with).
    pub async fn call_async_with<T, E, F, R>(
        &self,
        call: impl FnOnce() -> F,
        classify: impl FnOnce(&Result<T, E>) -> R,
    ) -> Result<T, CallError<E>>
    where
        E: 'static,
        F: Future<Output = Result<T, E>>,
        R: Into<Report>,
    {
        let mut guard = Guard::new(self.allow()?, ());
        let result = guard.call(call).await;
        if let Some((permit, ())) = guard.take() {
            permit.done(classify(&result));
        }
        result.map_err(CallError::Inner)
    }
}

fn outcome_of<T, E: 'static>(result: &Result<T, E>) -> Outcome {
    match result {
        Ok(_) => Outcome::Success,
        Err(error) => of_error(error),
    }
}
