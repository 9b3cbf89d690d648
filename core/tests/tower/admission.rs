//! When a call is admitted, and what the inner service is spared.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock};
use std::task::Poll;
use std::time::Duration;

use cutout::adapters::tower::BreakerLayer;
use cutout::{Breaker, CallError, Cause, Config, State};
use futures_util::FutureExt;
use tower::limit::ConcurrencyLimit;
use tower::{Layer, Service};

use crate::strict::{Ask, Failed, Upstream, poll_ready};
use crate::{Stage, WAIT, builder};

fn retry_after<T>(result: &Result<T, CallError<Failed>>) -> Option<Duration> {
    match result {
        Err(CallError::Rejected(rejected)) => rejected.retry_after(),
        _ => panic!("not rejected"),
    }
}

#[test]
fn an_open_breaker_touches_the_inner_service_not_at_all() {
    let mut stage = Stage::new();
    stage.trip();
    let before = (stage.upstream.polls(), stage.upstream.calls());
    for _ in 0..100 {
        let result = stage.call(Ask::Answer);
        assert_eq!(retry_after(&result), Some(WAIT));
        let result = stage.service.clone().call(Ask::Answer).now_or_never();
        assert_eq!(retry_after(&result.unwrap()), Some(WAIT));
    }
    assert_eq!((stage.upstream.polls(), stage.upstream.calls()), before);
}

#[test]
fn a_breaker_whose_probes_are_out_touches_the_inner_service_not_at_all() {
    let mut stage = Stage::new();
    stage.trip();
    stage.clock.advance(WAIT);
    assert!(poll_ready(&mut stage.service).is_ready());
    let probe = stage.service.call(Ask::Hang);
    let before = (stage.upstream.polls(), stage.upstream.calls());
    let lease = Config::default().probe_lease;
    assert_eq!(retry_after(&stage.call(Ask::Answer)), lease);
    assert_eq!((stage.upstream.polls(), stage.upstream.calls()), before);
    drop(probe);
    assert_eq!(stage.call(Ask::Answer), Ok(0));
}

#[test]
fn a_closed_breaker_hands_on_the_readiness_of_the_inner_service() {
    let mut stage = Stage::new();
    stage.upstream.busy.store(true, Relaxed);
    assert_eq!(poll_ready(&mut stage.service), Poll::Pending);
    stage.upstream.busy.store(false, Relaxed);
    assert_eq!(poll_ready(&mut stage.service), Poll::Ready(Ok(())));
}

#[test]
fn a_service_that_waits_for_readiness_is_ready_to_reject_when_the_breaker_opens() {
    let mut stage = Stage::new();
    stage.upstream.busy.store(true, Relaxed);
    assert_eq!(poll_ready(&mut stage.service), Poll::Pending);
    stage.breaker.force_open(None, "drill");
    assert_eq!(poll_ready(&mut stage.service), Poll::Ready(Ok(())));
    let result = stage.service.call(Ask::Answer).now_or_never().unwrap();
    assert!(matches!(result, Err(CallError::Rejected(_))));
    assert_eq!(stage.upstream.calls(), 0);
}

#[test]
fn the_service_that_was_readied_is_the_one_called() {
    let stage = Stage::new();
    let mut clones: Vec<_> = (0..3).map(|_| stage.service.clone()).collect();
    for service in &mut clones {
        assert!(poll_ready(service).is_ready());
    }
    for service in clones.iter_mut().rev() {
        let number = service.get_ref().number;
        assert_eq!(service.call(Ask::Answer).now_or_never(), Some(Ok(number)));
        assert_eq!(stage.upstream.last_called(), Some(number));
    }
}

#[test]
fn over_a_concurrency_limit_the_readied_service_is_the_one_called() {
    let upstream = Arc::<Upstream>::default();
    let breaker = Arc::new(builder(&Default::default()).build().unwrap());
    let limited = ConcurrencyLimit::new(upstream.service(), 1);
    let mut service = BreakerLayer::new(breaker).layer(limited);
    let mut other = service.clone();
    for _ in 0..3 {
        assert!(poll_ready(&mut service).is_ready());
        assert!(poll_ready(&mut other).is_pending());
        let number = service.get_ref().get_ref().number;
        assert_eq!(service.call(Ask::Answer).now_or_never(), Some(Ok(number)));
        std::mem::swap(&mut service, &mut other);
    }
}

#[test]
fn a_clone_that_is_readied_and_never_called_costs_no_probe_slot() {
    let mut stage = Stage::new();
    stage.trip();
    let opened = stage.breaker.generation();
    stage.clock.advance(WAIT);
    let mut idle: Vec<_> = (0..100).map(|_| stage.service.clone()).collect();
    for service in &mut idle {
        assert_eq!(poll_ready(service), Poll::Ready(Ok(())));
    }
    assert_eq!(stage.breaker.snapshot().probes_out, 0);
    assert_eq!(stage.breaker.generation(), opened);
    drop(idle.split_off(50));
    assert_eq!(
        stage.call(Ask::Answer),
        Ok(0),
        "the one probe is still to be had"
    );
    assert_eq!(stage.breaker.state(), State::Closed);
}

#[test]
fn a_breaker_that_opens_after_readiness_rejects_the_call() {
    let mut stage = Stage::new();
    assert!(poll_ready(&mut stage.service).is_ready());
    stage.breaker.force_open(None, "drill");
    let result = stage.service.call(Ask::Answer).now_or_never().unwrap();
    let Err(CallError::Rejected(rejected)) = result else {
        panic!("not rejected");
    };
    assert_eq!(
        (rejected.state(), rejected.cause()),
        (State::ForcedOpen, Cause::Operator)
    );
    assert_eq!(stage.upstream.calls(), 0);
}

#[test]
fn a_refused_call_is_told_the_time_left_when_it_is_made() {
    let mut stage = Stage::new();
    stage.trip();
    assert!(poll_ready(&mut stage.service).is_ready());
    stage.clock.advance(WAIT / 4);
    let result = stage.service.call(Ask::Answer).now_or_never().unwrap();
    assert_eq!(retry_after(&result), Some(WAIT * 3 / 4));
}

#[test]
fn a_refusal_stands_until_the_service_is_readied_again() {
    let mut stage = Stage::new();
    stage.trip();
    let polls = stage.upstream.polls();
    assert!(poll_ready(&mut stage.service).is_ready());
    stage.clock.advance(WAIT);
    let result = stage.service.call(Ask::Answer).now_or_never().unwrap();
    assert_eq!(retry_after(&result), Some(Duration::ZERO));
    assert_eq!(stage.upstream.polls(), polls);
    assert_eq!(stage.breaker.snapshot().probes_out, 0, "no probe was taken");
    assert_eq!(stage.call(Ask::Answer), Ok(0));
}

#[test]
fn services_of_two_layer_calls_share_the_breaker() {
    let upstream = Arc::<Upstream>::default();
    let breaker = Arc::new(builder(&Default::default()).build().unwrap());
    let layer = BreakerLayer::new(breaker.clone());
    let mut failing = layer.layer(upstream.service());
    let mut other = layer.clone().layer(upstream.service());
    for _ in 0..2 {
        assert!(poll_ready(&mut failing).is_ready());
        assert_eq!(
            failing.call(Ask::Fail).now_or_never(),
            Some(Err(CallError::Inner(Failed))),
        );
    }
    assert!(poll_ready(&mut other).is_ready());
    let result = other.call(Ask::Answer).now_or_never().unwrap();
    assert!(matches!(result, Err(CallError::Rejected(_))));
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn every_rejected_call_is_counted_once() {
    let mut stage = Stage::with(|builder| builder.totals(true));
    stage.trip();
    for _ in 0..3 {
        assert!(poll_ready(&mut stage.service).is_ready());
    }
    assert_eq!(
        stage.breaker.totals().unwrap().rejections.open,
        0,
        "none was made"
    );
    drop(stage.service.call(Ask::Answer));
    drop(stage.service.call(Ask::Answer));
    assert_eq!(stage.breaker.totals().unwrap().rejections.open, 2);
}

#[test]
fn a_breaker_in_a_static_is_borrowed() {
    static BREAKER: LazyLock<Breaker> = LazyLock::new(|| {
        let breaker = Breaker::builder().consecutive_failures(2);
        breaker.build().unwrap()
    });
    let upstream = Arc::<Upstream>::default();
    let mut service = BreakerLayer::new(&*BREAKER).layer(upstream.service());
    for _ in 0..2 {
        assert!(poll_ready(&mut service).is_ready());
        let call: Box<dyn Future<Output = _> + Send> = Box::new(service.call(Ask::Fail));
        let result = Box::into_pin(call).now_or_never();
        assert_eq!(result, Some(Err(CallError::Inner(Failed))));
    }
    assert_eq!(BREAKER.state(), State::Open);
}
