//! Which target is next, by each policy.

use std::collections::HashSet;
use std::time::Duration;

use cutout::ManualClock;
use cutout::router::{Attempts, Policy, Role, Router, RouterConfig};

use super::{WAIT, by, choose, count, router, successes, target, trip};

#[test]
fn priority_falls_back_and_comes_back_by_one_probe() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::Priority), &["a", "b"]);
    choose(&router).unwrap().failure();
    assert_eq!(choose(&router).unwrap().name(), "b");
    clock.advance(WAIT);
    let probe = choose(&router).unwrap();
    assert!(probe.name() == "a" && probe.is_probe());
    // While the probe is out, others carry the load.
    assert_eq!(choose(&router).unwrap().name(), "b");
    probe.success();
    assert_eq!(choose(&router).unwrap().name(), "a");
}

#[test]
fn round_robin_takes_each_in_turn_and_skips_an_open_one_evenly() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::RoundRobin), &["a", "b", "c", "d"]);
    assert_eq!(
        successes(&router, 8),
        ["a", "b", "c", "d", "a", "b", "c", "d"]
    );
    trip(&router, "b");
    let names = successes(&router, 300);
    assert_eq!(
        ["a", "b", "c", "d"].map(|name| count(&names, name)),
        [100, 0, 100, 100]
    );
}

#[test]
fn round_robin_does_not_let_a_target_that_is_back_catch_up() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::RoundRobin), &["a", "b"]);
    trip(&router, "a");
    successes(&router, 100);
    clock.advance(WAIT);
    // The turn of the round that is under way, and its share from then on.
    assert_eq!(successes(&router, 1), ["a"]);
    assert_eq!(successes(&router, 6), ["a", "b", "a", "b", "a", "b"]);
}

#[test]
fn weights_are_exact_over_every_window_of_their_sum() {
    let clock = ManualClock::new();
    let targets =
        [("a", 1), ("b", 2), ("c", 7)].map(|(name, weight)| target(&clock, name).weight(weight));
    let router = Router::new(by(Policy::Weighted), targets).unwrap();
    for _ in 0..50 {
        let names = successes(&router, 10);
        assert_eq!(["a", "b", "c"].map(|name| count(&names, name)), [1, 2, 7]);
    }
    router.set_weight("c", 3).unwrap();
    let names = successes(&router, 60);
    assert_eq!(
        ["a", "b", "c"].map(|name| count(&names, name)),
        [10, 20, 30]
    );
}

#[test]
fn weights_share_the_load_of_an_open_target_by_weight() {
    let clock = ManualClock::new();
    let targets =
        [("a", 1), ("b", 2), ("c", 7)].map(|(name, weight)| target(&clock, name).weight(weight));
    let router = Router::new(by(Policy::Weighted), targets).unwrap();
    trip(&router, "c");
    let names = successes(&router, 30);
    assert_eq!(["a", "b", "c"].map(|name| count(&names, name)), [10, 20, 0]);
}

#[test]
fn least_in_flight_evens_out_the_calls_in_flight_by_weight() {
    let clock = ManualClock::new();
    let targets =
        [("a", 1), ("b", 1), ("c", 2)].map(|(name, weight)| target(&clock, name).weight(weight));
    let router = Router::new(by(Policy::LeastInFlight), targets).unwrap();
    let held: Vec<_> = (0..12).map(|_| choose(&router).unwrap()).collect();
    let in_flight: Vec<_> = router
        .members()
        .iter()
        .map(|member| member.in_flight())
        .collect();
    assert_eq!(in_flight, [3, 3, 6]);
    let (of_b, others): (Vec<_>, Vec<_>) =
        held.into_iter().partition(|choice| choice.name() == "b");
    drop(of_b);
    assert_eq!(choose(&router).unwrap().name(), "b");
    drop(others);
    assert!(
        router
            .members()
            .iter()
            .all(|member| member.in_flight() == 0)
    );
}

#[test]
fn least_in_flight_takes_turns_when_nothing_is_in_flight() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::LeastInFlight), &["a", "b", "c"]);
    let names = successes(&router, 30);
    assert_eq!(
        ["a", "b", "c"].map(|name| count(&names, name)),
        [10, 10, 10]
    );
}

#[test]
fn a_key_stays_with_its_target_and_moves_only_when_that_one_is_out() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::Sticky), &["a", "b", "c", "d"]);
    let homes = || -> Vec<String> {
        (0..400)
            .map(|key| router.choose(&mut Attempts::for_key(key)).unwrap())
            .map(|choice| choice.name().to_owned())
            .collect()
    };
    let before = homes();
    assert_eq!(before, homes());
    for name in ["a", "b", "c", "d"] {
        assert!(
            (60..140).contains(&count(&before, name)),
            "{name}: {}",
            count(&before, name)
        );
    }
    trip(&router, "b");
    let moved: Vec<_> = before
        .iter()
        .zip(homes())
        .filter(|(old, new)| *old != new)
        .collect();
    assert!(moved.iter().all(|(old, _)| *old == "b"));
    assert_eq!(moved.len(), count(&before, "b"));
    assert_eq!(
        moved
            .iter()
            .map(|(_, new)| new)
            .collect::<HashSet<_>>()
            .len(),
        3
    );
}

#[test]
fn a_weight_is_a_share_of_the_keys() {
    let clock = ManualClock::new();
    let targets = [("a", 1), ("b", 3)].map(|(name, weight)| target(&clock, name).weight(weight));
    let router = Router::new(by(Policy::Sticky), targets).unwrap();
    let is_b = |key: &u32| router.choose(&mut Attempts::for_key(key)).unwrap().name() == "b";
    let of_b = (0..4000).filter(is_b).count();
    assert!((2850..3150).contains(&of_b), "{of_b}");
}

fn with_canary(clock: &ManualClock, basis_points: u32) -> super::Routes {
    let config = RouterConfig {
        policy: Policy::RoundRobin,
        canary_basis_points: basis_points,
        ..RouterConfig::default()
    };
    let names = ["a", "b", "new"].map(|name| target(clock, name));
    let [a, b, new] = names;
    Router::new(config, [a, new.role(Role::Canary), b]).unwrap()
}

#[test]
fn the_canary_gets_exactly_its_share_evenly_spread() {
    let clock = ManualClock::new();
    for (basis_points, window, share) in [
        (500, 20, 1),
        (3000, 10, 3),
        (1, 10_000, 1),
        (10_000, 1, 1),
        (0, 10, 0),
    ] {
        let router = with_canary(&clock, basis_points);
        for _ in 0..3 {
            assert_eq!(
                count(&successes(&router, window), "new"),
                share,
                "{basis_points}"
            );
        }
    }
}

#[test]
fn trouble_sends_the_canarys_share_back() {
    let clock = ManualClock::new();
    let router = with_canary(&clock, 5000);
    trip(&router, "new");
    let names = successes(&router, 100);
    assert_eq!(
        ["a", "b", "new"].map(|name| count(&names, name)),
        [50, 50, 0]
    );
    clock.advance(WAIT);
    let names = successes(&router, 100);
    assert_eq!(count(&names, "new"), 50);
}

#[test]
fn the_canary_gets_no_more_than_its_share_when_all_others_reject() {
    let clock = ManualClock::new();
    let router = with_canary(&clock, 1000);
    trip(&router, "a");
    trip(&router, "b");
    let admitted = (0..100).filter(|_| choose(&router).is_ok()).count();
    assert_eq!(admitted, 10);
}

#[test]
fn a_key_is_the_canarys_always_or_never() {
    let clock = ManualClock::new();
    let router = with_canary(&clock, 2500);
    let is_new = |key: &u32| router.choose(&mut Attempts::for_key(key)).unwrap().name() == "new";
    let first: Vec<_> = (0..2000).filter(is_new).collect();
    let again: Vec<_> = (0..2000).filter(is_new).collect();
    assert_eq!(first, again);
    assert!((420..580).contains(&first.len()), "{}", first.len());
}

#[test]
fn a_recovered_target_gets_its_share_back_step_by_step() {
    let clock = ManualClock::new();
    let config = RouterConfig {
        ramp: Some(Duration::from_secs(100)),
        ..by(Policy::Priority)
    };
    let router = router(&clock, config, &["a", "b"]);
    assert_eq!(
        count(&successes(&router, 10), "a"),
        10,
        "no ramp before trouble"
    );
    trip(&router, "a");
    assert_eq!(count(&successes(&router, 10), "a"), 0);
    clock.advance(WAIT);
    // The probe, and then the way back begins.
    assert_eq!(count(&successes(&router, 10), "a"), 1);
    clock.advance(Duration::from_secs(25));
    assert_eq!(count(&successes(&router, 100), "a"), 25);
    clock.advance(Duration::from_secs(50));
    assert_eq!(count(&successes(&router, 100), "a"), 75);
    clock.advance(Duration::from_secs(25));
    assert_eq!(count(&successes(&router, 100), "a"), 100);
}

#[test]
fn a_ramp_is_a_part_of_what_the_policy_gives_the_others() {
    let clock = ManualClock::new();
    let config = RouterConfig {
        ramp: Some(Duration::from_secs(100)),
        ..by(Policy::RoundRobin)
    };
    let router = router(&clock, config, &["a", "b", "c", "d"]);
    trip(&router, "a");
    successes(&router, 4);
    clock.advance(WAIT);
    successes(&router, 8);
    clock.advance(Duration::from_secs(50));
    let names = successes(&router, 700);
    assert_eq!(
        ["a", "b", "c", "d"].map(|name| count(&names, name)),
        [100, 200, 200, 200]
    );
}

#[test]
fn a_target_on_its_way_back_takes_the_calls_that_no_other_can() {
    let clock = ManualClock::new();
    let config = RouterConfig {
        ramp: Some(Duration::from_secs(100)),
        ..by(Policy::Priority)
    };
    let router = router(&clock, config, &["a", "b"]);
    trip(&router, "a");
    successes(&router, 1);
    clock.advance(WAIT);
    successes(&router, 2);
    trip(&router, "b");
    assert_eq!(count(&successes(&router, 10), "a"), 10);
}

#[test]
fn a_probe_begins_the_way_back_even_if_nothing_was_rejected_before() {
    let clock = ManualClock::new();
    let config = RouterConfig {
        ramp: Some(Duration::from_secs(100)),
        ..by(Policy::Priority)
    };
    let router = router(&clock, config, &["a", "b"]);
    choose(&router).unwrap().failure();
    clock.advance(WAIT);
    assert_eq!(successes(&router, 1), ["a"], "the probe");
    successes(&router, 1);
    clock.advance(Duration::from_secs(50));
    assert_eq!(count(&successes(&router, 100), "a"), 50);
}
