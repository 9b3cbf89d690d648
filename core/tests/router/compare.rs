//! Targets that are told by comparison with the others.

use std::sync::Arc;

use cutout::model::Model;
use cutout::router::{Comparison, Policy, Router, RouterConfig, Target};
use cutout::{Breaker, Cause, Clock, ManualClock, OpenWait, Outcome, State, Threshold, Window};
use proptest::prelude::*;

use super::{Routes, WAIT, by, choose};

/// Targets whose breakers bear with everything, after a hundred calls of which so many percent failed.
fn hosts(clock: &ManualClock, config: RouterConfig, percents: &[u32]) -> Routes {
    let targets = percents.iter().enumerate().map(|(host, &percent)| {
        let breaker = Breaker::builder()
            .window(Window::count(100))
            .min_calls(100)
            .failure_ratio(1.0)
            .open_wait(OpenWait::fixed(WAIT))
            .clock(clock.clone())
            .build()
            .unwrap();
        for call in 0..100 {
            let outcome = match call < percent.min(99) {
                true => Outcome::Failure,
                false => Outcome::Success,
            };
            breaker.allow().unwrap().done(outcome);
        }
        Target::new(format!("{host}"), (), Arc::new(breaker))
    });
    Router::new(config, targets.collect::<Vec<_>>()).unwrap()
}

fn taken(router: &Routes) -> Vec<String> {
    let taken = router.compare(&Comparison::default()).unwrap();
    taken
        .iter()
        .map(|member| member.name().to_owned())
        .collect()
}

#[test]
fn a_host_that_is_worse_than_the_others_by_thirty_points_is_taken_out() {
    let clock = ManualClock::new();
    let router = hosts(&clock, by(Policy::RoundRobin), &[2, 3, 33, 1, 2]);
    assert_eq!(taken(&router), ["2"]);
    let members = router.members();
    let breaker = members[2].breaker();
    assert_eq!(breaker.state(), State::Open);
    let trip = breaker.evidence().trip.unwrap();
    assert_eq!((trip.cause, trip.counts.failures), (Cause::Outlier, 33));
    assert_eq!(trip.threshold, Some(Threshold::Ratio(0.22)));
    assert_eq!(taken(&router), [""; 0], "once");
    // It comes back as any other.
    clock.advance(WAIT);
    let mut probes = 0;
    for _ in 0..10 {
        let choice = choose(&router).unwrap();
        probes += u32::from(choice.is_probe());
        choice.success();
    }
    assert_eq!((probes, breaker.state()), (1, State::Closed));
}

#[test]
fn a_host_among_two_that_fails_every_call_is_told_though_it_would_shift_the_mean() {
    let clock = ManualClock::new();
    let router = hosts(&clock, by(Policy::RoundRobin), &[0, 99, 0]);
    assert_eq!(taken(&router), ["1"]);
}

#[test]
fn where_all_fail_alike_nobody_is_taken_out() {
    let clock = ManualClock::new();
    for percents in [[0; 6], [40; 6], [99; 6], [30, 34, 38, 42, 31, 45]] {
        let router = hosts(&clock, by(Policy::RoundRobin), &percents);
        assert_eq!(taken(&router), [""; 0], "{percents:?}");
    }
}

#[test]
fn no_more_are_taken_out_than_the_limit_allows() {
    let clock = ManualClock::new();
    let percents = [90, 60, 30, 0, 0, 0, 0, 0];
    let limited = |max_shed| RouterConfig {
        max_shed,
        ..by(Policy::RoundRobin)
    };
    for (max_shed, expected) in [
        (None, &["0", "1", "2"][..]),
        (Some(2), &["0", "1"]),
        (Some(0), &[]),
    ] {
        let router = hosts(&clock, limited(max_shed), &percents);
        assert_eq!(taken(&router), expected);
    }
    // Those that are out already count, whatever took them out.
    let router = hosts(&clock, limited(Some(2)), &percents);
    router.members()[7]
        .breaker()
        .force_open(None, "maintenance");
    assert_eq!(taken(&router), ["0"]);
}

#[test]
fn too_little_to_go_by_tells_nothing() {
    let clock = ManualClock::new();
    let router = hosts(&clock, by(Policy::RoundRobin), &[0, 99]);
    assert_eq!(taken(&router), [""; 0], "two targets");
    let router = hosts(&clock, by(Policy::RoundRobin), &[0, 99, 0]);
    let comparison = Comparison {
        min_calls: 101,
        ..Comparison::default()
    };
    assert!(router.compare(&comparison).unwrap().is_empty());
    for (field, comparison) in [
        (
            "margin",
            Comparison {
                margin: f64::NAN,
                ..comparison
            },
        ),
        (
            "margin",
            Comparison {
                margin: 0.0,
                ..comparison
            },
        ),
        (
            "deviations",
            Comparison {
                deviations: f64::INFINITY,
                ..comparison
            },
        ),
        (
            "min_calls",
            Comparison {
                min_calls: 0,
                ..comparison
            },
        ),
        (
            "min_targets",
            Comparison {
                min_targets: 1,
                ..comparison
            },
        ),
    ] {
        assert_eq!(router.compare(&comparison).unwrap_err().field(), field);
    }
}

proptest! {
    /// Whatever has happened to a target, being taken out does to its breaker what it does to the model, and nothing to the others.
    #[test]
    fn a_target_that_is_taken_out_is_as_the_model_of_one(
        lives in prop::collection::vec(
            (prop::collection::vec(0..100_u32, 12), 0..100_u32, 0..8_u32),
            2..6,
        ),
        jitter in 0..=100_u32,
    ) {
        let clock = ManualClock::new();
        let config = cutout::Config::default().with(|config| {
            config.window = Window::count(8);
            config.min_calls = Some(8);
            config.failure_ratio = Some(1.0);
            config.open_wait = OpenWait::fixed(WAIT).jitter_percent(jitter);
        });
        let (mut targets, mut models) = (Vec::new(), Vec::new());
        for (host, (calls, percent, order)) in lives.into_iter().enumerate() {
            let breaker = Breaker::builder().config(config).log(true).clock(clock.clone());
            let breaker = breaker.jitter_seed(host as u64).build().unwrap();
            let mut model = Model::new(config, clock.now()).unwrap().jitter_seed(host as u64);
            for call in calls {
                let outcome = match call < percent {
                    true => Outcome::Failure,
                    false => Outcome::Success,
                };
                if let (Ok(permit), Ok(same)) = (breaker.allow(), model.allow(clock.now())) {
                    permit.done(outcome);
                    model.done(same, outcome, clock.now());
                }
            }
            if order == 0 {
                breaker.observe_only("drill");
                model.observe_only("drill", clock.now());
            }
            targets.push(Target::new(format!("{host}"), (), Arc::new(breaker)));
            models.push(model);
        }
        let router = Router::new(by(Policy::RoundRobin), targets).unwrap();
        let comparison = Comparison { min_calls: 8, min_targets: 2, ..Comparison::default() };
        for member in router.compare(&comparison).unwrap() {
            let limit = member.breaker().evidence().trip.unwrap().threshold.unwrap();
            let model: &mut Model = &mut models[member.name().parse::<usize>().unwrap()];
            prop_assert!(model.open_as_outlier(limit, clock.now()));
        }
        for after in [WAIT / 2, WAIT] {
            for (member, model) in router.members().iter().zip(&mut models) {
                let (breaker, now) = (member.breaker(), clock.now());
                prop_assert_eq!(breaker.snapshot(), model.snapshot(now, clock.unix_time()));
                prop_assert_eq!(breaker.evidence(), model.evidence(now));
                prop_assert_eq!(breaker.refusal(), model.refusal(now));
            }
            clock.advance(after);
        }
        for (member, mut model) in router.members().iter().zip(models) {
            prop_assert_eq!(member.breaker().log(), model.take_events());
        }
    }
}
