//! A service behind somebody's layer: each thread calls a clone of it.

use tower::Service;

use super::upstream::{self, Request};
use crate::subject::{Caller, Seen, Subject};

/// What came of a call through a layer.
pub(super) trait Answer {
    /// Whether the layer let the call through.
    fn is_admitted(&self) -> bool;
}

/// The service, and a look at the breaker before it.
pub(super) struct Layered<S, L> {
    pub(super) service: S,
    pub(super) look: L,
}

/// A clone of the service, for one thread.
pub(super) struct Through<S>(pub(super) S);

impl<S: Service<Request>> Caller for Through<S>
where
    Result<S::Response, S::Error>: Answer,
{
    #[inline(always)]
    fn call(&mut self, fails: bool) -> bool {
        upstream::through(&mut self.0, Request::that(fails)).is_admitted()
    }
}

impl<S, L> Subject for Layered<S, L>
where
    S: Service<Request> + Clone + Send + Sync + 'static,
    Result<S::Response, S::Error>: Answer,
    L: Fn() -> Seen + Send + Sync + 'static,
{
    type Caller<'a> = Through<S>;

    fn caller(&self) -> Through<S> {
        Through(self.service.clone())
    }

    fn state(&self) -> Seen {
        (self.look)()
    }
}
