//! Targets that reject: who is asked instead, and what is said when none is left.

use std::sync::Arc;
use std::time::Duration;

use cutout::router::{Attempts, NoTarget, Policy, Role, Router, RouterConfig, Target};
use cutout::{AnyPermit, Breaker, ManualClock, Outcome, Settled, State};

use super::{WAIT, breaker, by, choose, count, router, successes, target, trip};

#[test]
fn when_all_reject_the_rejection_that_ends_first_is_told() {
    let clock = ManualClock::new();
    let seconds = |seconds| breaker(&clock, Duration::from_secs(seconds));
    let router = Router::new(
        by(Policy::Priority),
        [
            Target::new("a", (), seconds(30)),
            Target::new("b", (), seconds(20)),
            Target::new("c", (), seconds(40)),
        ],
    )
    .unwrap();
    for name in ["a", "b", "c"] {
        trip(&router, name);
    }
    clock.advance(Duration::from_secs(5));
    let error = choose(&router).unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(15)));
    let NoTarget::Rejected { name, rejected } = error else {
        panic!("{error}")
    };
    assert_eq!((&*name, rejected.state()), ("b", State::Open));
}

#[test]
fn a_wait_ends_before_a_probe_does_and_a_probe_before_a_forced_opening() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::Priority), &["forced", "probing", "open"]);
    router.members()[0]
        .breaker()
        .force_open(None, "maintenance");
    trip(&router, "probing");
    clock.advance(WAIT);
    let probe = choose(&router).unwrap();
    let first = |router: &super::Routes| match choose(router).unwrap_err() {
        NoTarget::Rejected { name, .. } => name.to_string(),
        other => panic!("{other}"),
    };
    trip(&router, "open");
    assert_eq!(first(&router), "open");
    router.remove("open").unwrap();
    assert_eq!(first(&router), "probing");
    drop(probe);
    router.remove("probing").unwrap();
    assert_eq!(first(&router), "forced");
}

#[test]
fn a_request_charges_only_the_targets_it_tried() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::Priority), &["a", "b", "c"]);
    trip(&router, "a");
    let mut attempts = Attempts::new();
    router.choose(&mut attempts).unwrap().failure();
    router.choose(&mut attempts).unwrap().success();
    let samples: Vec<_> = router
        .members()
        .iter()
        .map(|member| member.breaker().generation())
        .collect();
    assert_eq!(attempts.tried(), 2);
    // One transition each of `a` and `b`, none of `c`.
    assert_eq!(samples, [2, 2, 1].map(|transitions| transitions - 1));
    assert_eq!(router.members()[2].breaker().snapshot().counts().samples, 1);
}

#[test]
fn the_last_resort_is_called_when_all_others_reject_or_have_been_tried() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::RoundRobin), &["a", "b"]);
    router
        .insert(0, target(&clock, "stand-in").role(Role::LastResort))
        .unwrap();
    assert_eq!(count(&successes(&router, 10), "stand-in"), 0);
    let mut attempts = Attempts::new();
    router.choose(&mut attempts).unwrap().ignore();
    trip(&router, "b");
    let last = router.choose(&mut attempts).unwrap();
    assert_eq!((last.name(), last.is_guarded()), ("stand-in", true));
    last.failure();
    assert!(matches!(
        router.choose(&mut attempts),
        Err(NoTarget::Rejected { .. })
    ));
    // Its own breaker is open now, and it is called all the same.
    trip(&router, "a");
    let last = choose(&router).unwrap();
    assert_eq!((last.name(), last.is_guarded()), ("stand-in", false));
    assert_eq!(last.failure(), Settled::Ignored);
}

#[test]
fn no_more_targets_are_shed_than_the_limit_allows() {
    let clock = ManualClock::new();
    let config = RouterConfig {
        max_shed: Some(2),
        ..by(Policy::RoundRobin)
    };
    let router = router(&clock, config, &["a", "b", "c", "d"]);
    for name in ["c", "a"] {
        trip(&router, name);
        clock.advance(Duration::from_secs(1));
    }
    let names = successes(&router, 100);
    assert_eq!(
        ["a", "b", "c", "d"].map(|name| count(&names, name)),
        [0, 50, 0, 50]
    );
    for name in ["d", "b"] {
        trip(&router, name);
        clock.advance(Duration::from_secs(1));
    }
    // `c` and `a` will be back first: they are called without a permit.
    let choice = choose(&router).unwrap();
    assert!(!choice.is_guarded());
    drop(choice);
    let names = successes(&router, 100);
    assert_eq!(
        ["a", "b", "c", "d"].map(|name| count(&names, name)),
        [50, 0, 50, 0]
    );
}

#[test]
fn a_forced_opening_is_shed_beyond_any_limit() {
    let clock = ManualClock::new();
    let config = RouterConfig {
        max_shed: Some(0),
        ..by(Policy::Priority)
    };
    let router = router(&clock, config, &["a", "b"]);
    router.members()[0]
        .breaker()
        .force_open(None, "maintenance");
    trip(&router, "b");
    assert_eq!(count(&successes(&router, 10), "b"), 10);
    router.members()[1]
        .breaker()
        .force_open(None, "maintenance");
    assert!(choose(&router).is_err());
}

#[test]
fn only_eligible_targets_are_asked() {
    let clock = ManualClock::new();
    let model = |name: &str, tokens: u32| Target::new(name, tokens, breaker(&clock, WAIT));
    let router = Router::new(
        by(Policy::Priority),
        [model("small", 8), model("large", 128)],
    )
    .unwrap();
    let mut attempts = Attempts::new();
    let choice = router
        .choose_where(&mut attempts, |&tokens| tokens >= 100)
        .unwrap();
    assert_eq!(choice.name(), "large");
    choice.success();
    let none = router
        .choose_where(&mut Attempts::new(), |&tokens| tokens >= 1000)
        .unwrap_err();
    assert_eq!(none.to_string(), "no target is eligible for this request");
}

#[test]
fn a_choice_in_parts_counts_as_in_flight_until_its_call_ends() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::Priority), &["a"]);
    let (permit, call) = choose(&router).unwrap().into_parts();
    permit.done(Outcome::Success.into());
    assert_eq!(router.members()[0].in_flight(), 1);
    assert_eq!(call.name(), "a");
    drop(call);
    assert_eq!(router.members()[0].in_flight(), 0);
}

#[test]
fn a_watcher_is_told_of_each_target_that_was_asked_and_rejected_and_of_no_other() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::Priority), &["a", "b", "c", "d"]);
    trip(&router, "a");
    trip(&router, "b");
    trip(&router, "d");
    let mut told = Vec::new();
    let choice = router.choose_watched(
        &mut Attempts::new(),
        |_| true,
        |member, rejected| told.push((member.name().to_owned(), rejected.state())),
    );
    assert_eq!(choice.unwrap().name(), "c");
    assert_eq!(told, ["a", "b"].map(|name| (name.to_owned(), State::Open)));
}

#[test]
fn a_breaker_that_counts_counts_choices_as_it_counts_permits() {
    let clock = ManualClock::new();
    let breaker = Breaker::builder().clock(clock).totals(true).build();
    let breaker = Arc::new(breaker.unwrap());
    let target = Target::new("a", (), Arc::clone(&breaker));
    let router = Router::new(by(Policy::Priority), [target]).unwrap();
    choose(&router).unwrap().success();
    choose(&router).unwrap().failure();
    drop(choose(&router).unwrap());
    let calls = breaker.totals().unwrap().calls;
    assert_eq!((calls.success, calls.failure, calls.abandoned), (1, 1, 1));
}
