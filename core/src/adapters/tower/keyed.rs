//! A breaker for each request, chosen by the request.

use core::fmt;
use core::task::{Context, Poll};

use tower_service::Service;

use crate::adapters::tower::{AtResult, BreakerLayer, BreakerService, ResponseFuture, Settle};
use crate::breaker::gate::Gate;
use crate::breaker::rejected::CallError;
use crate::wrap::classify::ByResult;

/// Chooses the breaker of each request: see [`BreakerLayer::keyed`].
#[derive(Clone, Copy)]
pub struct Keyed<F>(F);

impl<F> BreakerLayer<AtResult<ByResult>, Keyed<F>> {
    /// A layer that asks `breaker_of` through which breaker a request goes: by any function of
    /// it, most often over a registry.
    ///
    /// The request is not known before it comes, so readiness is that of the inner service, which
    /// all keys share. The permit is taken in `call`, and the inner service is not called for a
    /// request that is rejected. An inner service that fails to get ready counts for no key. Where the registry has throttles too,
    /// `breaker_of` gives what its `gate` does.
    ///
    /// # Examples
    ///
    /// A breaker for each tenant; tenants the registry has no room for share one:
    ///
    /// ```
    /// use std::sync::Arc;
    /// use cutout::registry::Registry;
    /// use cutout::adapters::tower::BreakerLayer;
    /// use cutout::{Breaker, CallError};
    /// use tower::{Layer, ServiceExt, service_fn};
    ///
    /// # futures_executor::block_on(async {
    /// let registry = Arc::new(Registry::builder(|tenant: &u32| format!("tenant {tenant}")).build()?);
    /// let rest = Arc::new(Breaker::builder().name("other tenants").build()?);
    /// let layer = {
    ///     let registry = registry.clone();
    ///     BreakerLayer::keyed(move |(tenant, _): &(u32, &str)| {
    ///         registry.get_or_create(tenant).unwrap_or_else(|_| rest.clone())
    ///     })
    /// };
    /// let service = layer.layer(service_fn(async |(_, query): (u32, &str)| {
    ///     Ok::<_, std::io::Error>(query.len())
    /// }));
    ///
    /// registry.get_or_create(&7)?.force_open(None, "did not pay");
    /// let result = service.clone().oneshot((7, "rust")).await;
    /// assert!(matches!(result, Err(CallError::Rejected(_))));
    /// assert_eq!(service.oneshot((8, "rust")).await?, 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub const fn keyed(breaker_of: F) -> Self {
        Self::of(Keyed(breaker_of))
    }
}

impl<S, K, F, R, Request> Service<Request> for BreakerService<S, K, Keyed<F>>
where
    S: Service<Request, Error: 'static>,
    F: Fn(&Request) -> R,
    R: Gate,
    K: Settle<S::Response, S::Error, R::Permit> + Clone,
{
    type Response = K::Response;
    type Error = CallError<S::Error>;
    type Future = ResponseFuture<S::Future, K, R::Permit>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx).map_err(CallError::Inner)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let breaker = (self.breaker.0)(&request);
        match breaker.admit() {
            Ok(permit) => {
                ResponseFuture::admitted(self.inner.call(request), permit, self.settle.clone())
            }
            Err(rejected) => ResponseFuture::rejected(rejected),
        }
    }
}

impl<F> fmt::Debug for Keyed<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyed").finish_non_exhaustive()
    }
}
