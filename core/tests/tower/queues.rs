//! Under and over `ConcurrencyLimit`, `LoadShed` and `Buffer`.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use cutout::adapters::tower::BreakerLayer;
use cutout::classify::{ByResult, ErrorsBy};
use cutout::{Breaker, CallError, ManualClock, Outcome, Rejected, State};
use futures_util::FutureExt;
use tower::buffer::BufferLayer;
use tower::limit::ConcurrencyLimitLayer;
use tower::load_shed::LoadShedLayer;
use tower::load_shed::error::Overloaded;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt};

use crate::builder;
use crate::strict::{Ask, Failed, Upstream, poll_ready};

fn parts() -> (Arc<Breaker<ManualClock>>, Arc<Upstream>) {
    let breaker = builder(&Default::default()).build().unwrap();
    (Arc::new(breaker), Arc::default())
}

/// What of a boxed error is a failure: not that this process has too much to do.
fn failures(error: &BoxError) -> Outcome {
    match error.is::<Overloaded>() {
        true => Outcome::Ignored,
        false => Outcome::Failure,
    }
}

#[test]
fn over_a_concurrency_limit_an_open_breaker_rejects_without_waiting_for_a_place() {
    let (breaker, upstream) = parts();
    let mut service = ServiceBuilder::new()
        .layer(BreakerLayer::new(breaker.clone()))
        .layer(ConcurrencyLimitLayer::new(1))
        .service(upstream.service());
    let mut other = service.clone();
    assert!(poll_ready(&mut service).is_ready());
    let hanging = service.call(Ask::Hang);
    assert!(poll_ready(&mut other).is_pending(), "the place is taken");
    breaker.force_open(None, "drill");
    assert!(poll_ready(&mut other).is_ready());
    let result = other.call(Ask::Answer).now_or_never().unwrap();
    assert!(matches!(result, Err(CallError::Rejected(_))));
    breaker.close("drill over");
    drop(hanging);
    assert!(
        poll_ready(&mut other).is_ready(),
        "a call that ends gives its place back"
    );
}

#[test]
fn under_a_concurrency_limit_a_rejection_gives_its_place_back() {
    let (breaker, upstream) = parts();
    breaker.force_open(None, "drill");
    let mut service = ServiceBuilder::new()
        .layer(ConcurrencyLimitLayer::new(1))
        .layer(BreakerLayer::new(breaker))
        .service(upstream.service());
    let mut other = service.clone();
    assert!(poll_ready(&mut service).is_ready());
    assert!(poll_ready(&mut other).is_pending());
    let result = service.call(Ask::Answer).now_or_never().unwrap();
    assert!(matches!(result, Err(CallError::Rejected(_))));
    assert!(poll_ready(&mut other).is_ready());
}

#[tokio::test]
async fn over_a_load_shed_what_is_shed_need_not_be_a_failure() {
    let (breaker, upstream) = parts();
    let classifier = ErrorsBy::new(ByResult, failures);
    let mut service = ServiceBuilder::new()
        .layer(BreakerLayer::new(breaker.clone()).classify(classifier))
        .layer(LoadShedLayer::new())
        .service(upstream.service());
    upstream.busy.store(true, Relaxed);
    for _ in 0..5 {
        let result = service.ready().await.unwrap().call(Ask::Answer).await;
        assert!(matches!(result, Err(CallError::Inner(error)) if error.is::<Overloaded>()));
    }
    assert_eq!(breaker.state(), State::Closed);
    upstream.busy.store(false, Relaxed);
    for _ in 0..2 {
        let result = service.ready().await.unwrap().call(Ask::Fail).await;
        assert!(matches!(result, Err(CallError::Inner(error)) if error.is::<Failed>()));
    }
    assert_eq!(breaker.state(), State::Open);
}

#[tokio::test]
async fn under_a_load_shed_a_busy_service_sheds_and_an_open_breaker_rejects() {
    let (breaker, upstream) = parts();
    let mut service = ServiceBuilder::new()
        .layer(LoadShedLayer::new())
        .layer(BreakerLayer::new(breaker.clone()))
        .service(upstream.service());
    upstream.busy.store(true, Relaxed);
    let shed = service.ready().await.unwrap().call(Ask::Answer).await;
    assert!(shed.unwrap_err().is::<Overloaded>());
    breaker.force_open(None, "drill");
    let rejected = service.ready().await.unwrap().call(Ask::Answer).await;
    let rejected = rejected.unwrap_err();
    assert!(matches!(
        rejected.downcast_ref(),
        Some(CallError::<Failed>::Rejected(_))
    ));
    assert_eq!(upstream.calls(), 0);
}

#[tokio::test]
async fn over_a_buffer_an_open_breaker_sends_nothing_into_the_queue() {
    let (breaker, upstream) = parts();
    let mut service = ServiceBuilder::new()
        .layer(BreakerLayer::new(breaker.clone()))
        .layer(BufferLayer::new(4))
        .service(upstream.service());
    for _ in 0..2 {
        let result = service.ready().await.unwrap().call(Ask::Fail).await;
        assert!(matches!(result, Err(CallError::Inner(error)) if error.is::<Failed>()));
    }
    assert_eq!(breaker.state(), State::Open);
    let polls = upstream.polls();
    for _ in 0..10 {
        let result = service.ready().await.unwrap().call(Ask::Answer).await;
        assert!(matches!(result, Err(CallError::Rejected(_))));
    }
    tokio::task::yield_now().await;
    assert_eq!((upstream.polls(), upstream.calls()), (polls, 2));
}

#[tokio::test]
async fn under_a_buffer_all_callers_share_the_breaker_and_see_its_rejections() {
    let (breaker, upstream) = parts();
    let service = ServiceBuilder::new()
        .layer(BufferLayer::new(4))
        .map_err(CallError::into_boxed)
        .layer(BreakerLayer::new(breaker.clone()))
        .service(upstream.service());
    for _ in 0..2 {
        let result = service.clone().oneshot(Ask::Fail).await;
        assert!(result.unwrap_err().is::<Failed>());
    }
    let result = service.clone().oneshot(Ask::Answer).await;
    assert!(result.unwrap_err().is::<Rejected>());
    assert_eq!(upstream.calls(), 2);
}

#[tokio::test]
async fn under_a_buffer_a_caller_that_goes_away_frees_its_probe() {
    let (breaker, upstream) = parts();
    let mut service = ServiceBuilder::new()
        .layer(BufferLayer::new(4))
        .layer(BreakerLayer::new(breaker.clone()))
        .service(upstream.service());
    breaker.force_open(Some(Duration::ZERO), "drill");
    let probe = tokio::spawn(service.ready().await.unwrap().call(Ask::Hang));
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(breaker.snapshot().probes_out, 1);
    probe.abort();
    assert!(probe.await.unwrap_err().is_cancelled());
    assert_eq!(breaker.snapshot().probes_out, 0);
    assert!(
        service
            .ready()
            .await
            .unwrap()
            .call(Ask::Answer)
            .await
            .is_ok()
    );
    assert_eq!(breaker.state(), State::Closed);
}
