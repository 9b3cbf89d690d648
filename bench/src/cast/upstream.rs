//! A tower service for the layers to stand before, and the calls through it.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tower::Service;

/// What the upstream shall do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Request {
    Succeed,
    Fail,
    Hang,
}

impl Request {
    pub(super) const fn that(fails: bool) -> Self {
        if fails { Self::Fail } else { Self::Succeed }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Upstream;

impl Service<Request> for Upstream {
    type Response = ();
    type Error = ();
    type Future = Reply;

    #[inline]
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ()>> {
        Poll::Ready(Ok(()))
    }

    #[inline]
    fn call(&mut self, request: Request) -> Reply {
        Reply(request)
    }
}

pub(super) struct Reply(Request);

impl Future for Reply {
    type Output = Result<(), ()>;

    #[inline]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        match self.0 {
            Request::Succeed => Poll::Ready(Ok(())),
            Request::Fail => Poll::Ready(Err(())),
            Request::Hang => Poll::Pending,
        }
    }
}

/// For what may wait: an async mutex that another thread holds, or a timer.
pub(super) static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build()
        .expect("a runtime can be built")
});

/// After so long a service that says it is not ready is asked again, woken or not.
const ASKED_AGAIN: Duration = Duration::from_millis(10);

/// Makes a service ready and calls it, as an executor would.
#[inline(always)]
pub(super) fn through<S: Service<Request>>(
    service: &mut S,
    request: Request,
) -> Result<S::Response, S::Error> {
    if let Poll::Ready(ready) = service.poll_ready(&mut unwatched()) {
        ready?;
    } else {
        wait_until_ready(service)?;
    }
    let mut call = pin!(service.call(request));
    match call.as_mut().poll(&mut unwatched()) {
        Poll::Ready(result) => result,
        Poll::Pending => RUNTIME.block_on(call),
    }
}

/// The first poll of everything: most is ready then, and what is not is polled again by the
/// runtime, whose waker takes the place of this one.
#[inline(always)]
fn unwatched() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// Asks until the service is ready, at least every [`ASKED_AGAIN`].
///
/// A service has to wake whom it told to wait. `tower-resilience` may not: where its mutex is
/// taken it begins to sleep for a millisecond, polls that sleep once and answers "pending" whatever the poll
/// said. A thread that is preempted in between for longer than a millisecond finds
/// the sleep over, and over it wakes nobody.
#[cold]
fn wait_until_ready<S: Service<Request>>(service: &mut S) -> Result<(), S::Error> {
    RUNTIME.block_on(async {
        loop {
            let ready = poll_fn(|cx| service.poll_ready(cx));
            if let Ok(ready) = timeout(ASKED_AGAIN, ready).await {
                return ready;
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not ready so often, and wakes nobody.
    struct Forgetful(u32);

    impl Service<Request> for Forgetful {
        type Response = ();
        type Error = ();
        type Future = Reply;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ()>> {
            match self.0.checked_sub(1) {
                None => Poll::Ready(Ok(())),
                Some(left) => {
                    self.0 = left;
                    Poll::Pending
                }
            }
        }

        fn call(&mut self, request: Request) -> Reply {
            Reply(request)
        }
    }

    #[test]
    fn a_service_that_wakes_nobody_is_asked_again() {
        assert_eq!(through(&mut Forgetful(3), Request::Succeed), Ok(()));
    }
}
