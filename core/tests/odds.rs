//! What `odds` says of a config, held against the sequential model under random traffic, and against
//! values that were found by longer simulations.

use cutout::model::Model;
use cutout::odds::{Curve, Traffic};
use cutout::{Breaker, Config, ConfigError, Outcome, Score, Settled, SlowRule, Window};
use std::time::Duration;

/// SplitMix64.
struct Draws(u64);

impl Draws {
    fn happens(&mut self, share: f64) -> bool {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let fraction = ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64;
        fraction < share
    }
}

fn ratio(size: u32, min_calls: u32, failure_ratio: f64) -> Config {
    Breaker::builder()
        .window(Window::count(size))
        .min_calls(min_calls)
        .failure_ratio(failure_ratio)
        .build()
        .unwrap()
        .config()
}

fn in_a_row(length: u32) -> Config {
    let rule = Breaker::builder()
        .failure_ratio(None)
        .consecutive_failures(length);
    rule.build().unwrap().config()
}

/// How many calls the model makes until it opens, on average over many runs.
fn simulated(config: &Config, share: f64, warm: u32, runs: u32, draws: &mut Draws) -> f64 {
    let mut calls = 0u64;
    for _ in 0..runs {
        let mut model = Model::new(*config, 0).unwrap();
        let mut settle = |outcome| {
            let permit = model.allow(0).unwrap();
            model.done(permit, outcome, 0)
        };
        for _ in 0..warm {
            settle(Outcome::Success);
        }
        loop {
            calls += 1;
            let outcome = if draws.happens(share) {
                Outcome::Failure
            } else {
                Outcome::Success
            };
            if settle(outcome) == Settled::Tripped {
                break;
            }
        }
    }
    calls as f64 / f64::from(runs)
}

fn close(found: f64, expected: f64, tolerance: f64) -> bool {
    (found / expected - 1.0).abs() <= tolerance
}

#[test]
fn mean_calls_are_those_of_long_simulations() {
    let rows = [
        (20, 10, 0.5, 0.1, 403_000.0),
        (20, 10, 0.5, 0.15, 13_250.0),
        (20, 10, 0.5, 0.2, 1_571.0),
        (20, 10, 0.5, 0.3, 124.7),
        (20, 10, 0.5, 0.5, 16.1),
        (100, 100, 0.5, 0.3, 357_500.0),
        (100, 100, 0.5, 0.5, 126.3),
        (100, 20, 0.3, 0.15, 88_900.0),
        (100, 20, 0.3, 0.2, 1_363.0),
        (10, 5, 0.5, 0.05, 36_430.0),
        (50, 20, 0.2, 0.1, 524.5),
    ];
    for (size, min_calls, failure_ratio, share, expected) in rows {
        let odds = ratio(size, min_calls, failure_ratio)
            .odds(Traffic::failing(share))
            .unwrap();
        let mean = odds.from_empty.mean_calls();
        assert!(
            close(mean, expected, 0.1),
            "{size}/{min_calls}/{failure_ratio} at {share}: {mean}"
        );
    }
}

#[test]
fn mean_calls_are_those_of_the_model() {
    let mut draws = Draws(1);
    let configs = [
        (ratio(20, 10, 0.5), [0.3, 0.5, 0.9]),
        (ratio(20, 20, 0.35), [0.2, 0.3, 0.6]),
        (ratio(5, 2, 0.4), [0.05, 0.1, 0.5]),
        (ratio(50, 20, 0.2), [0.13, 0.2, 0.5]),
        (ratio(1, 1, 1.0), [0.01, 0.1, 0.5]),
        (in_a_row(4), [0.2, 0.5, 0.9]),
    ];
    for (config, shares) in configs {
        let Window::Count(size) = config.window else {
            unreachable!("all of them are count windows")
        };
        for share in shares {
            let odds = config.odds(Traffic::failing(share)).unwrap();
            for (curve, warm) in [(odds.from_empty, 0), (odds.from_full, size)] {
                let expected = simulated(&config, share, warm, 600, &mut draws);
                let mean = curve.mean_calls();
                assert!(
                    close(mean, expected, 0.15),
                    "{config:?} at {share}, warm {warm}: {mean} for {expected}"
                );
            }
        }
    }
}

#[test]
fn the_chance_to_open_within_some_calls_is_that_of_the_model() {
    let mut draws = Draws(2);
    let config = ratio(20, 10, 0.5);
    let curve = config.odds(Traffic::failing(0.3)).unwrap().from_empty;
    for calls in [10, 20, 40, 100, 300] {
        let opens = (0..1000)
            .filter(|_| {
                let mut model = Model::new(config, 0).unwrap();
                (0..calls).any(|_| {
                    let permit = model.allow(0).unwrap();
                    let outcome = if draws.happens(0.3) {
                        Outcome::Failure
                    } else {
                        Outcome::Success
                    };
                    model.done(permit, outcome, 0) == Settled::Tripped
                })
            })
            .count();
        let chance = curve.chance_within(calls);
        assert!(
            (chance - opens as f64 / 1000.0).abs() < 0.05,
            "{calls}: {chance} for {opens}"
        );
    }
}

#[test]
fn a_curve_is_one_curve() {
    let curves = |share| -> Vec<Curve> {
        let odds = ratio(100, 20, 0.3).odds(Traffic::failing(share)).unwrap();
        let score = Score {
            bad: 10,
            good: 1,
            limit: 55,
        }
        .odds(share, 0)
        .unwrap();
        vec![odds.from_empty, odds.from_full, score]
    };
    for share in [0.001, 0.1, 0.5, 1.0] {
        for curve in curves(share) {
            let chances: Vec<f64> = [0, 1, 2, 10, 99, 100, 101, 199, 200, 201, 5000, u64::MAX]
                .map(|calls| curve.chance_within(calls))
                .into();
            assert_eq!(chances[0], 0.0);
            assert!(chances.is_sorted(), "{share}: {chances:?}");
            assert!(
                chances.iter().all(|chance| (0.0..=1.0).contains(chance)),
                "{share}: {chances:?}"
            );
        }
    }
}

#[test]
fn scores_are_solved_exactly() {
    let rows = [
        (0.01, 0.3, 1e6, (10, 1, 35), 1.27e6, [16.0, 8.3, 4.4, 4.0]),
        (0.01, 0.3, 1e9, (10, 1, 55), 1.16e9, [24.0, 12.8, 6.7, 6.0]),
        (0.05, 0.5, 1e9, (7, 2, 58), 1.20e9, [72.0, 23.3, 10.1, 9.0]),
        (0.1, 0.5, 1e9, (8, 3, 93), 1.01e9, [200.0, 36.8, 13.8, 12.0]),
    ];
    for (p0, p1, calls, (bad, good, limit), by_chance, to_open) in rows {
        let score = Score::for_rates(p0, p1, calls).unwrap();
        assert_eq!(score, Score { bad, good, limit }, "{p0} {p1}");
        let mean = |share| score.odds(share, 0).unwrap().mean_calls();
        assert!(close(mean(p0), by_chance, 0.01), "{}", mean(p0));
        for (share, expected) in [0.3, 0.5, 0.9, 1.0].into_iter().zip(to_open) {
            assert!(
                close(mean(share), expected, 0.03),
                "{score:?} at {share}: {}",
                mean(share)
            );
        }
        let one_less = Score {
            limit: limit - 1,
            ..score
        };
        assert!(one_less.odds(p0, 0).unwrap().mean_calls() < calls);
    }
}

#[test]
fn a_head_start_opens_sooner_and_the_mean_is_that_of_a_simulation() {
    let score = Score {
        bad: 7,
        good: 2,
        limit: 58,
    };
    let mut draws = Draws(3);
    for start in [0, 20, 57] {
        let runs = 3000;
        let mut calls = 0u32;
        for _ in 0..runs {
            let mut value = start;
            while value < score.limit {
                calls += 1;
                value = if draws.happens(0.4) {
                    value + score.bad
                } else {
                    value.saturating_sub(score.good)
                };
            }
        }
        let expected = f64::from(calls) / f64::from(runs);
        let mean = score.odds(0.4, start).unwrap().mean_calls();
        assert!(
            close(mean, expected, 0.05),
            "{start}: {mean} for {expected}"
        );
    }
}

#[test]
fn rules_side_by_side_open_at_least_as_soon_as_each_alone() {
    let mut both = ratio(20, 10, 0.5);
    both.consecutive_failures = Some(5);
    let traffic = Traffic::failing(0.25);
    let mean = |config: &Config| config.odds(traffic).unwrap().from_empty.mean_calls();
    let (together, alone) = (
        mean(&both),
        mean(&ratio(20, 10, 0.5)).min(mean(&in_a_row(5))),
    );
    assert!(together < alone, "{together} {alone}");
    // The bound is below what they really do.
    let simulated = simulated(&both, 0.25, 0, 600, &mut Draws(4));
    assert!(together < simulated * 1.1, "{together} {simulated}");
}

#[test]
fn each_rule_sees_its_own_share() {
    let mut config = ratio(20, 10, 0.5);
    config.slow = Some(SlowRule {
        limit: Duration::from_secs(1),
        ratio: 0.5,
    });
    config.timeout_ratio = Some(0.5);
    let mean = |traffic| config.odds(traffic).unwrap().from_empty.mean_calls();
    let failing = mean(Traffic::failing(0.3));
    assert!(mean(Traffic::failing(0.3).timing_out(0.3)) < failing);
    assert!(mean(Traffic::failing(0.3).slow(0.3)) < failing);
    assert_eq!(mean(Traffic::failing(0.0)), f64::INFINITY);
}

#[test]
fn a_time_window_is_as_the_count_window_of_its_calls() {
    let mut config = ratio(190, 20, 0.3);
    let counted = config.odds(Traffic::failing(0.2)).unwrap();
    config.window = Window::time(Duration::from_secs(10), 10);
    let timed = config
        .odds(Traffic::failing(0.2).calls_per_second(20.0))
        .unwrap();
    assert_eq!(timed, counted);
    let error = config.odds(Traffic::failing(0.2)).unwrap_err();
    assert_eq!(error.field(), "calls_per_second");
    let heavy = config
        .odds(Traffic::failing(0.29).calls_per_second(5_000.0))
        .unwrap();
    assert!(heavy.from_full.mean_calls() > 1e4);
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let field = |result: Result<_, ConfigError>| match result {
        Ok::<Score, _>(score) => panic!("{score:?}"),
        Err(error) => error.field(),
    };
    for (p0, p1, calls, name) in [
        (0.0, 0.3, 1e6, "p0"),
        (f64::NAN, 0.3, 1e6, "p0"),
        (0.1, 1.0, 1e6, "p1"),
        (0.1, f64::INFINITY, 1e6, "p1"),
        (0.3, 0.3, 1e6, "p0"),
        (0.4, 0.3, 1e6, "p0"),
        (0.1, 0.3, 0.5, "calls"),
        (0.1, 0.3, f64::INFINITY, "calls"),
        (0.1, 0.1001, 1e9, "calls"),
        (1e-6, 1e-3, 1e9, "calls"),
        (0.1, 0.3, 1e300, "calls"),
    ] {
        assert_eq!(
            field(Score::for_rates(p0, p1, calls)),
            name,
            "{p0} {p1} {calls}"
        );
    }
    let score = Score {
        bad: 5,
        good: 1,
        limit: 4,
    };
    assert_eq!(score.odds(0.1, 0).unwrap_err().field(), "score");
    for traffic in [
        Traffic::failing(-0.1),
        Traffic::failing(f64::NAN),
        Traffic::failing(1.1),
    ] {
        assert_eq!(
            Config::default().odds(traffic).unwrap_err().field(),
            "failures"
        );
    }
    let traffic = Traffic::failing(0.1).timing_out(0.2);
    assert_eq!(
        Config::default().odds(traffic).unwrap_err().field(),
        "timeouts"
    );
}
