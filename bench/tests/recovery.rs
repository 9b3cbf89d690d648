//! What the page on recovery says of each scenario.

use cutout_bench::simulation::caller::Caller;
use cutout_bench::simulation::course::{Course, Figures};
use cutout_bench::simulation::scenario::{self, Scenario};

const SEEDS: u64 = 3;

fn courses(caller: Caller, scenario: &Scenario) -> impl Iterator<Item = Course> {
    (0..SEEDS).map(move |seed| caller.play(scenario, seed))
}

fn figures(caller: Caller, scenario: &Scenario) -> impl Iterator<Item = Figures> {
    courses(caller, scenario).map(|course| course.figures())
}

#[test]
fn a_seed_gives_the_same_course_each_time() {
    let scenario = scenario::retry_storm();
    for caller in Caller::ALL {
        assert_eq!(caller.play(&scenario, 7), caller.play(&scenario, 7));
    }
}

#[test]
fn a_breaker_that_closes_at_once_overruns_cold_caches() {
    for figures in figures(Caller::Breaker, &scenario::cold_restart()) {
        assert!(figures.overshoot > 5.0, "{figures:?}");
    }
}

/// It lets everyone in while it is half-open, and closes at the first good answer.
#[test]
fn a_peer_overruns_cold_caches_as_much() {
    for figures in figures(Caller::Failsafe, &scenario::cold_restart()) {
        assert!(figures.overshoot > 5.0, "{figures:?}");
    }
}

#[test]
fn a_ramp_lets_cold_caches_warm_up() {
    let scenario = scenario::cold_restart();
    for caller in [Caller::Ramp, Caller::StagedRamp] {
        let ideal = figures(Caller::Ideal, &scenario);
        for (figures, ideal) in figures(caller, &scenario).zip(ideal) {
            assert!(figures.overshoot <= 1.2, "{caller:?}: {figures:?}");
            let (recovered, ideal) = (figures.recovered.unwrap(), ideal.recovered.unwrap());
            assert!(
                recovered <= 2.0 * ideal,
                "{caller:?}: {recovered} s, {ideal} s"
            );
        }
    }
}

#[test]
fn a_throttle_sends_k_times_what_a_fifth_of_the_capacity_takes_and_keeps_it_busy() {
    for course in courses(Caller::Throttle, &scenario::a_fifth()) {
        // Once its window holds nothing of before.
        let trouble = course.between(35.0, 80.0);
        let (sent, taken) = (f64::from(trouble.sent), f64::from(trouble.good));
        assert!(sent <= 2.0 * taken * 1.1, "{trouble:?}");
        assert!(taken >= 0.9 * 200.0 * 45.0, "{trouble:?}");
    }
    // A breaker swings between nothing and all.
    for course in courses(Caller::Breaker, &scenario::a_fifth()) {
        let trouble = course.between(35.0, 80.0);
        assert!(f64::from(trouble.good) < 0.5 * 200.0 * 45.0, "{trouble:?}");
    }
}

#[test]
fn nobody_well_is_refused_for_one_dead_shard_of_five() {
    for caller in Caller::ALL {
        for figures in figures(caller, &scenario::dead_shard()) {
            assert_eq!(figures.well_refused, 0, "{caller:?}: {figures:?}");
        }
    }
}

#[test]
fn a_throttle_is_driven_to_its_floor_by_three_dead_shards_of_five() {
    for course in courses(Caller::Throttle, &scenario::mostly_failing()) {
        let late = course.between(80.0, 100.0);
        assert!(late.sent < 100 * 20, "{late:?}");
    }
}

#[test]
fn an_overload_by_retries_stays_with_nothing_before_it_and_goes_with_anything() {
    for figures in figures(Caller::Nothing, &scenario::retry_storm()) {
        assert_eq!(figures.recovered, None, "{figures:?}");
    }
    for caller in Caller::ALL {
        if caller == Caller::Nothing {
            continue;
        }
        for course in courses(caller, &scenario::retry_storm()) {
            let last = course.between(100.0, 120.0);
            assert!(
                f64::from(last.good) >= 0.95 * 800.0 * 20.0,
                "{caller:?}: {last:?}"
            );
        }
    }
}
