//! Snapshots carried over a restart.

use super::*;

replays! {
    a_restored_breaker_waits_for_what_is_left:
        "O=10s: f +3s save wall+3s restore => open => left=4s +4s => half-open";
    a_restored_wait_is_no_longer_than_the_config_says:
        "O=100s: f save O=10s restore => left=10s";
    a_breaker_restored_a_day_later_is_probe_able_at_once:
        "O=10s: f save wall+1d restore => half-open a => admitted";
    a_wall_clock_that_stepped_back_makes_no_wait_longer:
        "O=10s: f +3s save wall-1d restore => left=7s";
    half_open_is_restored_probe_able:
        "O=10s: f +10s a1 save restore => half-open => out=0 a => admitted";
    the_window_is_restored:
        "M=3: f*2 save restore => samples=2 f => open";
    a_window_is_restored_for_an_hour:
        "R=none C=5: f*4 save wall+1h restore => samples=4 f => open";
    a_window_of_five_days_ago_is_not_restored:
        "R=none C=5: f*4 save wall+5d restore => closed => samples=0 f => closed";
    a_window_whose_age_is_not_known_is_restored:
        "R=none C=5: f*4 save wall-1d restore => samples=4";
    a_window_of_another_size_is_not_restored:
        "M=3: f*2 save W=9 restore => closed => samples=0";
    the_growth_of_the_wait_is_restored:
        "O=10s*2..80s: f +10s f +20s f => left=40s save restore => left=40s => attempt=2 +40s f => left=80s";
    the_generation_is_restored:
        "O=10s: f +10s f => generation=3 save restore => generation=3";
    a_forced_opening_is_restored:
        "O=10s: force save wall+1y restore => forced-open a => rejected";
    a_forced_opening_with_an_end_is_restored:
        "O=10s: force=99s save wall+9s restore => forced-open => left=90s";
    the_growth_of_the_wait_is_restored_while_an_operator_rules:
        "O=10s*2..80s: f +10s f => attempt=1 force=1h save wall+1h restore => half-open => attempt=1 f => left=40s";
    what_an_operator_has_interrupted_is_restored:
        "O=10s: f +3s disable save wall+2s restore => disabled resume => open => left=5s => cause=FailureRatio";
    disabled_is_restored:
        "C=1: disable save restore => disabled f => ignored";
}

#[test]
fn a_snapshot_of_nonsense_is_made_sense_of() {
    let nonsense = Snapshot {
        evidence: Evidence::default(),
        state: State::Open,
        generation: u32::MAX,
        cause: Some(Cause::WaitElapsed),
        remaining: None,
        attempt: u32::MAX,
        interrupted: None,
        probes_out: u32::MAX,
        probes_passed: u32::MAX,
        probes_failed: u32::MAX,
        stage: u32::MAX,
        ramp_left: Some(Duration::MAX),
        probes_inconclusive: u32::MAX,
        window: Window::count(0),
        samples: Vec::new(),
        buckets: Vec::new(),
        scores: Scores::default(),
        failures_in_a_row: 0,
        taken: Duration::MAX,
    };
    let breaker = Breaker::builder()
        .clock(ManualClock::new())
        .restore(nonsense)
        .build()
        .unwrap();
    let rejected = breaker.allow().unwrap_err();
    assert_eq!(rejected.retry_after(), Some(Duration::from_secs(30)));
    assert_eq!(rejected.cause(), Cause::Operator);
}
