//! Who is asked by how fast targets answer.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use cutout::router::{Attempts, Policy, Router};
use cutout::{AnyPermit, ManualClock, Outcome};

use super::{Routes, by, choose, count, router, target, trip};

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The names of so many calls, one after the other, each of which takes its target's time.
fn calls(
    router: &Routes,
    clock: &ManualClock,
    times: usize,
    of: impl Fn(&str) -> Duration,
) -> Vec<String> {
    let call = |_| {
        let choice = choose(router).unwrap();
        let name = choice.name().to_owned();
        clock.advance(of(&name));
        choice.success();
        name
    };
    (0..times).map(call).collect()
}

#[test]
fn targets_that_are_alike_have_like_shares() {
    let clock = ManualClock::new();
    let names = ["a", "b", "c", "d", "e"];
    let router = router(&clock, by(Policy::Fastest), &names);
    let chosen = calls(&router, &clock, 10_000, |_| millis(20));
    for name in names {
        let count = count(&chosen, name);
        assert!((1800..=2200).contains(&count), "{name}: {count}");
    }
}

#[test]
fn a_target_that_becomes_slow_is_left_at_once_and_tried_again_when_it_may_be_well() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::Fastest), &["a", "b", "c"]);
    calls(&router, &clock, 300, |_| millis(20));
    let slow = |name: &str| millis(if name == "c" { 1000 } else { 20 });
    let chosen = calls(&router, &clock, 50, slow);
    assert!(count(&chosen, "c") <= 1, "{chosen:?}");
    let chosen = calls(&router, &clock, 500, slow);
    assert!(count(&chosen, "c") <= 1, "{chosen:?}");
    // A thousand milliseconds sink to twenty in less than six half-lives of ten seconds.
    clock.advance(Duration::from_secs(60));
    let chosen = calls(&router, &clock, 600, |_| millis(20));
    assert!(count(&chosen, "c") > 100, "{}", count(&chosen, "c"));
}

#[test]
fn a_target_that_is_faster_carries_more_in_flight() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::Fastest), &["fast", "slow"]);
    calls(&router, &clock, 2, |name| {
        millis(if name == "fast" { 10 } else { 40 })
    });
    let held: Vec<_> = (0..50).map(|_| choose(&router).unwrap()).collect();
    let fast = held.iter().filter(|choice| choice.name() == "fast").count();
    assert!((39..=41).contains(&fast), "{fast}");
}

#[test]
fn a_weight_counts_as_so_many_targets() {
    let clock = ManualClock::new();
    let targets = [("a", 1), ("b", 3)].map(|(name, weight)| target(&clock, name).weight(weight));
    let router = Router::new(by(Policy::Fastest), targets).unwrap();
    for member in ["a", "b"] {
        let choice = router.choose(&mut Default::default()).unwrap();
        assert_eq!(choice.name(), member, "who is not known comes first");
        clock.advance(millis(10));
        choice.success();
    }
    let held: Vec<_> = (0..40).map(|_| choose(&router).unwrap()).collect();
    let a = held.iter().filter(|choice| choice.name() == "a").count();
    assert!((9..=11).contains(&a), "{a}");
}

#[test]
fn a_target_that_fails_at_once_is_not_taken_for_fast() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::Fastest), &["a", "b"]);
    let slow_a = |name: &str| millis(if name == "a" { 100 } else { 20 });
    calls(&router, &clock, 20, slow_a);
    for _ in 0..10 {
        let mut attempts = Attempts::new();
        assert_eq!(router.choose(&mut attempts).unwrap().name(), "b");
        let a = router.choose(&mut attempts).unwrap();
        // Its breaker would open at a failure; what is ignored says as little of its speed.
        a.ignore();
    }
    assert_eq!(count(&calls(&router, &clock, 20, slow_a), "a"), 0);
    // What took long and came to nothing is slow.
    let b = choose(&router).unwrap();
    clock.advance(millis(500));
    b.ignore();
    let chosen = calls(&router, &clock, 20, |_| millis(20));
    assert_eq!(count(&chosen, "b"), 0);
}

#[test]
fn what_took_said_counts_instead_of_the_calls_length() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::Fastest), &["long", "late"]);
    for _ in 0..20 {
        let mut choice = choose(&router).unwrap();
        let is_long = choice.name() == "long";
        choice.took(millis(if is_long { 10 } else { 100 }));
        clock.advance(millis(if is_long { 5000 } else { 1 }));
        choice.success();
        let (permit, mut call) = choose(&router).unwrap().into_parts();
        call.took(millis(if call.name() == "long" { 10 } else { 100 }));
        permit.done(Outcome::Success.into());
    }
    let chosen: Vec<_> = (0..20)
        .map(|_| choose(&router).unwrap().name().to_owned())
        .collect();
    assert_eq!(count(&chosen, "late"), 0);
}

#[test]
fn a_fast_target_that_rejects_is_passed_over() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::Fastest), &["a", "b", "c"]);
    calls(&router, &clock, 30, |_| millis(20));
    trip(&router, "a");
    trip(&router, "b");
    assert_eq!(
        count(&calls(&router, &clock, 100, |_| millis(20)), "c"),
        100
    );
}

#[test]
fn of_64_threads_few_go_to_the_slow_one() {
    const THREADS: usize = 64;
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::Fastest), &["a", "b", "slow"]);
    let to_slow = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..200 {
                    let mut choice = choose(&router).unwrap();
                    let is_slow = choice.name() == "slow";
                    to_slow.fetch_add(usize::from(is_slow), Relaxed);
                    choice.took(millis(if is_slow { 1000 } else { 10 }));
                    choice.success();
                }
            });
        }
    });
    // Each thread may have chosen before the first of its calls has told.
    let to_slow = to_slow.into_inner();
    assert!(to_slow <= THREADS, "{to_slow} of {}", THREADS * 200);
}
