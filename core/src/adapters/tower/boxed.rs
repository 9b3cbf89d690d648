//! The layer whose services' errors are boxed, as layers of `tower` want them.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::error::Error;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use crate::adapters::tower::{AtResult, BreakerLayer, BreakerService};
use crate::breaker::Breaker;
use crate::breaker::rejected::CallError;
use crate::wrap::classify::ByResult;

type BoxError = Box<dyn Error + Send + Sync>;

/// A [`BreakerLayer`] whose services come to boxed errors, made by [`BreakerLayer::boxed`].
#[derive(Clone, Debug)]
pub struct BoxedLayer<K = AtResult<ByResult>, R = Arc<Breaker>>(BreakerLayer<K, R>);

impl<K, R> BreakerLayer<K, R> {
    /// Boxes the errors of its services, as [`CallError::into_boxed`](crate::CallError::into_boxed) does, for layers of
    /// `tower` before it. Those of `tower` that box errors cannot take a `CallError` of an error that is boxed.
    ///
    /// # Examples
    ///
    /// A breaker between two time limits: one for all of it, one for each call.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    /// use cutout::adapters::tower::BreakerLayer;
    /// use cutout::{Breaker, Outcome, Rejected};
    /// use tower::timeout::{TimeoutLayer, error::Elapsed};
    /// use tower::{BoxError, ServiceBuilder, ServiceExt};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), BoxError> {
    /// let breaker = Arc::new(Breaker::builder().consecutive_failures(1).build()?);
    /// let judge = |result: Result<&(), &BoxError>| match result {
    ///     Ok(()) => Outcome::Success,
    ///     Err(error) if error.is::<Elapsed>() => Outcome::Timeout,
    ///     Err(_) => Outcome::Failure,
    /// };
    /// let service = ServiceBuilder::new()
    ///     .layer(TimeoutLayer::new(Duration::from_secs(10)))
    ///     .layer(BreakerLayer::new(breaker).classify(judge).boxed())
    ///     .layer(TimeoutLayer::new(Duration::from_secs(2)))
    ///     .service_fn(async |_: &str| std::future::pending::<Result<(), BoxError>>().await);
    ///
    /// let late = service.clone().oneshot("rust").await.unwrap_err();
    /// assert!(late.is::<Elapsed>());
    /// let rejected = service.oneshot("rust").await.unwrap_err();
    /// assert!(rejected.is::<Rejected>());
    /// # Ok(())
    /// # }
    /// ```
    pub const fn boxed(self) -> BoxedLayer<K, R> {
        BoxedLayer(self)
    }
}

impl<S, K: Clone, R: Clone> Layer<S> for BoxedLayer<K, R> {
    type Service = BoxedService<BreakerService<S, K, R>>;

    fn layer(&self, inner: S) -> Self::Service {
        BoxedService(self.0.layer(inner))
    }
}

/// A [`BreakerService`] whose errors are boxed, made by a [`BoxedLayer`].
#[derive(Clone, Debug)]
pub struct BoxedService<S>(S);

impl<S> BoxedService<S> {
    /// The service whose errors it boxes.
    pub const fn get_ref(&self) -> &S {
        &self.0
    }

    /// The service whose errors it boxes.
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.0
    }
}

impl<S, E, Request> Service<Request> for BoxedService<S>
where
    S: Service<Request, Error = CallError<E>>,
    E: Into<BoxError>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = BoxedFuture<S::Future>;

    #[inline]
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx).map_err(CallError::into_boxed)
    }

    #[inline]
    fn call(&mut self, request: Request) -> Self::Future {
        BoxedFuture {
            response: self.0.call(request),
        }
    }
}

pin_project! {
    /// The response of a [`BoxedService`].
    ///
    /// # Cancel safety
    ///
    /// That of the [`ResponseFuture`](crate::adapters::tower::ResponseFuture) in it.
    pub struct BoxedFuture<F> {
        #[pin]
        response: F,
    }
}

impl<F, T, E> Future for BoxedFuture<F>
where
    F: Future<Output = Result<T, CallError<E>>>,
    E: Into<BoxError>,
{
    type Output = Result<T, BoxError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.project().response.poll(cx);
        polled.map_err(CallError::into_boxed)
    }
}

impl<F: fmt::Debug> fmt::Debug for BoxedFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.response.fmt(f)
    }
}
