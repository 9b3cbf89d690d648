//! A breaker for each key of a request.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;

use cutout::adapters::http::HttpStatus;
use cutout::adapters::tower::{BreakerLayer, by_authority};
use cutout::registry::{Registry, RegistryConfig};
use cutout::{Breaker, CallError, ManualClock, State};
use futures_util::FutureExt;
use http::{Request, Response};
use tower::{Layer, Service, ServiceExt};

use crate::strict::{Ask, Failed, Upstream, poll_ready};
use crate::{WAIT, builder};

/// One breaker for what is asked first, one for the rest.
fn breakers(clock: &ManualClock) -> [Arc<Breaker<ManualClock>>; 2] {
    [(), ()].map(|()| Arc::new(builder(clock).build().unwrap()))
}

fn of(breakers: &[Arc<Breaker<ManualClock>>; 2], ask: Ask) -> Arc<Breaker<ManualClock>> {
    breakers[usize::from(ask != Ask::Fail)].clone()
}

#[test]
fn each_key_has_its_own_breaker() {
    let breakers = breakers(&ManualClock::new());
    let upstream = Arc::<Upstream>::default();
    let layer = BreakerLayer::keyed(|ask: &Ask| of(&breakers, *ask));
    let mut service = layer.layer(upstream.service());
    let mut call = |ask| {
        assert!(poll_ready(&mut service).is_ready());
        service.call(ask).now_or_never().unwrap()
    };
    for _ in 0..2 {
        assert_eq!(call(Ask::Fail), Err(CallError::Inner(Failed)));
    }
    assert!(matches!(call(Ask::Fail), Err(CallError::Rejected(_))));
    assert_eq!(call(Ask::Answer), Ok(0));
    assert_eq!(upstream.calls(), 3, "the rejected one was not made");
    let states = breakers.each_ref().map(|breaker| breaker.state());
    assert_eq!(states, [State::Open, State::Closed]);
}

#[test]
fn readiness_is_that_of_the_inner_service_and_costs_no_probe() {
    let clock = ManualClock::new();
    let breakers = breakers(&clock);
    let upstream = Arc::<Upstream>::default();
    let layer = BreakerLayer::keyed(|ask: &Ask| of(&breakers, *ask));
    let mut service = layer.layer(upstream.service());
    upstream.busy.store(true, Relaxed);
    assert_eq!(poll_ready(&mut service), Poll::Pending);
    upstream.busy.store(false, Relaxed);
    for breaker in &breakers {
        breaker.force_open(Some(WAIT), "drill");
    }
    clock.advance(WAIT);
    assert_eq!(poll_ready(&mut service.clone()), Poll::Ready(Ok(())));
    assert_eq!(poll_ready(&mut service), Poll::Ready(Ok(())));
    let probe = service.call(Ask::Hang);
    let probes = breakers
        .each_ref()
        .map(|breaker| breaker.snapshot().probes_out);
    assert_eq!(probes, [0, 1]);
    drop(probe);
    assert_eq!(breakers[1].snapshot().probes_out, 0);
}

/// How many calls the registry's breaker of `a.example` and the one for the rest have seen,
/// after one call each to two hosts and to none.
async fn calls_by_authority(max_keys: usize) -> [u32; 2] {
    let config = RegistryConfig {
        max_keys,
        ..RegistryConfig::default()
    };
    let registry = Registry::builder(|authority: &String| authority.clone());
    let registry = Arc::new(registry.config(config).build().unwrap());
    let rest = Arc::new(Breaker::builder().build().unwrap());
    let layer = BreakerLayer::keyed(by_authority(registry.clone(), rest.clone()));
    let client =
        layer
            .classify(HttpStatus::new())
            .layer(tower::service_fn(async |_: Request<()>| {
                Ok::<_, Failed>(Response::new(()))
            }));
    // Held, so that it cannot be evicted.
    let held = registry.get_or_create("a.example").unwrap();
    for uri in ["https://a.example/", "https://b.example/", "/"] {
        let request = Request::get(uri).body(()).unwrap();
        assert!(client.clone().oneshot(request).await.is_ok());
    }
    [held, rest].map(|breaker| breaker.snapshot().counts().samples)
}

#[tokio::test]
async fn a_request_to_no_authority_goes_through_the_rest() {
    assert_eq!(calls_by_authority(10).await, [1, 1]);
}

#[tokio::test]
async fn an_authority_without_room_in_the_registry_goes_through_the_rest() {
    assert_eq!(calls_by_authority(1).await, [1, 2]);
}
