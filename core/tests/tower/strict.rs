//! A service that holds its callers to the contract, and tells what they did.

use std::fmt;
use std::future::{Pending, Ready, pending, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use futures_util::future::Either;
use tower::Service;

/// What the service is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    Answer,
    Fail,
    Hang,
    PanicInCall,
    PanicInFuture,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failed;

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the upstream failed")
    }
}

impl std::error::Error for Failed {}

/// What all clones of a service have seen.
#[derive(Debug, Default)]
pub(crate) struct Upstream {
    pub(crate) busy: AtomicBool,
    pub(crate) broken: AtomicBool,
    clones: AtomicU32,
    polls: AtomicU32,
    calls: Mutex<Vec<(u32, Ask)>>,
}

impl Upstream {
    /// How often it was asked whether it is ready.
    pub(crate) fn polls(&self) -> u32 {
        self.polls.load(Relaxed)
    }

    /// How often it was called.
    pub(crate) fn calls(&self) -> usize {
        self.calls.lock().unwrap().len()
    }

    /// Which clone was called last.
    pub(crate) fn last_called(&self) -> Option<u32> {
        self.calls.lock().unwrap().last().map(|(clone, _)| *clone)
    }

    pub(crate) fn service(self: &Arc<Self>) -> Strict {
        Strict {
            upstream: Arc::clone(self),
            number: self.clones.fetch_add(1, Relaxed),
            is_ready: false,
        }
    }
}

/// Panics when it is called without having been made ready.
#[derive(Debug)]
pub(crate) struct Strict {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) number: u32,
    is_ready: bool,
}

impl Clone for Strict {
    fn clone(&self) -> Self {
        self.upstream.service()
    }
}

impl Service<Ask> for Strict {
    type Response = u32;
    type Error = Failed;
    type Future = Either<Ready<Result<u32, Failed>>, Either<Pending<Result<u32, Failed>>, Panics>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        self.upstream.polls.fetch_add(1, Relaxed);
        if self.upstream.broken.load(Relaxed) {
            return Poll::Ready(Err(Failed));
        }
        if self.upstream.busy.load(Relaxed) {
            return Poll::Pending;
        }
        self.is_ready = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, ask: Ask) -> Self::Future {
        assert!(self.is_ready, "called without having been made ready");
        self.is_ready = false;
        let mut calls = self.upstream.calls.lock().unwrap();
        calls.push((self.number, ask));
        drop(calls);
        match ask {
            Ask::Answer => Either::Left(ready(Ok(self.number))),
            Ask::Fail => Either::Left(ready(Err(Failed))),
            Ask::Hang => Either::Right(Either::Left(pending())),
            Ask::PanicInCall => panic!("asked to"),
            Ask::PanicInFuture => Either::Right(Either::Right(Panics)),
        }
    }
}

pub(crate) struct Panics;

impl Future for Panics {
    type Output = Result<u32, Failed>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        panic!("asked to")
    }
}

/// What a service says when it is asked once whether it is ready.
pub(crate) fn poll_ready<S: Service<R>, R>(service: &mut S) -> Poll<Result<(), S::Error>> {
    service.poll_ready(&mut Context::from_waker(Waker::noop()))
}
