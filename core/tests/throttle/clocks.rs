//! Clocks that jump.

use std::time::Duration;

use cutout::{Outcome, ThrottleConfig};

use super::{Rig, SECOND};

/// An hour into an overload of five times the capacity.
fn overloaded() -> Rig {
    let rig = Rig::new();
    rig.clock.set(Duration::from_secs(3600));
    for _ in 0..20 {
        rig.second(1000, 200);
    }
    rig
}

#[test]
fn a_clock_that_steps_back_makes_no_burst_and_does_not_silence_it() {
    let rig = overloaded();
    rig.clock.set(SECOND);
    let (sent, _) = rig.second(1000, 200);
    assert!(sent <= 440, "{sent}");
    // The clock is an hour behind the window, and the upstream back.
    let seconds = (1..600).find(|_| rig.second(1000, 1000).0 >= 990);
    assert!(seconds.is_some(), "{:?}", rig.throttle.share());
}

#[test]
fn a_clock_that_steps_back_leaves_it_its_probes() {
    let rig = Rig::of(ThrottleConfig {
        probes_per_second: 4.0,
        ..ThrottleConfig::default()
    });
    rig.clock.set(Duration::from_secs(3600));
    for _ in 0..20 {
        rig.second(10_000, 0);
    }
    rig.clock.set(SECOND);
    let sent: u32 = (0..10).map(|_| rig.second(10_000, 0).0).sum();
    assert!((40..=44).contains(&sent), "{sent}");
}

#[test]
fn a_clock_that_leaps_ahead_makes_it_new_and_no_more() {
    let rig = overloaded();
    rig.clock.advance(Duration::from_secs(1_000_000));
    let (sent, _) = rig.second(1000, 200);
    assert!(sent <= 480, "{sent}");
}

#[test]
fn a_clock_that_stands_still_lets_the_share_follow_all_the_same() {
    let rig = Rig::new();
    for _ in 0..30 {
        let _ = rig.call(Outcome::Failure);
    }
    assert!(rig.throttle.share().refused > 0.9);
    // One in so many is not drawn, and accepted.
    let calls = (1..100_000).find(|_| {
        let _ = rig.call(Outcome::Success);
        rig.throttle.share().refused <= 0.0
    });
    assert!(calls.is_some(), "{:?}", rig.throttle.share());
}

#[test]
fn the_ends_of_time_are_no_panic() {
    let rig = Rig::new();
    for at in [0, u64::MAX, 1, u64::MAX / 2, u64::MAX - 1, 0] {
        rig.clock.set(Duration::from_nanos(at));
        for _ in 0..20 {
            let _ = rig.call(Outcome::Failure);
        }
        let share = rig.throttle.share();
        assert!((0.0..1.0).contains(&share.refused), "{share:?}");
    }
}
