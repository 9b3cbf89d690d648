//! The service: a look at the breaker before the inner service is readied, admission when it
//! is called.

use alloc::sync::Arc;
use core::fmt;
use core::task::{Context, Poll, ready};

use tower_service::Service;

use crate::breaker::Breaker;
use crate::classify::ByResult;
use crate::clock::{Clock, SystemClock};
use crate::error::{CallError, Left, Rejected};
use crate::tower::{AtResult, ResponseFuture, Settle};

/// A service behind a breaker, made by a [`BreakerLayer`](crate::tower::BreakerLayer).
///
/// How it admits is said in the [module's docs](crate::tower).
pub struct BreakerService<S, K = AtResult<ByResult>, C: Clock = SystemClock> {
    inner: S,
    breaker: Arc<Breaker<C>>,
    settle: K,
    /// What the breaker said when it was asked for readiness, if it refused. Then the inner
    /// service was not readied and may not be called.
    refused: Option<Rejected>,
}

impl<S, K, C: Clock> BreakerService<S, K, C> {
    pub(super) const fn new(inner: S, breaker: Arc<Breaker<C>>, settle: K) -> Self {
        Self {
            inner,
            breaker,
            settle,
            refused: None,
        }
    }

    /// The breaker.
    pub const fn breaker(&self) -> &Arc<Breaker<C>> {
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

impl<S, K, C, Request> Service<Request> for BreakerService<S, K, C>
where
    S: Service<Request>,
    K: Settle<S::Response, S::Error, C> + Clone,
    C: Clock,
{
    type Response = K::Response;
    type Error = CallError<S::Error>;
    type Future = ResponseFuture<S::Future, K, C>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.refused = self.breaker.refusal();
        if self.refused.is_some() {
            return Poll::Ready(Ok(()));
        }
        Poll::Ready(match ready!(self.inner.poll_ready(cx)) {
            Ok(()) => Ok(()),
            Err(error) => Err(CallError::Inner(
                self.count_unready::<S::Response, S::Error>(error),
            )),
        })
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let admission = match self.refused.take() {
            None => self.breaker.allow_owned(),
            Some(refused) => Err(self.reject(refused)),
        };
        match admission {
            Ok(permit) => {
                ResponseFuture::admitted(self.inner.call(request), permit, self.settle.clone())
            }
            Err(rejected) => ResponseFuture::rejected(rejected),
        }
    }
}

impl<S, K, C: Clock> BreakerService<S, K, C> {
    /// Rejects a call that was refused when readiness was asked for, with the time left now.
    #[cold]
    fn reject(&self, refused: Rejected) -> Rejected {
        let now = self.breaker.refusal().unwrap_or(Rejected {
            left: Left::nanos(0),
            ..refused
        });
        self.breaker.reject(now.word, now.left)
    }

    /// A service that cannot get ready, say for want of a connection, is a failed call.
    #[cold]
    fn count_unready<T, E>(&self, error: E) -> E
    where
        K: Settle<T, E, C>,
    {
        match self.breaker.allow_owned() {
            Ok(permit) => self.settle.settle_error(error, permit),
            Err(_) => error,
        }
    }
}

impl<S: Clone, K: Clone, C: Clock> Clone for BreakerService<S, K, C> {
    fn clone(&self) -> Self {
        Self::new(
            self.inner.clone(),
            Arc::clone(&self.breaker),
            self.settle.clone(),
        )
    }
}

impl<S: fmt::Debug, K, C: Clock> fmt::Debug for BreakerService<S, K, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BreakerService")
            .field("inner", &self.inner)
            .field("breaker", &self.breaker)
            .finish_non_exhaustive()
    }
}
