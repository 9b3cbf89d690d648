//! Async calls made through the breaker, on any runtime or none.

use core::future::Future;

use crate::breaker::Breaker;
use crate::breaker::guard::Guard;
use crate::breaker::nested::of_error;
use crate::breaker::rejected::CallError;
use crate::contract::clock::Clock;
use crate::contract::outcome::{Outcome, Report};

impl<C: Clock> Breaker<C> {
    /// Makes an async call if it is admitted: `Ok` is a success, `Err` a failure, unless it is
    /// the rejection of another breaker, which is ignored.
    ///
    /// It needs no runtime and no feature. `call` takes a closure that returns a
    /// future, or an `async` closure. It runs when the returned future is first polled,
    /// after admission: a rejected call is not made and its future is not created.
    ///
    /// # Cancel safety
    ///
    /// A future that is dropped before it is done settles its permit as
    /// [`Config::abandoned`](crate::Config::abandoned) says: ignored by default, so a
    /// client that hangs up does not speak against the upstream. The slot of a probe is
    /// free at once. Dropped before the first poll, it has asked for nothing.
    ///
    /// # Errors
    ///
    /// [`CallError::Rejected`] if the breaker did not admit the call, which
    /// was then not made; [`CallError::Inner`] with the call's own error.
    ///
    /// # Panics
    ///
    /// Passes on a panic of `call` or its future, which counts as
    /// [`Config::panicked`](crate::Config::panicked) says. A panic of anybody else that drops
    /// this future, say of another branch of a `join!`, says nothing about the upstream: the call is abandoned.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::{future::Future, pin::pin, task::{Context, Poll, Waker}};
    /// # fn block_on<F: Future>(future: F) -> F::Output {
    /// #     let mut future = pin!(future);
    /// #     loop {
    /// #         if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
    /// #             return output;
    /// #         }
    /// #     }
    /// # }
    /// use cutout::{Breaker, CallError, Config};
    ///
    /// async fn fetch(id: u32) -> Result<String, std::io::Error> {
    ///     Ok(format!("record {id}"))
    /// }
    ///
    /// # block_on(async {
    /// let breaker = Breaker::new(Config::default())?;
    /// match breaker.call_async(async || fetch(7).await).await {
    ///     Ok(record) => assert_eq!(record, "record 7"),
    ///     Err(CallError::Rejected(rejected)) => println!("{rejected}"),
    ///     Err(CallError::Inner(error)) => println!("{error}"),
    /// }
    /// # Ok::<(), cutout::ConfigError>(())
    /// # }).unwrap();
    /// ```
    #[inline]
    pub async fn call_async<T, E, F>(&self, call: impl FnOnce() -> F) -> Result<T, CallError<E>>
    where
        E: 'static,
        F: Future<Output = Result<T, E>>,
    {
        self.call_async_with(call, |result| match result {
            Ok(_) => Outcome::Success,
            Err(error) => of_error(error),
        })
        .await
    }

    /// Makes an async call if it is admitted, and lets `classify` say what its result
    /// means.
    ///
    /// # Cancel safety
    ///
    /// As [`call_async`](Self::call_async).
    ///
    /// # Errors
    ///
    /// As [`call_async`](Self::call_async).
    ///
    /// # Panics
    ///
    /// Passes on a panic of `call`, its future or `classify`, which counts as
    /// [`Config::panicked`](crate::Config::panicked) says.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::{Error, ErrorKind};
    /// use cutout::{Breaker, CallError, Outcome};
    ///
    /// async fn fetch(breaker: &Breaker) -> Result<Vec<u8>, CallError<Error>> {
    ///     let read = async || Err(Error::from(ErrorKind::NotFound));
    ///     breaker
    ///         .call_async_with(read, |result| match result {
    ///             Ok(_) => Outcome::Success,
    ///             // An upstream that looked it up works.
    ///             Err(error) if error.kind() == ErrorKind::NotFound => Outcome::Answered,
    ///             Err(_) => Outcome::Failure,
    ///         })
    ///         .await
    /// }
    /// ```
    #[inline]
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
