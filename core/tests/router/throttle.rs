//! A throttle beside a target's breaker.

use std::sync::Arc;
use std::time::Duration;

use cutout::router::{Attempts, NoTarget, Policy, Role, Router, RouterConfig, Target};
use cutout::{AnyPermit, Cause, ManualClock, Outcome, State, Throttle, ThrottleConfig};

use super::{Routes, WAIT, breaker, by, choose, count, successes, target, trip};

/// One that refuses nearly all of its calls once it has seen a run of failures.
fn throttle(clock: &ManualClock) -> Arc<Throttle<ManualClock>> {
    let builder = Throttle::builder().clock(clock.clone()).seed(1);
    Arc::new(builder.totals(true).build().unwrap())
}

fn overload(throttle: &Throttle<ManualClock>) {
    for _ in 0..1000 {
        if let Ok(permit) = throttle.allow() {
            permit.failure();
        }
    }
    assert!(throttle.share().refused > 0.9);
}

/// `a` with a throttle before `b` without.
fn router(clock: &ManualClock, config: RouterConfig) -> (Routes, Arc<Throttle<ManualClock>>) {
    let throttle = throttle(clock);
    let targets = [
        target(clock, "a").throttle(Arc::clone(&throttle)),
        target(clock, "b"),
    ];
    (Router::new(config, targets).unwrap(), throttle)
}

#[test]
fn a_call_that_a_throttle_refuses_goes_on_to_the_next_target() {
    let clock = ManualClock::new();
    let (router, throttle) = router(&clock, by(Policy::Priority));
    overload(&throttle);
    let before = throttle.totals().unwrap().rejections.closed;
    let names = successes(&router, 100);
    assert!(count(&names, "b") > 80, "{names:?}");
    let refused = throttle.totals().unwrap().rejections.closed - before;
    assert_eq!(refused, count(&names, "b") as u64);
}

#[test]
fn a_throttles_refusal_is_told_and_says_when_to_come_back() {
    let clock = ManualClock::new();
    let throttle = throttle(&clock);
    let only = target(&clock, "a").throttle(Arc::clone(&throttle));
    let router = Router::new(by(Policy::Priority), [only]).unwrap();
    overload(&throttle);
    let mut told = Vec::new();
    let none = router
        .choose_watched(
            &mut Attempts::new(),
            |_| true,
            |member, rejected| {
                assert!(member.throttle().is_some());
                told.push((member.name().to_owned(), rejected.cause()));
            },
        )
        .unwrap_err();
    assert_eq!(told, [("a".to_owned(), Cause::Throttled)]);
    assert!(matches!(none, NoTarget::Rejected { .. }));
    let bucket = ThrottleConfig::default().length / ThrottleConfig::default().buckets;
    assert!(none.retry_after().is_some_and(|wait| wait <= bucket));
}

#[test]
fn both_learn_what_became_of_a_call() {
    let clock = ManualClock::new();
    let (router, throttle) = router(&clock, by(Policy::Priority));
    choose(&router).unwrap().success();
    assert_eq!(throttle.share().accepts, 1);
    let (permit, call) = choose(&router).unwrap().into_parts();
    permit.done(Outcome::Answered.into());
    drop(call);
    assert_eq!(throttle.share().accepts, 2);
    drop(choose(&router).unwrap());
    assert_eq!(throttle.totals().unwrap().calls.abandoned, 1);
    choose(&router).unwrap().failure();
    assert_eq!(throttle.share().failures, 1);
    assert_eq!(router.members()[0].breaker().state(), State::Open);
}

#[test]
fn while_a_breaker_is_open_the_throttle_beside_it_is_not_asked() {
    let clock = ManualClock::new();
    let (router, throttle) = router(&clock, by(Policy::Priority));
    overload(&throttle);
    trip(&router, "a");
    let before = throttle.totals();
    assert_eq!(count(&successes(&router, 100), "b"), 100);
    assert_eq!(throttle.totals(), before);
}

#[test]
fn a_call_that_a_throttle_refuses_takes_no_probes_slot() {
    let clock = ManualClock::new();
    let (router, throttle) = router(&clock, by(Policy::Priority));
    trip(&router, "a");
    clock.advance(WAIT);
    overload(&throttle);
    let refused = (0..20).filter(|_| {
        let choice = choose(&router).unwrap();
        let refused = choice.name() == "b";
        choice.ignore();
        assert!(router.members()[0].breaker().is_available());
        refused
    });
    assert!(refused.count() > 10);
}

#[test]
fn a_refused_share_begins_no_ramp() {
    let clock = ManualClock::new();
    let config = RouterConfig {
        ramp: Some(Duration::from_secs(600)),
        ..by(Policy::Priority)
    };
    let (router, throttle) = router(&clock, config);
    overload(&throttle);
    successes(&router, 10);
    // The window is as new; on a ramp of ten minutes nearly all calls would be deferred.
    clock.advance(Duration::from_secs(11));
    assert_eq!(count(&successes(&router, 100), "a"), 100);
}

#[test]
fn a_last_resort_is_called_though_its_throttle_refuses() {
    let clock = ManualClock::new();
    let throttle = throttle(&clock);
    let targets = [
        target(&clock, "a"),
        Target::new("last", (), breaker(&clock, WAIT))
            .throttle(Arc::clone(&throttle))
            .role(Role::LastResort),
    ];
    let router = Router::new(by(Policy::Priority), targets).unwrap();
    trip(&router, "a");
    overload(&throttle);
    let before = throttle.totals().unwrap().calls;
    let guarded = (0..50).filter(|_| {
        let choice = choose(&router).unwrap();
        assert_eq!(choice.name(), "last");
        let guarded = choice.is_guarded();
        choice.success();
        guarded
    });
    let guarded = guarded.count() as u64;
    assert!(guarded < 25, "{guarded}");
    assert_eq!(
        throttle.totals().unwrap().calls.success,
        before.success + guarded
    );
}

#[test]
fn a_target_that_is_kept_in_use_is_not_called_past_its_throttle() {
    let clock = ManualClock::new();
    let config = RouterConfig {
        max_shed: Some(0),
        ..by(Policy::Priority)
    };
    let (router, throttle) = router(&clock, config);
    trip(&router, "a");
    clock.advance(WAIT);
    overload(&throttle);
    for _ in 0..20 {
        let choice = choose(&router).unwrap();
        assert!(choice.is_guarded());
        choice.ignore();
    }
}
