//! Recovery by stages: quotas, verdicts, and what else happens to a stage.

use super::*;

replays! {
    each_stage_admits_twice_as_many_as_the_one_before:
        "G=1*2..4/0.5: f +10s a1 => admitted => stage=1 a => rejected s(1) => recorded => stage=2 \
         a2 a3 => admitted a => rejected s(2) s(3) => stage=3 \
         a4 a5 a6 a7 => admitted a => rejected s(4) s(5) => half-open s(6) => closed s(7) => stale";
    a_stage_of_one_opens_at_its_first_failure:
        "G=1*2..4/1: f +10s f => reopened => attempt=1 => cause=ProbeFailed";
    a_stage_tolerates_less_than_its_share:
        "G=4*2..8/0.5: f +10s f => recorded => failed=1 => stage=1 f => reopened => open";
    a_stage_passes_once_its_share_cannot_be_reached:
        "G=4*2..8/0.5: f +10s s s => stage=1 => passed=2 s => stage=2 => passed=0 => failed=0";
    the_last_stage_closes_with_an_empty_window:
        "G=2*2..4/0.5: f +10s s s => stage=2 f s s => half-open s => closed => samples=0";
    failures_of_a_stage_that_has_passed_are_forgotten:
        "G=4*2..8/0.5: f +10s f s s s => stage=2 => failed=0 f*3 => half-open f => reopened";
    a_stage_asks_for_no_more_outcomes_than_its_quota:
        "G=4*2..8/0.75: f +10s f s a1 a2 a => rejected f(1) a => rejected s(2) => stage=2";
    probes_still_out_have_their_say_in_the_next_stage_and_take_its_slots:
        "G=4*2..8/0.5: f +10s a1 a2 a3 a4 s(1) s(2) s(3) => stage=2 => out=1 f(4) => failed=1 => stage=2";
    timeouts_and_slow_probes_are_bad_too:
        "SLOW=1s/1 G=4*2..8/0.75: f +10s t => recorded s~1s => recorded => failed=2 t => reopened => cause=ProbeTimedOut";
    a_slow_probe_may_be_the_one_too_many:
        "SLOW=1s/1 G=4*2..8/0.5: f +10s f s~1s => reopened => cause=ProbeSlow";
    an_answer_that_says_no_is_well:
        "G=2*2..4/0.5: f +10s n n => stage=2";
    ignored_probes_free_their_slot_and_decide_nothing:
        "G=2*2..4/0.5: f +10s a1 a2 i(1) => ignored => out=1 => stage=1 a3 => admitted a => rejected d(3) => out=1";
    inconclusive_probes_are_counted_by_stage:
        "I=2 G=2*2..4/0.5: f +10s i s s => stage=2 i => half-open i => reopened => cause=ProbesInconclusive";
    a_wait_that_a_tolerated_failure_asks_for_is_not_waited_for:
        "G=4*2..8/0.5: f +10s f@1h => recorded s f@1min => reopened => left=1min";
    lost_probes_are_reclaimed_and_the_stage_goes_on:
        "G=2*2..4/0.5 L=5s: f +10s s a1 a => rejected +5s a2 => admitted => stage=1 => passed=1 => generation=3 s(2) => stage=2";
    a_lost_probe_counts_in_the_stage_that_it_finds:
        "G=1*2..2/1 L=5s: f +10s a1 +5s a2 s(2) => stage=2 s(1) => closed";
    a_lost_probe_that_failed_counts_in_the_stage_that_it_finds:
        "G=1*2..4/0.5 L=5s: f +10s a1 +5s s => stage=2 f(1) => reopened";
    the_wait_grows_with_each_stage_that_failed:
        "G=1*2..4/0.5 O=10s*2..1h: f +10s s => stage=2 f => left=20s +20s f => left=40s => attempt=2";
    a_recovery_begins_at_the_first_stage_again:
        "G=1*2..4/0.5: f +10s s => stage=2 f => open +10s a1 => stage=1";
    an_operator_begins_at_the_first_stage_again:
        "G=1*2..4/0.5: f +10s s => stage=2 disable resume => half-open => stage=1 => passed=0";
    a_restart_begins_at_the_first_stage_again:
        "G=1*2..4/0.5: f +10s s => stage=2 save restore => half-open a1 => stage=1";
    a_reconfiguration_in_mid_stage_keeps_how_far_it_has_come:
        "G=4*2..8/0.5: f +10s s s f G=2*2..16/0.9 => stage=2 => passed=0 => failed=1";
    a_reconfiguration_to_smaller_stages_admits_one_that_decides:
        "L=none G=8*2..8/0.75: f +10s f*3 => half-open G=1*2..2/1 => half-open a1 => admitted a => rejected f(1) => reopened";
    a_reconfiguration_beyond_the_last_stage_closes_with_the_next_success:
        "G=8*2..16/1: f +10s s => stage=2 G=1*2..2/1 s => closed";
    a_reconfiguration_to_no_stages_goes_on_with_what_has_passed:
        "S=9 G=4*2..16/0.5: f +10s s*3 => stage=2 => passed=0 G=none => stage=0 => passed=4 s*4 => half-open s => closed";
    a_reconfiguration_to_stages_goes_on_with_what_has_passed:
        "S=9: f +10s s*3 => passed=3 G=2*2..8/0.5 => stage=2 => passed=1";
}

#[test]
fn a_slot_listener_is_told_of_each_probe_and_of_a_larger_stage() {
    let clock = ManualClock::new();
    let told = Arc::new(AtomicU32::new(0));
    let tells = Arc::clone(&told);
    let stages = Stages {
        first: 2,
        until: 4,
        ..Stages::default()
    };
    let breaker = Breaker::builder()
        .consecutive_failures(1)
        .stages(stages)
        .clock(clock.clone())
        .slot_listener(move || _ = tells.fetch_add(1, Ordering::Relaxed))
        .build()
        .unwrap();
    breaker.allow().unwrap().failure();
    clock.advance(Duration::from_secs(30));
    let told = || told.swap(0, Ordering::Relaxed);
    breaker.allow().unwrap().success();
    assert_eq!((breaker.snapshot().stage, told()), (1, 1));
    breaker.allow().unwrap().success();
    assert_eq!((breaker.snapshot().stage, told()), (2, 1));
    let mut config = breaker.config();
    config.stages = Some(Stages {
        until: 8,
        growth: 4,
        ..stages
    });
    breaker.reconfigure(config).unwrap();
    assert_eq!(told(), 1, "the stage has 8 slots now, and had 4");
    breaker.reconfigure(config).unwrap();
    assert_eq!(told(), 0);
}

#[test]
fn a_slot_listener_is_told_of_slots_that_another_division_frees() {
    let clock = ManualClock::new();
    let told = Arc::new(AtomicU32::new(0));
    let tells = Arc::clone(&told);
    let stages = Stages {
        first: 2,
        until: 4,
        failure_ratio: 0.3,
        ..Stages::default()
    };
    let breaker = Breaker::builder()
        .consecutive_failures(1)
        .stages(stages)
        .clock(clock.clone())
        .slot_listener(move || _ = tells.fetch_add(1, Ordering::Relaxed))
        .build()
        .unwrap();
    breaker.allow().unwrap().failure();
    clock.advance(Duration::from_secs(30));
    for _ in 0..3 {
        breaker.allow().unwrap().success();
    }
    breaker.allow().unwrap().failure();
    let _probes = [breaker.allow().unwrap(), breaker.allow().unwrap()];
    breaker.allow().unwrap_err();
    told.store(0, Ordering::Relaxed);
    let mut config = breaker.config();
    // What was the first outcome of the second stage is now the last one of the first.
    config.stages = Some(Stages { first: 3, ..stages });
    breaker.reconfigure(config).unwrap();
    assert_eq!(told.load(Ordering::Relaxed), 1);
    assert!(breaker.allow().is_ok());
}

/// Ten of 100 calls fail, and the closed breaker opens at 20.
#[test]
fn an_upstream_with_some_errors_comes_through_the_stages_within_one_wait() {
    let recovers = |stages: Option<Stages>, run: u64| {
        let clock = ManualClock::new();
        let config = Config::high_traffic().with(|config| config.stages = stages);
        let breaker = Breaker::builder()
            .config(config)
            .clock(clock.clone())
            .build()
            .unwrap();
        while breaker
            .allow()
            .is_ok_and(|permit| permit.failure() != Settled::Tripped)
        {}
        clock.advance(Duration::from_secs(5));
        let mut drawn = run;
        let mut fails = || {
            drawn += 1_000_000;
            mix(drawn).is_multiple_of(10)
        };
        loop {
            let Ok(permit) = breaker.allow() else {
                return false;
            };
            clock.advance(Duration::from_millis(20));
            let settled = if fails() {
                permit.failure()
            } else {
                permit.success()
            };
            match settled {
                Settled::Closed => return true,
                Settled::Reopened => return false,
                _ => {}
            }
        }
    };
    let of = |stages| (0..1000).filter(|&run| recovers(stages, run)).count();
    let stages = |first, failure_ratio| {
        Some(Stages {
            first,
            failure_ratio,
            ..Stages::default()
        })
    };
    assert!(of(stages(8, 0.4)) >= 950, "{}", of(stages(8, 0.4)));
    // As the docs of `Stages` have it, and without them.
    let near =
        |found: usize, told: usize| assert!(found.abs_diff(10 * told) <= 45, "{found}: {told}");
    near(of(stages(1, 0.5)), 69);
    near(of(stages(4, 0.2)), 47);
    near(of(stages(16, 0.2)), 89);
    near(of(None), 59);
}

/// The output function of SplitMix64: another number for each number.
const fn mix(number: u64) -> u64 {
    let z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
