//! What to do in place of a call that was not admitted.

use core::future::Future;

use crate::breaker::rejected::{CallError, Rejected};

mod sealed {
    use crate::breaker::rejected::CallError;

    pub trait Sealed {}

    impl<T, E> Sealed for Result<T, CallError<E>> {}
}

/// Fallbacks on the result of a call made through a breaker, with the rejection in hand.
///
/// A fallback takes the place of a call that was *not made*. For one that was made and
/// failed, [`Result::or_else`] has the whole [`CallError`] in hand; whether to fall
/// back then too is another question. The page [`guide::fallback`](crate::guide::fallback) has an
/// answer from a cache, a default, another upstream and an older model.
///
/// # Examples
///
/// ```
/// use cutout::{Breaker, Fallback};
///
/// let breaker = Breaker::builder().name("prices").build()?;
/// breaker.force_open(None, "maintenance");
///
/// let price: Result<f64, std::io::Error> = breaker
///     .call(|| Ok(9.90))
///     .or_rejected(|rejected| {
///         eprintln!("an old price, since the {rejected}");
///         Ok(9.80)
///     });
/// assert_eq!(price.unwrap(), 9.80);
/// # Ok::<(), cutout::ConfigError>(())
/// ```
pub trait Fallback<T, E>: sealed::Sealed + Sized {
    /// The call's own result, or what `fallback` makes of the rejection.
    ///
    /// # Errors
    ///
    /// The call's own error, or the fallback's.
    fn or_rejected(self, fallback: impl FnOnce(Rejected) -> Result<T, E>) -> Result<T, E>;

    /// As [`or_rejected`](Self::or_rejected), with a fallback that is awaited.
    ///
    /// # Cancel safety
    ///
    /// The call is over by now: dropping this drops the fallback, and nothing else.
    ///
    /// # Errors
    ///
    /// The call's own error, or the fallback's.
    fn or_rejected_async<F: Future<Output = Result<T, E>>>(
        self,
        fallback: impl FnOnce(Rejected) -> F,
    ) -> impl Future<Output = Result<T, E>>;
}

impl<T, E> Fallback<T, E> for Result<T, CallError<E>> {
    #[inline]
    fn or_rejected(self, fallback: impl FnOnce(Rejected) -> Result<T, E>) -> Result<T, E> {
        match self {
            Ok(answer) => Ok(answer),
            Err(CallError::Inner(error)) => Err(error),
            Err(CallError::Rejected(rejected)) => fallback(rejected),
        }
    }

    #[inline]
    async fn or_rejected_async<F: Future<Output = Result<T, E>>>(
        self,
        fallback: impl FnOnce(Rejected) -> F,
    ) -> Result<T, E> {
        match self {
            Ok(answer) => Ok(answer),
            Err(CallError::Inner(error)) => Err(error),
            Err(CallError::Rejected(rejected)) => fallback(rejected).await,
        }
    }
}
