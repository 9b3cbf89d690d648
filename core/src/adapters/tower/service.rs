//! The service: a look at the breaker before the inner service is readied, admission when it
//! is called.

use alloc::sync::Arc;
use core::fmt;
use core::task::{Context, Poll, ready};

use tower_service::Service;

use crate::adapters::tower::{AtResult, ResponseFuture, Settle};
use crate::breaker::Breaker;
use crate::breaker::gate::Gate;
use crate::breaker::rejected::{CallError, Rejected};
use crate::wrap::classify::ByResult;

/// A service behind a breaker, made by a [`BreakerLayer`](crate::adapters::tower::BreakerLayer).
///
/// How it admits is said in the [module's docs](crate::adapters::tower).
pub struct BreakerService<S, K = AtResult<ByResult>, R = Arc<Breaker>> {
    pub(super) inner: S,
    pub(super) breaker: R,
    pub(super) settle: K,
    /// What the breaker said when it was asked for readiness, if it refused. Then the inner
    /// service was not readied and may not be called.
    refused: Option<Rejected>,
}

impl<S, K, R> BreakerService<S, K, R> {
    pub(super) const fn new(inner: S, breaker: R, settle: K) -> Self {
        Self {
            inner,
            breaker,
            settle,
            refused: None,
        }
    }

    /// The breaker.
    pub const fn breaker(&self) -> &R {
        &self.breaker
    }

    /// The service behind the breaker.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The service behind the breaker. Calls made to it are not counted.
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// Takes the breaker away.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, K, R, Request> Service<Request> for BreakerService<S, K, R>
where
    S: Service<Request, Error: 'static>,
    K: Settle<S::Response, S::Error, R::Permit> + Clone,
    R: Gate,
{
    type Response = K::Response;
    type Error = CallError<S::Error>;
    type Future = ResponseFuture<S::Future, K, R::Permit>;

    #[inline]
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        if let Some(refused) = self.breaker.refusal() {
            self.refused = Some(refused);
            return Poll::Ready(Ok(()));
        }
        self.refused = None;
        Poll::Ready(match ready!(self.inner.poll_ready(cx)) {
            Ok(()) => Ok(()),
            Err(error) => Err(CallError::Inner(
                self.count_unready::<S::Response, S::Error>(error),
            )),
        })
    }

    #[inline]
    fn call(&mut self, request: Request) -> Self::Future {
        let admission = match self.refused.take() {
            None => self.breaker.admit(),
            Some(refused) => Err(self.breaker.reject(refused)),
        };
        match admission {
            Ok(permit) => {
                ResponseFuture::admitted(self.inner.call(request), permit, self.settle.clone())
            }
            Err(rejected) => ResponseFuture::rejected(rejected),
        }
    }
}

impl<S, K, R: Gate> BreakerService<S, K, R> {
    /// A service that cannot get ready, say for want of a connection, is a failed call.
    #[cold]
    fn count_unready<T, E>(&self, error: E) -> E
    where
        K: Settle<T, E, R::Permit>,
    {
        match self.breaker.admit() {
            Ok(permit) => self.settle.settle_error(error, permit),
            Err(_) => error,
        }
    }
}

impl<S: Clone, K: Clone, R: Clone> Clone for BreakerService<S, K, R> {
    fn clone(&self) -> Self {
        Self::new(
            self.inner.clone(),
            self.breaker.clone(),
            self.settle.clone(),
        )
    }
}

impl<S: fmt::Debug, K, R: fmt::Debug> fmt::Debug for BreakerService<S, K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BreakerService")
            .field("inner", &self.inner)
            .field("breaker", &self.breaker)
            .finish_non_exhaustive()
    }
}
