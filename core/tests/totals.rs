//! What a breaker counts when it is asked to.

use std::sync::Arc;
use std::time::Duration;

use cutout::{
    Breaker, Builder, Cause, Config, Endings, ManualClock, OpenWait, Outcome, Rejections, State,
};

const WAIT: Duration = Duration::from_secs(10);

fn fragile(clock: &ManualClock) -> Builder<ManualClock> {
    Breaker::builder()
        .consecutive_failures(1)
        .open_wait(OpenWait::fixed(WAIT))
        .clock(clock.clone())
        .totals(true)
}

#[test]
fn nothing_is_counted_unasked() {
    let breaker = Breaker::builder().listener(|_| ()).build().unwrap();
    breaker.allow().unwrap().failure();
    assert_eq!(breaker.totals(), None);
}

#[test]
fn every_way_to_end_is_counted_once_and_probes_apart() {
    let clock = ManualClock::new();
    let breaker = Arc::new(fragile(&clock).build().unwrap());
    breaker.allow().unwrap().success();
    breaker.allow_owned().unwrap().success();
    breaker.allow().unwrap().ignore();
    drop(breaker.allow().unwrap());
    drop(breaker.allow_owned().unwrap());
    breaker.allow().unwrap().timeout();

    clock.advance(WAIT);
    drop(breaker.allow().unwrap());
    breaker.allow_owned().unwrap().failure();
    clock.advance(WAIT);
    breaker.allow().unwrap().done(Outcome::Success);
    breaker.allow().unwrap().answered();

    let totals = breaker.totals().unwrap();
    let calls = Endings {
        success: 2,
        answered: 1,
        failure: 0,
        timeout: 1,
        ignored: 1,
        abandoned: 2,
    };
    assert_eq!(totals.calls, calls);
    let probes = Endings {
        success: 1,
        failure: 1,
        abandoned: 1,
        ..Endings::default()
    };
    assert_eq!(totals.probes, probes);
    assert_eq!(totals.rejections, Rejections::default());
}

#[test]
fn rejections_are_counted_by_state() {
    let clock = ManualClock::new();
    let breaker = fragile(&clock).build().unwrap();
    let reject = |times| {
        for _ in 0..times {
            breaker.allow().unwrap_err();
        }
    };
    breaker.allow().unwrap().failure();
    reject(3);
    clock.advance(WAIT);
    let probe = breaker.allow().unwrap();
    reject(2);
    breaker.force_open(None, "maintenance");
    reject(1);
    drop(probe);
    let rejections = Rejections {
        open: 3,
        half_open: 2,
        forced_open: 1,
        closed: 0,
    };
    assert_eq!(breaker.totals().unwrap().rejections, rejections);
}

#[test]
fn transitions_are_counted_by_state_and_cause() {
    let clock = ManualClock::new();
    let breaker = fragile(&clock).build().unwrap();
    for _ in 0..2 {
        breaker.allow().unwrap().failure();
        clock.advance(WAIT);
        breaker.allow().unwrap().success();
    }
    breaker.disable("maintenance");
    let mut transitions = breaker.totals().unwrap().transitions;
    transitions.sort_by_key(|&(_, cause, _)| cause.label());
    let expected = [
        (State::Open, Cause::ConsecutiveFailures, 2),
        (State::Disabled, Cause::Operator, 1),
        (State::Closed, Cause::ProbesPassed, 2),
        (State::HalfOpen, Cause::WaitElapsed, 2),
    ];
    assert_eq!(transitions, expected);
}

#[test]
fn no_count_is_lost_among_threads() {
    const THREADS: u64 = 16;
    const CALLS: u64 = 20_000;
    let config = Config::default().with(|config| config.failure_ratio = Some(1.0));
    let breaker = Breaker::builder()
        .config(config)
        .totals(true)
        .build()
        .unwrap();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for call in 0..CALLS {
                    let permit = breaker.allow().unwrap();
                    match call % 4 {
                        0 => drop(permit),
                        1 => {
                            permit.ignore();
                        }
                        _ => {
                            permit.success();
                        }
                    }
                }
            });
        }
    });
    let expected = Endings {
        success: THREADS * CALLS / 2,
        ignored: THREADS * CALLS / 4,
        abandoned: THREADS * CALLS / 4,
        ..Endings::default()
    };
    assert_eq!(breaker.totals().unwrap().calls, expected);
}
