//! Windows of the last T, and calls that count before they return.

use super::*;

replays! {
    calls_longer_than_the_window_count_when_they_complete:
        "W=10s/10 M=3: a1 a2 a3 +1min f(1) f(2) f(3) => tripped => open";
    failures_in_a_row_are_counted_however_far_apart:
        "W=30s/10 R=none C=5: f +19s f +19s f +19s f +19s => closed f => tripped => cause=ConsecutiveFailures";
    old_outcomes_have_left_the_window:
        "W=10s/10 M=3: f +1d f +1d f => closed => samples=1";
    a_window_of_one_bucket_ends_all_at_once:
        "W=10s/1 M=3: f f +10s => samples=0 f => closed f f => tripped";
    outcomes_leave_with_their_bucket:
        "W=10s/5 M=9: s +1999ms s => samples=2 +8s => samples=2 +1ms => samples=0";
    the_newest_bucket_is_the_one_that_fills_up:
        "W=10s/5 M=9: +1s s +8999ms => samples=1 +1ns => samples=1 +1s => samples=0";
    a_success_can_trip_once_older_successes_have_left:
        "W=10s/5 M=2 R=0.5: s*4 +4s f f f +6s => closed s => tripped";
    the_sample_that_reaches_min_calls_may_be_a_success:
        "W=10s/5 M=4 R=0.5: f f s => closed s => tripped";
    two_bursts_on_either_side_of_an_edge_are_one:
        "W=10s/10 M=10 R=1: +999ms f*5 +2ms f*4 => closed f => tripped";
    a_clock_that_steps_back_starts_no_bucket:
        "W=10s/5 M=9: +1min s -30s s +25s => samples=2 +5s s => samples=3 +10s => samples=0";
    rules_trip_while_the_clock_steps_back:
        "W=10s/5 M=3: +1min f -30s f -10s f => tripped => left=10s";
    rules_trip_while_the_clock_stands_still:
        "W=10s/5 M=100: f*99 => closed f => tripped";
    an_idle_gap_of_years_empties_the_window:
        "W=10s/60 M=3: f f +30y f f => closed => samples=2 f => tripped";
    a_transition_within_a_bucket_starts_an_empty_window:
        "W=10s/1 M=2: f close f => closed => samples=1 f => tripped +10s s => closed => samples=0";
    each_ratio_is_judged_on_it:
        "W=10s/5 M=4 R=1 TR=0.5: t t s => closed s => tripped => cause=TimeoutRatio";
    slow_calls_are_judged_on_it:
        "W=10s/5 M=4 R=1 SLOW=1s/0.5: s~1s s~2s s => closed s => tripped => cause=SlowRatio";
    a_lowered_ratio_acts_on_the_next_outcome:
        "W=10s/5 M=10: s*8 f*2 R=0.2 => closed s => recorded f => tripped";
    a_count_window_becomes_a_time_window_and_back:
        "W=3 M=3: f f W=10s/5 => samples=0 f f +10s f => samples=1 => generation=1 W=3 => generation=2 f f => closed f => tripped";
    another_division_of_the_same_time_starts_an_empty_window:
        "W=10s/5 M=3: f f W=10s/6 => generation=1 f => closed => samples=1";
    the_window_can_change_while_the_breaker_is_open:
        "M=1: f => open W=10s/5 M=2 +10s s => closed f => closed f => tripped";
    a_run_is_forgotten_with_its_rule:
        "W=10s/5 C=3 R=1 M=99: f f C=none f C=3 f f => closed f => tripped";
    it_goes_on_after_a_restart:
        "W=10s/5 M=4: f f +4s save wall+2s restore => samples=2 f => closed f => tripped";
    what_a_restart_took_too_long_for_is_gone:
        "W=10s/5 M=4: f f +4s f save wall+6s restore => samples=1 wall+1min => samples=1";
    a_run_goes_on_after_a_restart:
        "W=10s/5 R=none C=3: f f save wall+1h restore f => tripped";
    a_run_is_forgotten_when_the_snapshot_is_too_old:
        "W=10s/5 R=none C=3: f f save wall+1h wall+1ns restore f => recorded f => recorded f => tripped";
    calls_that_hang_open_the_breaker:
        "W=10s/5 M=3 R=0.5 HUNG=8s: a1 a2 a3 +8s => closed +1s a => rejected => open => cause=FailureRatio";
    they_do_so_by_a_count_window_too:
        "W=10 M=3 R=0.5 HUNG=8s: a1 a2 a3 +9s a => rejected => open";
    slow_ones_count_as_slow:
        "W=10s/5 M=3 R=1 SLOW=8s/0.5 HUNG=slow: a1 a2 a3 +9s a => rejected => cause=SlowRatio";
    a_call_that_hung_and_returned_is_counted_once:
        "W=10s/5 M=9 HUNG=8s: a1 +9s s => samples=2 f(1) => overdue => samples=2";
    a_call_that_returns_in_time_is_counted_as_it_ends:
        "W=10s/5 M=9 HUNG=8s: a1 +8s s(1) => recorded => samples=1 +30s s => samples=1";
    a_hung_call_that_is_cancelled_was_counted:
        "W=10s/5 M=9 HUNG=8s: a1 +9s d(1) => overdue => samples=1";
    a_cancelled_call_is_not_counted_later:
        "W=10s/5 M=9 HUNG=8s: a1 d(1) +9s s => samples=1";
    each_hung_call_leaves_the_window_once:
        "W=10s/5 M=9 HUNG=1s: a1 +2s s => samples=2 +10s s => samples=1 s(1) => overdue => samples=1";
    calls_in_flight_at_another_limit_count_as_they_return:
        "W=10s/5 M=9 HUNG=8s: a1 +7s HUNG=1s +9s s => samples=1 f(1) => recorded => samples=2";
    calls_are_followed_anew_although_the_clock_stepped_back:
        "W=10s/5 M=9 HUNG=8s: +20s s -15s a1 HUNG=4s a2 f(1) => recorded +6s s => samples=4 f(2) => overdue";
    probes_are_not_counted_while_they_are_in_flight:
        "M=1 HUNG=1s L=60s: f +10s a1 +30s => half-open s(1) => closed => samples=0";
}

#[test]
fn a_number_of_failures_above_every_count_window_is_kept_by_a_time_window() {
    let breaker = Breaker::builder()
        .window(Window::time(Duration::from_secs(60), 10))
        .failure_ratio(None)
        .failures(70_000)
        .build()
        .unwrap();
    assert_eq!(breaker.config().failures, Some(70_000));
}
