//! Under and over `Balance`.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use cutout::adapters::tower::{AtResult, BreakerLayer, BreakerService, ResponseFuture};
use cutout::classify::ByResult;
use cutout::{Breaker, CallError, ManualClock, OwnedPermit, State};
use futures_util::stream;
use tower::balance::p2c::Balance;
use tower::discover::Change;
use tower::load::Load;
use tower::{Layer, Service, ServiceExt};

use crate::builder;
use crate::strict::{Ask, Failed, Strict, Upstream};

/// One of several upstreams, behind its own breaker.
struct Endpoint(BreakerService<Strict, AtResult<ByResult>, Arc<Breaker<ManualClock>>>);

/// An endpoint that refuses is the last to be chosen, however idle.
impl Load for Endpoint {
    type Metric = (bool, usize);

    fn load(&self) -> (bool, usize) {
        let in_flight = Arc::strong_count(self.0.breaker());
        (self.0.breaker().refusal().is_some(), in_flight)
    }
}

impl Service<Ask> for Endpoint {
    type Response = u32;
    type Error = CallError<Failed>;
    type Future = ResponseFuture<
        <Strict as Service<Ask>>::Future,
        AtResult<ByResult>,
        OwnedPermit<ManualClock>,
    >;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, ask: Ask) -> Self::Future {
        self.0.call(ask)
    }
}

#[tokio::test]
async fn under_a_balance_traffic_goes_to_the_endpoints_that_do_not_refuse() {
    let upstreams: [Arc<Upstream>; 2] = Default::default();
    let breakers: [Arc<Breaker<ManualClock>>; 2] =
        [(), ()].map(|()| Arc::new(builder(&Default::default()).build().unwrap()));
    let endpoint = |key: usize| {
        let layer = BreakerLayer::new(breakers[key].clone());
        Endpoint(layer.layer(upstreams[key].service()))
    };
    let endpoints = [0, 1].map(|key| Ok::<_, Infallible>(Change::Insert(key, endpoint(key))));
    let mut balance = Balance::new(stream::iter(endpoints));
    breakers[0].force_open(None, "drill");
    for _ in 0..20 {
        let service = balance.ready().await.unwrap();
        assert!(service.call(Ask::Answer).await.is_ok());
    }
    assert_eq!((upstreams[0].calls(), upstreams[1].calls()), (0, 20));
    assert_eq!(upstreams[0].polls(), 0, "the open one was not touched");

    breakers[1].force_open(None, "drill");
    let error = balance
        .ready()
        .await
        .unwrap()
        .call(Ask::Answer)
        .await
        .unwrap_err();
    let refused = error.downcast_ref::<CallError<Failed>>();
    assert!(matches!(refused, Some(CallError::Rejected(_))), "{error}");
}

/// An upstream whose load is always the same.
struct Even(Strict);

impl Load for Even {
    type Metric = usize;

    fn load(&self) -> usize {
        0
    }
}

impl Service<Ask> for Even {
    type Response = u32;
    type Error = Failed;
    type Future = <Strict as Service<Ask>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, ask: Ask) -> Self::Future {
        self.0.call(ask)
    }
}

#[tokio::test]
async fn over_a_balance_one_breaker_guards_all_endpoints() {
    let upstream = Arc::<Upstream>::default();
    let breaker = Arc::new(builder(&Default::default()).build().unwrap());
    let endpoints: Vec<_> = (0..3)
        .map(|key| Ok::<_, Infallible>(Change::Insert(key, Even(upstream.service()))))
        .collect();
    // A balance is not `Clone`, and need not be.
    let balance = Balance::new(stream::iter(endpoints));
    let mut service = BreakerLayer::new(breaker.clone()).layer(balance);
    assert!(
        service
            .ready()
            .await
            .unwrap()
            .call(Ask::Answer)
            .await
            .is_ok()
    );
    for _ in 0..2 {
        assert!(
            service
                .ready()
                .await
                .unwrap()
                .call(Ask::Fail)
                .await
                .is_err()
        );
    }
    assert_eq!(breaker.state(), State::Open);
    let polls = upstream.polls();
    let result = service.ready().await.unwrap().call(Ask::Answer).await;
    assert!(matches!(result, Err(CallError::Rejected(_))));
    assert_eq!((upstream.polls(), upstream.calls()), (polls, 3));
}
