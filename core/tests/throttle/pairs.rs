//! Pairs of gates, in any order: a call that is not made is no outcome and takes no probe.

use std::sync::Arc;
use std::time::Duration;

use cutout::{
    AnyPermit, Breaker, Cause, Config, Gate, ManualClock, OpenWait, Outcome, State, Throttle,
    ThrottleConfig,
};
use proptest::collection::vec;
use proptest::prelude::*;

use super::SECOND;

type Clocked = Breaker<ManualClock>;

/// A throttle before an upstream that has refused all calls for long. Its next probe is due.
fn overloaded(clock: &ManualClock) -> Arc<Throttle<ManualClock>> {
    let config = ThrottleConfig {
        length: Duration::from_secs(3600),
        buckets: 1,
        ..ThrottleConfig::default()
    };
    let builder = Throttle::builder().config(config).seed(1);
    let throttle = Arc::new(builder.clock(clock.clone()).build().unwrap());
    for _ in 0..1000 {
        let _ = throttle.allow().map(|permit| permit.failure());
    }
    clock.advance(SECOND);
    throttle
}

fn breaker(clock: &ManualClock, config: Config) -> Arc<Clocked> {
    let builder = Breaker::builder().config(config).totals(true).log(true);
    Arc::new(builder.clock(clock.clone()).build().unwrap())
}

/// Opens after one failure, and again after one probe without a verdict.
fn strict() -> Config {
    Config::default().with(|config| {
        config.consecutive_failures = Some(1);
        config.failure_ratio = None;
        config.max_inconclusive = 1;
        config.open_wait = OpenWait::fixed(SECOND);
    })
}

#[test]
fn what_the_first_refuses_by_share_is_no_probe_of_the_second() {
    let clock = ManualClock::new();
    let throttle = overloaded(&clock);
    let breaker = breaker(&clock, strict());
    breaker.allow().unwrap().failure();
    clock.advance(SECOND);
    let mut calls = (0..20).map(|_| throttle.allow());
    calls.find_map(Result::ok).unwrap().ignore();
    let pair = (throttle.clone(), breaker.clone());
    for _ in 0..20 {
        assert_eq!(pair.admit().unwrap_err().cause(), Cause::Throttled);
    }
    let snapshot = breaker.snapshot();
    let probes = (snapshot.probes_out, snapshot.probes_inconclusive);
    assert_eq!((snapshot.state, probes), (State::HalfOpen, (0, 0)));
    clock.advance(SECOND);
    let probe = (0..20).find_map(|_| pair.admit().ok()).unwrap();
    probe.done(Outcome::Success.into());
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn what_the_first_refuses_on_its_ramp_is_no_probe_of_the_second() {
    let clock = ManualClock::new();
    let ramp = Some(Duration::from_secs(100));
    let breaker = breaker(&clock, strict().with(|config| config.ramp = ramp));
    breaker.allow().unwrap().failure();
    clock.advance(SECOND);
    breaker.allow().unwrap().success();
    let throttle = overloaded(&ManualClock::new());
    let pair = (breaker.clone(), throttle);
    let causes: Vec<_> = (0..20).map(|_| pair.admit().unwrap_err().cause()).collect();
    assert!(causes.contains(&Cause::Ramping), "{causes:?}");
    clock.advance(Duration::from_secs(100));
    let mut answers = (0..20).map(|_| pair.admit());
    assert!(answers.any(|answer| answer.is_ok()), "the probe is lost");
}

#[derive(Clone, Debug)]
enum Step {
    Call(Outcome),
    Keep,
    Settle(Outcome),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let outcome = prop::sample::select(vec![
        Outcome::Success,
        Outcome::Success,
        Outcome::Failure,
        Outcome::Answered,
    ]);
    prop_oneof![
        8 => outcome.clone().prop_map(Step::Call),
        3 => Just(Step::Keep),
        4 => outcome.prop_map(Step::Settle),
        4 => (0_u64..2000).prop_map(Step::Wait),
    ]
}

/// Calls through a pair with these breakers, none of which comes to nothing.
fn run<G: Gate>(gate: &G, breakers: &[&Arc<Clocked>], clock: &ManualClock, steps: &[Step]) {
    let mut kept = Vec::new();
    for step in steps {
        match step {
            Step::Call(outcome) => {
                let _ = gate.admit().map(|permit| permit.done((*outcome).into()));
            }
            Step::Keep => kept.extend(gate.admit()),
            Step::Settle(outcome) => {
                if let Some(permit) = kept.pop() {
                    permit.done((*outcome).into());
                }
            }
            Step::Wait(millis) => clock.advance(Duration::from_millis(*millis)),
        }
        for breaker in breakers {
            let snapshot = breaker.snapshot();
            assert_eq!(snapshot.probes_inconclusive, 0);
            assert!(snapshot.probes_out as usize <= kept.len());
            let log = breaker.log();
            assert!(
                log.iter()
                    .all(|event| event.cause != Cause::ProbesInconclusive)
            );
            let totals = breaker.totals().unwrap();
            assert_eq!((totals.calls.ignored, totals.calls.abandoned), (0, 0));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_call_that_is_not_made_is_no_outcome(steps in vec(step(), 1..200), ramps: bool, order in 0..4) {
        let clock = ManualClock::new();
        let throttle = overloaded(&clock);
        let ramp = ramps.then_some(Duration::from_secs(10));
        let config = strict().with(|config| config.ramp = ramp);
        let (one, other) = (breaker(&clock, config), breaker(&clock, config));
        let both = [&one, &other];
        let (one, other) = (one.clone(), other.clone());
        match order {
            0 => run(&(one, throttle), &both, &clock, &steps),
            1 => run(&(throttle, one), &both, &clock, &steps),
            2 => run(&((one, throttle), other), &both, &clock, &steps),
            _ => run(&(throttle, (one, other)), &both, &clock, &steps),
        }
    }
}
