//! Which share is refused, and what counts.

use cutout::{Cause, Outcome, State, ThrottleConfig};

use super::{Rig, SECOND};

#[test]
fn nobody_is_refused_while_the_upstream_takes_half_of_the_calls() {
    let rig = Rig::new();
    for call in 0..100_000 {
        rig.clock.advance(SECOND / 1000);
        let outcome = if call % 2 == 0 {
            Outcome::Success
        } else {
            Outcome::Failure
        };
        assert!(
            rig.call(outcome).is_ok(),
            "call {call}: {:?}",
            rig.throttle.share()
        );
    }
}

#[test]
fn it_sends_k_times_what_the_upstream_takes_and_keeps_it_busy() {
    for k in [1.1, 1.5, 2.0, 3.0] {
        let rig = Rig::of(ThrottleConfig {
            k,
            ..ThrottleConfig::default()
        });
        for _ in 0..30 {
            rig.second(1000, 200);
        }
        let (mut sent, mut taken) = (0, 0);
        for _ in 0..30 {
            let second = rig.second(1000, 200);
            (sent, taken) = (sent + second.0, taken + second.1);
        }
        let most = k.min(5.0) * f64::from(taken);
        assert!(
            f64::from(sent) <= most * 1.1,
            "k {k}: sent {sent}, taken {taken}"
        );
        assert!(taken >= 200 * 30 * 9 / 10, "k {k}: taken {taken}");
    }
}

#[test]
fn answered_is_an_accept_and_ignored_is_no_request() {
    let rig = Rig::new();
    for outcome in [
        Outcome::Success,
        Outcome::Answered,
        Outcome::Failure,
        Outcome::Timeout,
        Outcome::Ignored,
    ] {
        rig.call(outcome).unwrap();
    }
    let share = rig.throttle.share();
    assert_eq!((share.requests, share.accepts, share.failures), (4, 2, 2));
    assert_eq!(share.refused, 0.0);
}

#[test]
fn refusals_are_requests_and_leave_the_window_with_their_bucket() {
    let rig = Rig::of(ThrottleConfig {
        probes_per_second: 0.001,
        ..ThrottleConfig::default()
    });
    let refused = (0..1000)
        .filter(|_| rig.call(Outcome::Failure).is_err())
        .count() as u32;
    let share = rig.throttle.share();
    assert!(refused > 900, "{refused}");
    assert_eq!((share.requests, share.failures), (1000, 1000 - refused));
    assert_eq!(share.refused, 1000.0 / 1001.0);
    rig.clock.advance(10 * SECOND);
    assert_eq!(rig.throttle.share().requests, 0);
    assert!(rig.call(Outcome::Success).is_ok());
}

#[test]
fn a_refusal_says_why_and_when_the_window_moves_on() {
    let rig = Rig::new();
    rig.clock.advance(SECOND / 4);
    let rejected = (0..100)
        .find_map(|_| rig.call(Outcome::Failure).err())
        .unwrap();
    assert_eq!(
        (rejected.state(), rejected.cause()),
        (State::Closed, Cause::Throttled)
    );
    assert_eq!(rejected.retry_after(), Some(SECOND * 3 / 4));
    assert_eq!(rejected.breaker_name().as_deref(), Some("search"));
    assert_eq!(
        rejected.to_string(),
        "throttle `search` refuses a share of the calls (the upstream accepts too few); retry in 750.0ms"
    );
}

#[test]
fn as_many_calls_as_were_asked_for_are_sent_to_an_upstream_that_takes_none() {
    let rig = Rig::of(ThrottleConfig {
        probes_per_second: 4.0,
        ..ThrottleConfig::default()
    });
    for _ in 0..20 {
        rig.second(10_000, 0);
    }
    let sent: u32 = (0..20).map(|_| rig.second(10_000, 0).0).sum();
    // One in 100,001 is not drawn, besides.
    assert!((80..=84).contains(&sent), "{sent}");
}

#[test]
fn an_upstream_that_is_back_is_found_and_filled_again() {
    let rig = Rig::new();
    for _ in 0..20 {
        rig.second(1000, 0);
    }
    let seconds = (1..100).find(|_| rig.second(1000, 1000).1 >= 950).unwrap();
    // From 1 to 1000 calls a second by the factor e each 5 s.
    assert!((20..=40).contains(&seconds), "{seconds} s");
}

#[test]
fn a_share_of_failures_above_what_k_tolerates_drives_it_to_its_floor() {
    let sent_at = |failing: u32| {
        let rig = Rig::new();
        for call in 0..60_000_u32 {
            rig.clock.advance(SECOND / 1000);
            let fails = call.wrapping_mul(2_654_435_761) % 100 < failing;
            let _ = rig.call(if fails {
                Outcome::Failure
            } else {
                Outcome::Success
            });
        }
        let share = rig.throttle.share();
        f64::from(share.accepts + share.failures) / f64::from(share.requests)
    };
    assert!(sent_at(40) > 0.95);
    assert!(sent_at(60) < 0.05, "{}", sent_at(60));
}

#[test]
fn what_is_not_legal_is_refused_with_what_would_be() {
    let default = ThrottleConfig::default;
    for (config, field) in [
        (
            ThrottleConfig {
                k: 0.99,
                ..default()
            },
            "k",
        ),
        (
            ThrottleConfig {
                k: f64::NAN,
                ..default()
            },
            "k",
        ),
        (
            ThrottleConfig {
                k: f64::INFINITY,
                ..default()
            },
            "k",
        ),
        (
            ThrottleConfig {
                k: -2.0,
                ..default()
            },
            "k",
        ),
        (
            ThrottleConfig {
                length: std::time::Duration::ZERO,
                ..default()
            },
            "length",
        ),
        (
            ThrottleConfig {
                length: SECOND / 1000,
                ..default()
            },
            "length",
        ),
        (
            ThrottleConfig {
                buckets: 0,
                ..default()
            },
            "buckets",
        ),
        (
            ThrottleConfig {
                buckets: 61,
                ..default()
            },
            "buckets",
        ),
        (
            ThrottleConfig {
                probes_per_second: 0.0,
                ..default()
            },
            "probes_per_second",
        ),
        (
            ThrottleConfig {
                probes_per_second: -1.0,
                ..default()
            },
            "probes_per_second",
        ),
        (
            ThrottleConfig {
                probes_per_second: f64::NAN,
                ..default()
            },
            "probes_per_second",
        ),
        (
            ThrottleConfig {
                probes_per_second: 1e9,
                ..default()
            },
            "probes_per_second",
        ),
    ] {
        let error = cutout::Throttle::builder()
            .config(config)
            .build()
            .unwrap_err();
        assert_eq!(error.field(), field, "{config:?}");
    }
    for config in [
        ThrottleConfig {
            k: 1.0,
            ..default()
        },
        ThrottleConfig {
            k: 1e300,
            ..default()
        },
        ThrottleConfig {
            length: std::time::Duration::MAX,
            buckets: 1,
            ..default()
        },
        ThrottleConfig {
            probes_per_second: 1e-300,
            ..default()
        },
    ] {
        let throttle = cutout::Throttle::builder().config(config).build().unwrap();
        for _ in 0..100 {
            let _ = throttle.allow().map(|permit| permit.failure());
        }
        assert_eq!(throttle.share().requests, 100);
    }
}

#[test]
fn a_permit_that_is_dropped_counts_as_the_config_says() {
    let rig = Rig::new();
    drop(rig.throttle.allow());
    assert_eq!(rig.throttle.share().requests, 0);
    let panics = || {
        let _permit = rig.throttle.allow();
        panic!("the call");
    };
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
    assert_eq!(rig.throttle.share().failures, 1);

    let rig = Rig::of(ThrottleConfig {
        abandoned: Outcome::Timeout,
        ..ThrottleConfig::default()
    });
    drop(rig.throttle.allow());
    assert_eq!(rig.throttle.share().failures, 1);
}

#[test]
fn totals_tell_calls_and_refusals() {
    let throttle = cutout::Throttle::builder().totals(true).build().unwrap();
    for _ in 0..100 {
        let _ = throttle.allow().map(|permit| permit.timeout());
    }
    let totals = throttle.totals().unwrap();
    assert_eq!(totals.calls.timeout + totals.rejections.closed, 100);
    assert!(totals.rejections.closed > 80);
}

#[test]
fn a_bucket_of_more_than_a_million_failures_is_looked_at_as_any_other() {
    let rig = Rig::of(ThrottleConfig {
        k: 1000.0,
        ..ThrottleConfig::default()
    });
    for _ in 0..2000 {
        rig.call(Outcome::Success).unwrap();
    }
    let failures = (1 << 20) + 100;
    for _ in 0..failures {
        rig.call(Outcome::Failure).unwrap();
    }
    let share = rig.throttle.share();
    assert_eq!((share.failures, share.refused), (failures, 0.0));
}
