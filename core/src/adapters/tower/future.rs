//! The response future, which owns the permit.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::adapters::tower::Settle;
use crate::breaker::gate::AnyPermit;
use crate::breaker::guard::Guard;
use crate::breaker::rejected::{CallError, Rejected};

pin_project! {
    /// The response of a [`BreakerService`](crate::adapters::tower::BreakerService).
    ///
    /// # Cancel safety
    ///
    /// It owns the permit: dropping it settles the call as abandoned, which is ignored unless
    /// [`Config::abandoned`](crate::Config::abandoned) says otherwise.
    ///
    /// # Panics
    ///
    /// When it is polled again after it was ready. A panic of the inner future or of what judges its result is
    /// passed on and settles the permit as [`Config::panicked`](crate::Config::panicked) says. A panic of anybody
    /// else that drops it abandons the call.
    pub struct ResponseFuture<F, K, P>
    where
        P: AnyPermit,
    {
        #[pin]
        state: State<F, K, P>,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<F, K, P>
    where
        P: AnyPermit,
    {
        Rejected { rejected: Option<Rejected> },
        Admitted { #[pin] call: F, guard: Guard<K, P> },
    }
}

impl<F, K, P: AnyPermit> ResponseFuture<F, K, P> {
    pub(super) const fn rejected(rejected: Rejected) -> Self {
        Self {
            state: State::Rejected {
                rejected: Some(rejected),
            },
        }
    }

    pub(super) const fn admitted(call: F, permit: P, settle: K) -> Self {
        Self {
            state: State::Admitted {
                call,
                guard: Guard::new(permit, settle),
            },
        }
    }
}

impl<F, K, P, T, E> Future for ResponseFuture<F, K, P>
where
    E: 'static,
    F: Future<Output = Result<T, E>>,
    K: Settle<T, E, P>,
    P: AnyPermit,
{
    type Output = Result<K::Response, CallError<E>>;

    // Always: with the landing pad of a call that panics it is a little too large for the compiler's taste, and where it
    // is not inlined the permit goes through memory twice, for twice the instructions.
    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().state.project() {
            StateProjection::Rejected { rejected } => match rejected.take() {
                Some(rejected) => Poll::Ready(Err(rejected.into())),
                None => polled_again(),
            },
            StateProjection::Admitted { call, guard } => {
                let unwinding = guard.unwinding();
                let polled = call.poll(cx);
                unwinding.over();
                let result = ready!(polled);
                match guard.take() {
                    Some((permit, settle)) => {
                        let result = settle.settle(result, permit);
                        Poll::Ready(result.map_err(CallError::Inner))
                    }
                    None => polled_again(),
                }
            }
        }
    }
}

#[cold]
fn polled_again() -> ! {
    panic!("a response future is polled again after it was ready")
}

impl<F, K, P: AnyPermit> fmt::Debug for ResponseFuture<F, K, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rejected = match &self.state {
            State::Rejected { rejected } => rejected.as_ref(),
            State::Admitted { .. } => None,
        };
        f.debug_struct("ResponseFuture")
            .field("rejected", &rejected)
            .finish_non_exhaustive()
    }
}
