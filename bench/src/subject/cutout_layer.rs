//! This crate's layer before a tower service.

use cutout::adapters::tower::{AtResult, BreakerLayer, BreakerService};
use cutout::classify::ByResult;
use cutout::{BreakerRef, CallError};
use tower::Layer;

use super::cutout_rs::seen;
use super::upstream::{self, Request, Upstream};
use super::{Caller, Seen, Subject};

type Service<R> = BreakerService<Upstream, AtResult<ByResult>, R>;

/// A service before which a breaker stands that is shared or borrowed.
pub(super) struct Layered<R> {
    breaker: R,
    service: Service<R>,
}

impl<R: BreakerRef> Layered<R> {
    pub(super) fn new(breaker: R) -> Self {
        let service = BreakerLayer::new(breaker.clone()).layer(Upstream);
        Self { breaker, service }
    }
}

impl<R: BreakerRef> Caller for Service<R> {
    #[inline(always)]
    fn call(&mut self, fails: bool) -> bool {
        let result = upstream::through(self, Request::that(fails));
        !matches!(result, Err(CallError::Rejected(_)))
    }
}

impl<R: BreakerRef + Send + Sync + 'static> Subject for Layered<R> {
    type Caller<'a> = Service<R>;

    fn caller(&self) -> Service<R> {
        self.service.clone()
    }

    fn state(&self) -> Seen {
        seen(self.breaker.breaker())
    }
}
