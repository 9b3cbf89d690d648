//! Slots, leases and verdicts of probes.

use super::*;

replays! {
    an_ignored_probe_frees_its_slot:
        "H=2 S=2: f +10s a1 a2 s(1) i(2) a3 => admitted s(3) => closed";
    lost_probes_are_reclaimed_when_the_newest_lease_has_run_out:
        "H=2 L=5s: f +10s a1 a2 a => rejected +5s a3 => admitted => generation=3 => out=1 s(1) => closed s(2) => stale";
    a_reclaim_waits_for_the_newest_lease:
        "H=2 L=5s: f +10s a1 +3s a2 +2s a => rejected +3s a => admitted => generation=3";
    a_reclaim_keeps_the_passed_probes:
        "H=1 S=2 L=5s: f +10s s => passed=1 a1 +5s a2 => passed=1 s(2) => closed";
    a_late_probe_counts_while_no_one_has_reclaimed_it:
        "L=5s: f +10s a1 +1d s(1) => closed";
    a_probe_that_outlasts_its_lease_closes_the_breaker_when_it_comes_back_well:
        "L=60s: f +10s a1 +60s a2 => admitted +30s s(1) => closed s(2) => stale";
    late_probes_of_one_period_are_counted_together:
        "S=3 L=60s: f +10s a1 +60s a2 +60s a3 s(1) => passed=1 s(2) => passed=2 s(3) => closed";
    a_late_probe_counts_however_many_leases_were_lost_since:
        "L=5s: f +10s a1 [ +5s a => admitted ]*1000 s(1) => closed";
    a_late_probe_that_fails_opens_again:
        "L=5s: f +10s a1 +5s a2 f(1) => reopened => cause=ProbeFailed s(2) => stale";
    a_late_probe_frees_no_slot:
        "H=1 S=3 L=5s: f +10s a1 +5s a2 s(1) => recorded => passed=1 => out=1 a => rejected i(2) => out=0";
    a_late_probe_without_a_verdict_is_counted_as_such:
        "I=2 L=5s: f +10s a1 +5s a2 d(1) => ignored => out=1 i(2) => reopened => cause=ProbesInconclusive";
    dropped_probes_free_their_slots:
        "H=4 S=4: f +10s a1 a2 a3 a4 s(1) s(2) d(3) d(4) a5 => admitted a6 => admitted a7 => admitted a8 => admitted a9 => rejected";
    a_withdrawn_probe_frees_its_slot_and_is_no_outcome:
        "I=1: f +10s a1 a => rejected w(1) => half-open => out=0 a2 => admitted a => rejected s(2) => closed";
    a_probe_that_is_withdrawn_late_frees_no_slot:
        "H=1 L=5s: f +10s a1 +5s a2 w(1) => out=1 a => rejected s(2) => closed";
    a_call_that_is_withdrawn_is_followed_no_more:
        "HUNG=8s W=9 M=2: a1 a2 w(1) +10s s => samples=2 => closed s(2) => overdue => samples=2";
    an_ignored_probe_is_no_success:
        "H=1 S=1: f +10s a1 i(1) => ignored => half-open a2 => admitted";
    a_dropped_probe_leaves_the_breaker_probe_able:
        "H=1 S=1: f [ +10s a1 => admitted d(1) => half-open ]*5 +10s s => closed";
    min_calls_does_not_apply_to_probes:
        "M=5: f*5 => open +10s a1 f(1) => open";
    a_failed_probe_opens_whatever_the_ratio_was:
        "R=0.5: s*10 f*5 => open +10s a1 f(1) => open => cause=ProbeFailed";
    a_timed_out_probe_opens_again:
        "R=1: f +10s t => open => cause=ProbeTimedOut";
    it_closes_after_exactly_so_many_successes:
        "H=3 S=3: f +10s s => half-open s => half-open s => closed";
    it_closes_after_exactly_so_many_successes_at_once:
        "H=3 S=3: f +10s a1 a2 a3 s(1) s(2) => half-open s(3) => closed";
    one_failed_probe_outweighs_those_that_passed:
        "H=3 S=3: f +10s a1 a2 a3 s(1) s(2) f(3) => open";
    a_panicking_probe_has_failed:
        "H=1 S=1: f +10s a1 p(1) => reopened => open";
    probes_without_a_verdict_cannot_hold_it_for_ever:
        "I=16: f +10s i*15 => half-open i => open => cause=ProbesInconclusive";
    a_thousand_ignored_probes_reopen_it:
        "I=16: f [ +10s i*1000 => open ]*10";
    probes_without_a_verdict_lengthen_the_wait_as_failed_ones_do:
        "I=2 O=10s*2..1h: f +10s i*2 => left=20s => attempt=1 +20s f => left=40s +40s i*2 => left=80s => attempt=3";
    an_upstream_that_never_gives_a_verdict_is_probed_ever_more_seldom:
        "I=16 O=1s*2..1h: f [ +1h i*16 => open ]*5 => attempt=5 => left=32s";
    inconclusive_probes_of_lost_leases_stay_counted:
        "I=2 L=5s: f +10s i a1 +5s d => reopened => cause=ProbesInconclusive";
    without_a_lease_a_probe_keeps_its_slot:
        "L=none: f +10s a1 +30y a => rejected";
    without_a_lease_force_open_acts_at_once:
        "L=none: f +10s a1 force => forced-open s(1) => stale";
    without_a_lease_close_acts_at_once:
        "L=none: f +10s a1 close => closed s(1) => stale => samples=0";
    without_a_lease_disable_acts_at_once:
        "L=none: f +10s a1 disable => disabled a => admitted s(1) => stale";
}

#[test]
fn a_probe_whose_caller_returns_early_frees_its_slot() {
    fn call(breaker: &Breaker<ManualClock>) -> Result<(), Box<dyn std::error::Error>> {
        let permit = breaker.allow()?;
        let answer: u32 = "not a number".parse()?;
        permit.success();
        unreachable!("{answer}")
    }

    let clock = ManualClock::new();
    let breaker = Breaker::builder()
        .consecutive_failures(1)
        .clock(clock.clone())
        .build()
        .unwrap();
    breaker.allow().unwrap().failure();
    clock.advance(Duration::from_secs(30));
    for _ in 0..3 {
        assert!(call(&breaker).unwrap_err().is::<std::num::ParseIntError>());
        assert_eq!(breaker.snapshot().probes_out, 0);
    }
    assert!(breaker.is_available());
}

#[test]
fn a_probe_that_a_second_breaker_rejects_does_not_wedge_the_first() {
    let clock = ManualClock::new();
    let [first, second] = [10, 20].map(|seconds| {
        let breaker = Breaker::builder()
            .consecutive_failures(1)
            .open_wait(OpenWait::fixed(Duration::from_secs(seconds)))
            .clock(clock.clone())
            .build()
            .unwrap();
        breaker.allow().unwrap().failure();
        breaker
    });
    let chained = || {
        let outer = first.allow()?;
        let inner = second.allow()?;
        inner.success();
        Ok::<_, cutout::Rejected>(outer.success())
    };

    for _ in 0..10 {
        clock.advance(Duration::from_secs(1));
        assert!(chained().is_err());
    }
    assert_eq!(first.state(), State::HalfOpen);
    assert_eq!(chained().unwrap_err().state(), State::Open, "the second's");
    assert!(first.is_available());
    clock.advance(Duration::from_secs(10));
    assert_eq!(chained(), Ok(Settled::Closed));
    assert_eq!(second.state(), State::Closed);
}
