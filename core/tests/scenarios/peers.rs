//! What others before the same upstream have found.

use super::*;

replays! {
    a_trip_of_others_opens_a_closed_breaker_which_probes_and_closes_by_itself:
        "O=10s: peers => open => cause=Peers => left=10s +10s a1 => admitted s(1) => closed";
    a_trip_of_others_leaves_no_outcome_behind:
        "R=1 M=3: f f a1 peers f(1) => stale +30s s => closed f => samples=1 => closed";
    a_trip_of_others_opens_nothing_but_a_closed_breaker:
        "C=1 O=10s: f +3s peers => left=7s => cause=ConsecutiveFailures +7s a1 peers => half-open => transitions=2";
    a_trip_of_others_undoes_no_operators_state:
        "R=1: disable peers => disabled force peers => forced-open observe peers => observe-only => transitions=3";
    a_failed_probe_after_a_takeover_opens_for_the_next_wait:
        "O=10s*2..80s: peers +10s f => reopened => left=20s => cause=ProbeFailed => attempt=1";
    a_wait_that_others_set_is_that_long_from_now:
        "O=10s: f +9s wait=30s => left=30s +29s a => rejected +1s a1 => admitted s(1) => closed";
    a_wait_that_others_set_is_no_opening_of_its_own:
        "O=10s*2..80s: f wait=1s wait=2s => cause=FailureRatio => attempt=0 => transitions=3 +2s f => left=20s";
    a_wait_that_others_end_admits_a_probe_at_once:
        "O=10s: f wait=0s => half-open a1 => admitted a => rejected s(1) => closed";
    a_wait_that_is_over_can_be_set_again:
        "O=10s: f +1h => half-open wait=5s => open a => rejected +5s a1 => admitted";
    others_set_no_wait_where_there_is_none:
        "O=10s: wait=5s => closed f +10s a1 wait=5s => half-open s(1) force wait=5s => forced-open => transitions=4";
    an_interrupted_wait_is_the_operators_to_resume:
        "O=10s: f disable wait=60s +4s resume => left=6s wait=60s disable +4s resume => left=56s";
}

#[test]
fn a_wait_of_zero_is_over_at_once_between_two_microseconds_too() {
    let clock = ManualClock::new();
    let builder = Breaker::builder().consecutive_failures(1);
    let breaker = builder.clock(clock.clone()).build().unwrap();
    clock.advance(Duration::from_nanos(1_234_567));
    breaker.allow().unwrap().failure();
    assert!(breaker.set_wait(Duration::ZERO));
    assert_eq!(breaker.allow().unwrap().success(), Settled::Closed);
    breaker.force_open(Some(Duration::ZERO), "probe now");
    assert_eq!(breaker.allow().unwrap().success(), Settled::Closed);
}

#[test]
fn a_takeover_tells_what_the_others_have_seen() {
    let breaker = Breaker::builder().build().unwrap();
    let counts = Counts {
        samples: 20,
        failures: 12,
        timeouts: 3,
        slow: 1,
    };
    assert!(breaker.take_over(counts, Some(Label::new("connection refused"))));
    let trip = breaker.evidence().trip.unwrap();
    assert_eq!(
        (trip.cause, trip.counts, trip.threshold),
        (Cause::Peers, counts, None)
    );
    assert_eq!(trip.label.as_deref(), Some("connection refused"));
    assert!(breaker.set_wait(Duration::from_secs(99)));
    assert_eq!(breaker.evidence().trip.unwrap().counts, counts);
}
