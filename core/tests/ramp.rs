//! The way back to all calls after a recovery.

use std::time::Duration;

use cutout::{Breaker, Cause, ManualClock, OpenWait, Settled, Snapshot, State};

const SECOND: Duration = Duration::from_secs(1);

struct Rig {
    clock: ManualClock,
    breaker: Breaker<ManualClock>,
}

/// One that has just closed, and ramps for 10 s.
fn recovered() -> Rig {
    let clock = ManualClock::new();
    let builder = Breaker::builder().name("search").clock(clock.clone());
    let builder = builder.consecutive_failures(1).totals(true);
    let breaker = builder
        .open_wait(OpenWait::fixed(SECOND))
        .ramp(10 * SECOND)
        .build()
        .unwrap();
    breaker.allow().unwrap().failure();
    clock.advance(SECOND);
    assert_eq!(breaker.allow().unwrap().success(), Settled::Closed);
    Rig { clock, breaker }
}

impl Rig {
    /// How many of so many calls, at even distances over a second, are admitted.
    fn second(&self, calls: u32) -> usize {
        let admits = |_: &u32| {
            self.clock.advance(SECOND / calls);
            self.breaker.allow().map(|permit| permit.success()).is_ok()
        };
        (0..calls).filter(admits).count()
    }
}

#[test]
fn the_share_that_is_admitted_grows_evenly_until_all_are() {
    let rig = recovered();
    for second in 0..10 {
        let expected = 100 * second + 50;
        let admitted = rig.second(1000);
        assert!(admitted.abs_diff(expected) <= 2, "{second}: {admitted}");
    }
    assert_eq!(rig.second(1000), 1000);
    assert_eq!(rig.breaker.totals().unwrap().rejections.closed, 5000);
}

#[test]
fn those_that_are_admitted_are_spread_evenly() {
    let rig = recovered();
    rig.clock.advance(SECOND * 5 / 2);
    // A quarter, in the same instant.
    let admits: Vec<bool> = (0..40).map(|_| rig.breaker.allow().is_ok()).collect();
    for four in admits.chunks(4) {
        assert_eq!(
            four.iter().filter(|admitted| **admitted).count(),
            1,
            "{admits:?}"
        );
    }
}

#[test]
fn a_rejection_says_why_and_when_the_share_will_be_half() {
    let rig = recovered();
    rig.clock.advance(4 * SECOND);
    let rejected = (0..9).find_map(|_| rig.breaker.allow().err()).unwrap();
    assert_eq!(
        (rejected.state(), rejected.cause()),
        (State::Closed, Cause::Ramping)
    );
    assert_eq!(rejected.retry_after(), Some(3 * SECOND));
    assert_eq!(
        rejected.to_string(),
        "circuit breaker `search` refuses a share of the calls (on its way back to all calls); retry in 3.0s"
    );
    assert_eq!(rig.breaker.snapshot().ramp_left, Some(6 * SECOND));
    assert_eq!(rig.breaker.refusal(), None);
    assert!(rig.breaker.is_available());
}

#[test]
fn failures_on_the_way_open_it_and_the_next_recovery_ramps_anew() {
    let rig = recovered();
    rig.clock.advance(9 * SECOND);
    let tripped = (0..20)
        .find_map(|_| rig.breaker.allow().ok())
        .unwrap()
        .failure();
    assert_eq!(tripped, Settled::Tripped);
    rig.clock.advance(SECOND);
    rig.breaker.allow().unwrap().success();
    assert_eq!(rig.breaker.snapshot().ramp_left, Some(10 * SECOND));
    assert!(rig.second(1000) < 60);
}

#[test]
fn it_follows_what_an_operator_closes_if_that_rejected() {
    let rig = recovered();
    rig.clock.advance(20 * SECOND);
    assert_eq!(rig.second(100), 100);
    rig.breaker.close("empty the window");
    assert_eq!(rig.second(100), 100, "it was closed");
    rig.breaker.force_open(None, "maintenance");
    rig.breaker.close("done");
    assert!(rig.second(100) <= 6);
    rig.breaker.disable("let all in");
    assert_eq!(rig.second(100), 100);
    rig.breaker.resume("done");
    assert_eq!(rig.second(100), 100, "it admitted all");
}

#[test]
fn one_that_a_config_ends_does_not_come_back_with_the_next() {
    let rig = recovered();
    rig.clock.advance(SECOND);
    let with = rig.breaker.config();
    let without = with.with(|config| config.ramp = None);
    rig.breaker.reconfigure(without).unwrap();
    assert_eq!(rig.second(100), 100);
    rig.breaker.reconfigure(with).unwrap();
    assert_eq!(rig.breaker.snapshot().ramp_left, None);
    assert_eq!(rig.second(100), 100);
}

#[test]
fn a_clock_that_jumps_makes_no_burst_and_keeps_nobody_out() {
    let rig = recovered();
    rig.clock.advance(5 * SECOND);
    // Back: the share is small again, and grows as time goes on.
    rig.clock.set(SECOND);
    assert!(rig.second(1000) <= 60);
    let seconds = (0..10).map(|_| rig.second(1000)).collect::<Vec<_>>();
    assert!(seconds.is_sorted(), "{seconds:?}");
    assert_eq!(rig.second(1000), 1000);
    // Once it is over it does not come back.
    rig.clock.set(SECOND);
    assert_eq!(rig.second(1000), 1000);
}

#[test]
fn a_restart_goes_on_with_it() {
    let rig = recovered();
    rig.clock.advance(4 * SECOND);
    rig.clock.set_unix_time(1000 * SECOND);
    let snapshot: Snapshot = rig.breaker.snapshot();
    rig.clock.set_unix_time(1002 * SECOND);
    let config = rig.breaker.config();
    let builder = Breaker::builder().clock(rig.clock.clone()).config(config);
    let breaker = builder.restore(snapshot).build().unwrap();
    assert_eq!(breaker.snapshot().ramp_left, Some(4 * SECOND));
    let rig = Rig { breaker, ..rig };
    let admitted = rig.second(1000);
    assert!(admitted.abs_diff(650) <= 2, "{admitted}");
    rig.clock.advance(3 * SECOND);
    assert_eq!(rig.second(1000), 1000);
}
