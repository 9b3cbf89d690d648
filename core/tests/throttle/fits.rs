//! Where breakers fit, throttles do, and pairs of them.

use std::io::{Error, ErrorKind};
use std::sync::Arc;

use cutout::adapters::http::HttpStatus;
use cutout::adapters::tower::BreakerLayer;
use cutout::{
    Breaker, CallError, Cause, Gate, ManualClock, Outcome, Report, Settled, State, Throttle,
    ThrottleConfig,
};
use futures_executor::block_on;
use http::{Request, Response};
use tower::{Layer, ServiceExt, service_fn};

fn throttle() -> Arc<Throttle<ManualClock>> {
    let config = ThrottleConfig {
        probes_per_second: 0.001,
        ..ThrottleConfig::default()
    };
    let builder = Throttle::builder().name("search").config(config).seed(1);
    Arc::new(builder.clock(ManualClock::new()).build().unwrap())
}

/// The upstream has refused all of a hundred calls.
fn overload(throttle: &Throttle<ManualClock>) {
    for _ in 0..100 {
        let _ = throttle.allow().map(|permit| permit.failure());
    }
}

#[test]
fn a_layer_takes_a_throttle_and_its_answer_is_a_503_with_retry_after() {
    let throttle = throttle();
    let layer = BreakerLayer::new(throttle.clone()).classify(HttpStatus::new());
    let service = layer.layer(service_fn(async |_: Request<()>| {
        let response = Response::builder().status(503).body(String::new());
        Ok::<_, Error>(response.unwrap())
    }));
    let mut refused = 0;
    for _ in 0..100 {
        match block_on(service.clone().oneshot(Request::new(()))) {
            Err(CallError::Rejected(rejected)) => {
                assert_eq!(rejected.cause(), Cause::Throttled);
                refused += 1;
                let answer: Response<String> =
                    CallError::<Error>::Rejected(rejected).answer().unwrap();
                assert_eq!(
                    (answer.status().as_u16(), &answer.headers()["retry-after"]),
                    (503, &"1".parse().unwrap())
                );
            }
            Ok(_) => {}
            Err(error) => panic!("{error}"),
        }
    }
    let share = throttle.share();
    assert_eq!((share.requests, share.failures), (100, 100 - refused));
    assert!(refused > 50);
}

#[test]
fn a_pair_admits_what_both_admit_and_tells_both() {
    let throttle = throttle();
    let clock = ManualClock::new();
    let builder = Breaker::builder().clock(clock).consecutive_failures(3);
    let breaker = Arc::new(builder.build().unwrap());
    let pair = (breaker.clone(), throttle.clone());
    let settle = |outcome: Outcome| {
        let permit = pair.admit().unwrap();
        cutout::AnyPermit::done(permit, Report::from(outcome))
    };
    assert_eq!(settle(Outcome::Success), Settled::Recorded);
    assert_eq!(settle(Outcome::Failure), Settled::Recorded);
    assert_eq!(breaker.snapshot().counts().samples, 2);
    assert_eq!(
        (throttle.share().requests, throttle.share().failures),
        (2, 1)
    );

    breaker.force_open(None, "maintenance");
    let before = throttle.share();
    assert_eq!(pair.refusal().unwrap().state(), State::ForcedOpen);
    for _ in 0..10 {
        assert_eq!(pair.admit().unwrap_err().cause(), Cause::Operator);
    }
    assert_eq!(
        throttle.share(),
        before,
        "it has nothing to learn of an open breaker"
    );
}

#[test]
fn a_call_that_the_throttle_refuses_takes_no_probe_of_the_breaker() {
    let throttle = throttle();
    overload(&throttle);
    let clock = ManualClock::new();
    let builder = Breaker::builder()
        .clock(clock.clone())
        .consecutive_failures(1);
    let breaker = Arc::new(builder.build().unwrap());
    breaker.allow().unwrap().failure();
    clock.advance(std::time::Duration::from_secs(60));
    let pair = (breaker.clone(), throttle);
    let rejected = (0..50).find_map(|_| pair.admit().err()).unwrap();
    assert_eq!(rejected.cause(), Cause::Throttled);
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.probes_out, snapshot.probes_inconclusive), (0, 0));
}

#[test]
fn a_breaker_around_a_throttle_learns_nothing_of_what_that_refuses() {
    let throttle = throttle();
    overload(&throttle);
    let breaker = Breaker::builder().build().unwrap();
    for _ in 0..50 {
        let call = || throttle.call(|| Ok::<_, Error>(()));
        let _ = breaker.call(call);
    }
    assert_eq!(breaker.snapshot().counts().failures, 0);
    let call = throttle.call(|| breaker.call(|| Err::<(), _>(Error::from(ErrorKind::Other))));
    assert!(call.is_err());
}
