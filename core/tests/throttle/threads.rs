//! Many threads at once.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

use cutout::{Clock, ManualClock, Outcome, Throttle, ThrottleConfig};

const CALLS: u32 = 20_000;

#[test]
fn each_request_is_counted_once_whoever_makes_it() {
    let throttle = Throttle::builder()
        .clock(ManualClock::new())
        .build()
        .unwrap();
    let (sent, accepted) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for thread in 0..4 {
            let (throttle, sent, accepted) = (&throttle, &sent, &accepted);
            scope.spawn(move || {
                for call in 0..CALLS {
                    let Ok(permit) = throttle.allow() else {
                        continue;
                    };
                    sent.fetch_add(1, Relaxed);
                    if (call + thread) % 3 == 0 {
                        accepted.fetch_add(1, Relaxed);
                        permit.success();
                    } else {
                        permit.failure();
                    }
                }
            });
        }
    });
    let (sent, accepted) = (sent.into_inner(), accepted.into_inner());
    let share = throttle.share();
    assert_eq!(share.requests, 4 * CALLS);
    assert_eq!((share.accepts, share.failures), (accepted, sent - accepted));
    assert!(sent < 4 * CALLS, "a share is refused");
}

/// Whatever the threads do last, what the throttle thinks of its window is right when they are done: it refuses nobody
/// if there is nothing to refuse, and draws if there is.
#[test]
fn when_all_are_done_it_knows_whether_there_is_something_to_refuse() {
    for round in 0..500 {
        let config = ThrottleConfig {
            probes_per_second: 1e-9,
            ..ThrottleConfig::default()
        };
        let clock = ManualClock::new();
        let throttle = Throttle::builder()
            .config(config)
            .seed(round)
            .clock(clock.clone())
            .build()
            .unwrap();
        thread::scope(|scope| {
            for thread in 0..2 {
                let throttle = &throttle;
                scope.spawn(move || {
                    for call in 0..20 + round % 7 {
                        let fails = (call + thread) % 2 == 0;
                        let outcome = if fails {
                            Outcome::Failure
                        } else {
                            Outcome::Success
                        };
                        let _ = throttle.allow().map(|permit| permit.done(outcome));
                    }
                });
            }
        });
        if throttle.share().refused > 0.0 {
            // One that admits without a look would admit all of these.
            let admitted = (0..2000).filter(|_| throttle.allow().is_ok()).count();
            assert!(
                admitted < 1000,
                "round {round}: {admitted} at {:?}, {}",
                throttle.share(),
                clock.now()
            );
        } else {
            assert!(throttle.allow().is_ok());
        }
    }
}
