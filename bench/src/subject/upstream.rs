//! A tower service for the layers to stand before, and the calls through it.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use tokio::runtime::{Builder, Runtime};
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

/// Makes a service ready and calls it, as an executor would.
#[inline(always)]
pub(super) fn through<S: Service<Request>>(
    service: &mut S,
    request: Request,
) -> Result<S::Response, S::Error> {
    finish(poll_fn(|cx| service.poll_ready(cx)))?;
    finish(service.call(request))
}

/// Finishes a future: with one poll where nothing is in its way, and by waiting where
/// another thread holds what it needs.
#[inline(always)]
fn finish<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(output) => output,
        Poll::Pending => RUNTIME.block_on(future),
    }
}
