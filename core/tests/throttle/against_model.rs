//! Throttle and model, call by call.

use std::time::Duration;

use cutout::model::ThrottleModel;
use cutout::{AnyPermit, Clock, ManualClock, Outcome, Throttle, ThrottleConfig};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Allow,
    Done(Outcome),
    Withdraw,
    Wait(u64),
    Back(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let outcome = prop::sample::select(vec![
        Outcome::Success,
        Outcome::Answered,
        Outcome::Failure,
        Outcome::Failure,
        Outcome::Timeout,
        Outcome::Ignored,
    ]);
    prop_oneof![
        8 => Just(Step::Allow),
        8 => outcome.prop_map(Step::Done),
        2 => Just(Step::Withdraw),
        4 => prop_oneof![0_u64..3_000_000, 0_u64..300_000_000, 0_u64..4_000_000_000].prop_map(Step::Wait),
        1 => (0_u64..3_000_000_000).prop_map(Step::Back),
    ]
}

fn config() -> impl Strategy<Value = ThrottleConfig> {
    (
        10_u64..2000,
        1_u32..=12,
        prop_oneof![Just(1.0), Just(2.0), 1.0..4.0_f64],
        prop_oneof![Just(1.0), 0.1..100.0_f64],
    )
        .prop_map(|(millis, buckets, k, probes_per_second)| ThrottleConfig {
            length: Duration::from_millis(millis),
            buckets,
            k,
            probes_per_second,
            ..ThrottleConfig::default()
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn they_cannot_be_told_apart(config in config(), seed: u64, steps in vec(step(), 1..300)) {
        let clock = ManualClock::new();
        clock.set(Duration::from_secs(7));
        let mut model = ThrottleModel::new(config, clock.now()).unwrap().seed(seed);
        let throttle = Throttle::builder().config(config).seed(seed).clock(clock.clone()).build().unwrap();
        let mut permits = Vec::new();
        for step in steps {
            match step {
                Step::Allow => {
                    let expected = model.allow(clock.now());
                    let answer = throttle.allow();
                    prop_assert_eq!(answer.as_ref().err(), expected.as_ref().err());
                    permits.extend(answer.ok().zip(expected.ok()));
                }
                Step::Done(outcome) => {
                    if let Some((permit, _)) = permits.pop() {
                        prop_assert_eq!(permit.done(outcome), model.done(outcome, clock.now()));
                    }
                }
                Step::Withdraw => {
                    if let Some((permit, admission)) = permits.pop() {
                        permit.withdraw();
                        model.withdraw(admission);
                    }
                }
                Step::Wait(nanos) => clock.advance(Duration::from_nanos(nanos)),
                Step::Back(nanos) => clock.set(Duration::from_nanos(clock.now().saturating_sub(nanos))),
            }
            prop_assert_eq!(throttle.share(), model.share(clock.now()));
        }
    }
}
