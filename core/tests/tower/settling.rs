//! How the permits of calls are settled.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use cutout::adapters::tower::BreakerLayer;
use cutout::{CallError, ManualClock, Outcome, Report, State};
use futures_util::FutureExt;
use tower::{Layer, Service, ServiceExt};

use crate::strict::{Ask, Failed, Upstream, poll_ready};
use crate::{Stage, WAIT, builder};

#[test]
fn a_call_is_recorded_once_it_has_a_result() {
    let mut stage = Stage::new();
    assert!(poll_ready(&mut stage.service).is_ready());
    let call = stage.service.call(Ask::Answer);
    assert_eq!(stage.breaker.snapshot().counts().samples, 0);
    assert_eq!(call.now_or_never(), Some(Ok(0)));
    assert_eq!(stage.breaker.snapshot().counts().samples, 1);
    assert_eq!(stage.call(Ask::Fail), Err(CallError::Inner(Failed)));
    assert_eq!(stage.breaker.snapshot().counts().failures, 1);
}

#[test]
fn a_hundred_calls_that_are_cancelled_record_nothing() {
    let mut stage = Stage::new();
    for _ in 0..100 {
        assert!(poll_ready(&mut stage.service).is_ready());
        assert_eq!(stage.service.call(Ask::Hang).now_or_never(), None);
    }
    assert_eq!(stage.breaker.state(), State::Closed);
    assert_eq!(stage.breaker.snapshot().counts().samples, 0);
}

#[test]
fn cancelled_calls_are_failures_if_the_config_says_so() {
    let mut stage = Stage::with(|builder| builder.abandoned(Outcome::Failure));
    for _ in 0..2 {
        assert!(poll_ready(&mut stage.service).is_ready());
        assert_eq!(stage.service.call(Ask::Hang).now_or_never(), None);
    }
    assert_eq!(stage.breaker.state(), State::Open);
}

#[test]
fn a_probe_that_is_cancelled_frees_its_slot() {
    let mut stage = Stage::new();
    stage.trip();
    stage.clock.advance(WAIT);
    for _ in 0..3 {
        assert!(poll_ready(&mut stage.service).is_ready());
        let probe = stage.service.call(Ask::Hang);
        assert_eq!(stage.breaker.snapshot().probes_out, 1);
        drop(probe);
        assert_eq!(stage.breaker.snapshot().probes_out, 0);
    }
}

#[test]
fn a_service_that_fails_to_get_ready_is_a_failed_call() {
    let mut stage = Stage::new();
    stage.upstream.broken.store(true, Relaxed);
    for _ in 0..2 {
        let ready = poll_ready(&mut stage.service.clone());
        assert_eq!(ready, Poll::Ready(Err(CallError::Inner(Failed))));
    }
    assert_eq!(stage.breaker.state(), State::Open);
    assert!(
        poll_ready(&mut stage.service).is_ready(),
        "it is left alone now"
    );
    stage.clock.advance(WAIT);
    assert_eq!(
        poll_ready(&mut stage.service),
        Poll::Ready(Err(CallError::Inner(Failed))),
    );
    assert_eq!(stage.breaker.state(), State::Open, "that was the probe");
}

#[test]
fn a_panic_of_the_inner_service_is_a_failure() {
    for ask in [Ask::PanicInCall, Ask::PanicInFuture] {
        let mut stage = Stage::new();
        for _ in 0..2 {
            assert!(catch_unwind(AssertUnwindSafe(|| stage.call(ask))).is_err());
        }
        assert_eq!(stage.breaker.state(), State::Open, "{ask:?}");
    }
}

#[test]
fn a_panic_is_a_failure_though_the_future_is_kept() {
    let mut stage = Stage::new();
    let mut kept = Vec::new();
    for _ in 0..2 {
        assert!(poll_ready(&mut stage.service).is_ready());
        let mut call = Box::pin(stage.service.call(Ask::PanicInFuture));
        let mut context = Context::from_waker(Waker::noop());
        let panicked = catch_unwind(AssertUnwindSafe(|| call.poll_unpin(&mut context)));
        assert!(panicked.is_err());
        kept.push(call);
    }
    assert_eq!(stage.breaker.state(), State::Open);
}

#[test]
fn a_panic_of_the_classifier_is_a_failure() {
    let breaker = Arc::new(builder(&Default::default()).build().unwrap());
    let layer = BreakerLayer::new(breaker.clone())
        .classify(|_: Result<&u32, &Failed>| -> Outcome { panic!("asked to") });
    let mut service = layer.layer(Arc::<Upstream>::default().service());
    for _ in 0..2 {
        assert!(poll_ready(&mut service).is_ready());
        let call = service.call(Ask::Answer);
        assert!(catch_unwind(AssertUnwindSafe(|| call.now_or_never())).is_err());
    }
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn a_classifier_sees_response_and_error_and_may_ask_for_a_wait() {
    let breaker = Arc::new(builder(&Default::default()).build().unwrap());
    let layer =
        BreakerLayer::new(breaker.clone()).classify(|result: Result<&u32, &Failed>| match result {
            Ok(0) => Report::from(Outcome::Timeout).retry_after(Duration::from_secs(77)),
            Ok(_) => Outcome::Success.into(),
            Err(Failed) => Outcome::Ignored.into(),
        });
    let mut service = layer.layer(Arc::<Upstream>::default().service());
    futures_executor::block_on(async {
        for _ in 0..5 {
            let call = service.ready().await?.call(Ask::Fail);
            assert_eq!(call.await, Err(CallError::Inner(Failed)));
        }
        assert_eq!(breaker.snapshot().counts().samples, 0);
        for _ in 0..2 {
            service.ready().await?.call(Ask::Answer).await?;
        }
        Ok::<(), CallError<Failed>>(())
    })
    .unwrap();
    let rejected = breaker.allow().unwrap_err();
    assert_eq!(rejected.retry_after(), Some(Duration::from_secs(77)));
}

#[test]
#[should_panic(expected = "polled again")]
fn a_future_that_is_polled_after_its_end_says_so() {
    let mut stage = Stage::new();
    assert!(poll_ready(&mut stage.service).is_ready());
    stage.breaker.force_open(None, "drill");
    let mut call = stage.service.call(Ask::Answer);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..2 {
        assert!(call.poll_unpin(&mut context).is_ready());
    }
}

#[test]
fn services_and_futures_can_be_sent_to_other_threads() {
    fn can_be_sent<T: Send + 'static>(value: T) -> T {
        value
    }
    let mut stage = Stage::new();
    assert!(poll_ready(&mut stage.service).is_ready());
    let call = can_be_sent(stage.service.call(Ask::Answer));
    can_be_sent(stage.service);
    assert_eq!(call.now_or_never(), Some(Ok(0)));
}

/// A breaker that lives as long as the process needs no count of its references: futures borrow it.
#[test]
fn a_leaked_breaker_is_borrowed_by_services_that_outlive_their_scope() {
    fn borrows<S: Clone + Send + 'static>(service: S) -> S {
        service
    }
    let breaker = builder(&ManualClock::new()).build().unwrap().leak();
    let answer =
        tower::service_fn(|fails: bool| std::future::ready(if fails { Err(()) } else { Ok(()) }));
    let service = borrows(BreakerLayer::new(breaker).layer(answer));
    let call = |fails| {
        let mut service = service.clone();
        let call = std::thread::spawn(move || service.call(fails).now_or_never());
        call.join().unwrap()
    };
    assert_eq!(call(false), Some(Ok(())));
    assert!((0..2).all(|_| matches!(call(true), Some(Err(CallError::Inner(()))))));
    assert_eq!(breaker.state(), State::Open);
    assert!(matches!(call(false), Some(Err(CallError::Rejected(_)))));
}
