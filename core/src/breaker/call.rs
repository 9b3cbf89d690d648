//! Calls made through the breaker.

use crate::breaker::Breaker;
use crate::breaker::nested::of_error;
use crate::breaker::rejected::CallError;
use crate::contract::clock::Clock;
use crate::contract::outcome::{Outcome, Report};

impl<C: Clock> Breaker<C> {
    /// Makes a call if it is admitted: `Ok` is a success, `Err` a failure, unless it is the
    /// rejection of another breaker, which is ignored.
    ///
    /// Allocates nothing by itself, but at the first rejection of each error type `E` in a process some words that stay: other
    /// breakers find by them that a `CallError<E>` may be a rejection.
    ///
    /// # Errors
    ///
    /// [`CallError::Rejected`] if the breaker did not admit the call, which
    /// was then not made; [`CallError::Inner`] with the call's own error.
    ///
    /// # Panics
    ///
    /// Passes on a panic of `call`, which counts as
    /// [`Config::panicked`](crate::Config::panicked) says.
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::{Breaker, CallError, Config};
    ///
    /// let breaker = Breaker::new(Config::default())?;
    /// match breaker.call(|| "42".parse::<u32>()) {
    ///     Ok(answer) => assert_eq!(answer, 42),
    ///     Err(CallError::Rejected(rejected)) => println!("{rejected}"),
    ///     Err(CallError::Inner(error)) => println!("{error}"),
    /// }
    /// # Ok::<(), cutout::ConfigError>(())
    /// ```
    #[inline(always)]
    pub fn call<T, E: 'static>(
        &self,
        call: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        self.call_with(call, |result| match result {
            Ok(_) => Outcome::Success,
            Err(error) => of_error(error),
        })
    }

    /// Makes a call if it is admitted, and lets `classify` say what its result means.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    ///
    /// # Panics
    ///
    /// Passes on a panic of `call` or `classify`, which counts as
    /// [`Config::panicked`](crate::Config::panicked) says.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::{Error, ErrorKind};
    /// use cutout::{Breaker, Config, Outcome};
    ///
    /// let breaker = Breaker::new(Config::default())?;
    /// let _ = breaker.call_with(
    ///     || Err::<(), _>(Error::from(ErrorKind::NotFound)),
    ///     |result| match result {
    ///         Ok(()) => Outcome::Success,
    ///         // An upstream that looked it up works.
    ///         Err(error) if error.kind() == ErrorKind::NotFound => Outcome::Answered,
    ///         Err(error) if error.kind() == ErrorKind::TimedOut => Outcome::Timeout,
    ///         Err(_) => Outcome::Failure,
    ///     },
    /// );
    /// assert_eq!(breaker.snapshot().counts().failures, 0);
    /// # Ok::<(), cutout::ConfigError>(())
    /// ```
    #[inline(always)]
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
}
