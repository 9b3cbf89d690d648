//! Under and over `Timeout` and `Retry`.

use std::future::{Ready, ready};
use std::sync::Arc;
use std::time::Duration;

use cutout::adapters::tower::BreakerLayer;
use cutout::classify::{ByResult, ErrorsBy};
use cutout::{CallError, Outcome, Rejected, State};
use tower::retry::{Policy, RetryLayer};
use tower::timeout::TimeoutLayer;
use tower::timeout::error::Elapsed;
use tower::{BoxError, Layer, Service, ServiceBuilder, ServiceExt};

use crate::builder;
use crate::strict::{Ask, Failed, Upstream};

const LIMIT: Duration = Duration::from_secs(1);

/// Three attempts; what was rejected is not tried again.
#[derive(Clone)]
struct ThreeAttempts(u32);

fn three_attempts() -> RetryLayer<ThreeAttempts> {
    RetryLayer::new(ThreeAttempts(3))
}

impl ThreeAttempts {
    fn next(&mut self, again: bool) -> Option<Ready<()>> {
        self.0 -= 1;
        (again && self.0 > 0).then(|| ready(()))
    }
}

/// Inside the breaker there are no rejections.
impl Policy<Ask, u32, Failed> for ThreeAttempts {
    type Future = Ready<()>;

    fn retry(&mut self, _: &mut Ask, result: &mut Result<u32, Failed>) -> Option<Ready<()>> {
        self.next(result.is_err())
    }

    fn clone_request(&mut self, ask: &Ask) -> Option<Ask> {
        Some(*ask)
    }
}

impl Policy<Ask, u32, CallError<Failed>> for ThreeAttempts {
    type Future = Ready<()>;

    fn retry(
        &mut self,
        _: &mut Ask,
        result: &mut Result<u32, CallError<Failed>>,
    ) -> Option<Ready<()>> {
        self.next(matches!(result, Err(CallError::Inner(_))))
    }

    fn clone_request(&mut self, ask: &Ask) -> Option<Ask> {
        Some(*ask)
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_inside_is_classified_as_a_timeout() {
    let breaker = Arc::new(builder(&Default::default()).build().unwrap());
    let by_error = ErrorsBy::new(ByResult, |error: &BoxError| match error.is::<Elapsed>() {
        true => Outcome::Timeout,
        false => Outcome::Failure,
    });
    let mut service = ServiceBuilder::new()
        .layer(BreakerLayer::new(breaker.clone()).classify(by_error))
        .layer(TimeoutLayer::new(LIMIT))
        .service(Arc::<Upstream>::default().service());
    let result = service.ready().await.unwrap().call(Ask::Hang).await;
    assert!(matches!(result, Err(CallError::Inner(error)) if error.is::<Elapsed>()));
    assert_eq!(breaker.snapshot().counts().timeouts, 1);
    let result = service.ready().await.unwrap().call(Ask::Fail).await;
    assert!(matches!(result, Err(CallError::Inner(error)) if error.is::<Failed>()));
    assert_eq!(
        breaker.snapshot().cause,
        Some(cutout::Cause::ConsecutiveFailures)
    );
}

#[tokio::test(start_paused = true)]
async fn a_timeout_outside_opens_the_breaker_only_if_abandoned_calls_are_failures() {
    for (abandoned, state) in [
        (Outcome::Ignored, State::Closed),
        (Outcome::Failure, State::Open),
    ] {
        let builder = builder(&Default::default()).abandoned(abandoned);
        let breaker = Arc::new(builder.consecutive_failures(20).build().unwrap());
        let mut service = ServiceBuilder::new()
            .layer(TimeoutLayer::new(LIMIT))
            .layer(BreakerLayer::new(breaker.clone()))
            .service(Arc::<Upstream>::default().service());
        for _ in 0..50 {
            let result = service.ready().await.unwrap().call(Ask::Hang).await;
            assert!(result.is_err());
        }
        assert_eq!(breaker.state(), state);
    }
}

#[tokio::test(start_paused = true)]
async fn a_rejection_passes_through_a_timeout_outside_as_it_is() {
    let breaker = Arc::new(builder(&Default::default()).build().unwrap());
    breaker.force_open(None, "drill");
    let mut service = ServiceBuilder::new()
        .layer(TimeoutLayer::new(LIMIT))
        .map_err(CallError::into_boxed)
        .layer(BreakerLayer::new(breaker))
        .layer(TimeoutLayer::new(LIMIT))
        .service(Arc::<Upstream>::default().service());
    let error = service.ready().await.unwrap().call(Ask::Answer).await;
    assert!(error.unwrap_err().is::<Rejected>());
}

#[tokio::test]
async fn three_attempts_inside_are_one_outcome() {
    let breaker = Arc::new(builder(&Default::default()).build().unwrap());
    let upstream = Arc::<Upstream>::default();
    let mut service = ServiceBuilder::new()
        .layer(BreakerLayer::new(breaker.clone()))
        .layer(three_attempts())
        .service(upstream.service());
    let result = service.ready().await.unwrap().call(Ask::Fail).await;
    assert_eq!(result, Err(CallError::Inner(Failed)));
    assert_eq!(upstream.calls(), 3);
    assert_eq!(breaker.snapshot().counts().samples, 1);
}

#[tokio::test]
async fn three_attempts_outside_are_three_calls_until_one_is_rejected() {
    let breaker = Arc::new(builder(&Default::default()).build().unwrap());
    let upstream = Arc::<Upstream>::default();
    let layers = ServiceBuilder::new()
        .layer(three_attempts())
        .layer(BreakerLayer::new(breaker.clone()))
        .into_inner();
    let mut service = layers.layer(upstream.service());
    let result = service.ready().await.unwrap().call(Ask::Fail).await;
    assert!(
        matches!(result, Err(CallError::Rejected(_))),
        "the third was rejected"
    );
    assert_eq!(upstream.calls(), 2);

    let result = service.ready().await.unwrap().call(Ask::Answer).await;
    let Err(CallError::Rejected(_)) = result else {
        panic!("not rejected");
    };
    assert_eq!(upstream.calls(), 2, "a rejection is not tried again");
}
