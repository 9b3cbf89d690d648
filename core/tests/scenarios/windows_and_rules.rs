//! What opens a closed breaker, and what does not.

use super::*;

replays! {
    a_long_good_past_does_not_hide_a_bad_present:
        "W=100 R=0.5 M=10: s*100000 f*49 => closed f => open";
    one_failure_below_min_calls_does_not_open:
        "M=5 R=0.5: f => closed";
    the_ratio_is_judged_once_min_calls_are_in:
        "M=5 R=0.4: f*2 s*2 => closed s => tripped";
    the_ratio_is_judged_once_min_calls_are_in_and_may_be_fine:
        "M=5 R=0.5: f*2 s*2 => closed s => recorded => closed";
    a_success_can_be_the_outcome_that_opens:
        "M=6 R=0.5: f*3 s*2 => closed s => tripped => open";
    just_below_the_ratio_is_below:
        "W=200 R=0.5 M=200: f*99 s*101 => closed";
    just_the_ratio_is_enough:
        "W=200 R=0.5 M=200: f*100 s*100 => open";
    a_ratio_that_binary_fractions_cannot_hold_is_reached:
        "W=100 R=0.57 M=100: s*43 f*57 => open";
    a_ratio_whose_product_rounds_up_is_reached:
        "W=100 R=0.07 M=100: s*93 f*7 => open";
    a_ratio_that_binary_fractions_cannot_hold_is_not_reached_early:
        "W=100 R=0.57 M=100: s*44 f*56 => closed";
    a_recovered_breaker_starts_with_an_empty_window:
        "M=2: f*2 => open +10s s => closed f => closed => samples=1";
    rejected_calls_never_enter_the_window:
        "R=0.5: f f*10000 => rejected +10s s => closed => samples=0";
    a_lowered_limit_acts_on_the_next_outcome:
        "R=none C=10: f*5 C=3 => closed f => tripped";
    a_lowered_limit_spares_a_run_that_a_success_ends:
        "R=none C=10: f*5 C=3 s => recorded";
    a_lowered_ratio_acts_on_the_next_outcome_a_success_too:
        "R=1: s*7 f*3 R=0.2 => closed s => tripped";
    consecutive_failures_ignore_min_calls:
        "R=1 M=10 C=3: f*2 => closed f => open => cause=ConsecutiveFailures";
    two_failures_of_the_last_five_open_and_need_no_min_calls:
        "W=5 R=none F=2: f s*3 => closed f => tripped => cause=Failures";
    two_failures_that_are_farther_apart_do_not:
        "W=5 R=none F=2: [ f s*4 ]*50 => closed";
    timeouts_are_among_the_failures_that_are_counted:
        "W=120 R=none F=3: t s*100 f s => closed t => open";
    a_number_of_failures_comes_after_a_run_and_before_a_ratio:
        "W=5 R=none C=2 F=2: f*2 => cause=ConsecutiveFailures";
    a_number_of_failures_goes_before_a_ratio:
        "W=5 R=0.4 M=5 C=none F=2: s*3 f*2 => cause=Failures";
    a_number_of_failures_is_counted_in_a_large_window_too:
        "W=4096 R=none F=3: f s*4000 f => closed s*90 f => open";
    a_number_of_failures_within_a_time:
        "W=60s/6 R=none F=3: f +20s f +20s s => closed f => open => cause=Failures";
    a_number_of_failures_over_a_longer_time_is_none:
        "W=60s/6 R=none F=3: [ f +31s ]*50 => closed";
    a_lowered_number_of_failures_acts_on_the_next_outcome:
        "W=10 R=none F=9: f*3 s F=2 => closed s => tripped";
    an_answer_ends_a_run_as_a_success_does:
        "R=none C=3: [ f*2 n ]*50 => closed f*3 => open";
    an_answer_dilutes_a_ratio:
        "W=100 R=0.5 M=10: [ n*99 f ]*50 => closed => samples=100";
    an_answer_can_be_the_sample_that_opens:
        "M=6 R=0.5: f*3 n*2 => closed n => tripped";
    an_answer_passes_a_probe:
        "M=2: f*2 => open +10s n => closed => samples=0";
    a_slow_answer_is_slow:
        "M=2 R=none SLOW=1s/0.75: n~1s n => closed n~2s n~1s => open => cause=SlowRatio";
    an_abandoned_call_that_was_held_too_long_is_a_timeout:
        "R=none C=2 DA=5s: a1 +4999ms d(1) => ignored a2 +5s d(2) => recorded a3 +1h d(3) => tripped";
    a_probe_that_is_abandoned_too_late_opens_again:
        "M=1 DA=5s L=60s: f +10s a1 +5s d(1) => reopened => cause=ProbeTimedOut";
    a_panic_is_a_panic_however_long_it_took:
        "M=2 R=none C=1 DA=5s P=i: a1 +5s p(1) => ignored => closed";
    a_success_ends_the_run:
        "R=none C=3: [ f*2 s ]*50 => closed f*3 => open";
    an_ignored_outcome_does_not_end_the_run:
        "R=none C=3: f*2 i => closed f => open";
    a_timeout_is_a_failure_too:
        "R=1: t => open => cause=FailureRatio";
    timeouts_have_a_ratio_of_their_own:
        "R=1 TR=0.5 M=4: s f s t => closed t => closed t => open => cause=TimeoutRatio";
    the_first_rule_that_matches_is_the_cause:
        "C=1 R=0.5 TR=0.5 SLOW=1s/0.5 M=1: t~1s => cause=ConsecutiveFailures";
    the_failure_ratio_comes_before_the_timeout_ratio:
        "R=0.5 TR=0.5 SLOW=1s/0.5 M=1: t~1s => cause=FailureRatio";
    the_timeout_ratio_comes_before_the_slow_ratio:
        "R=none TR=0.5 SLOW=1s/0.5 M=1: t~1s => cause=TimeoutRatio";
    slow_successes_open:
        "R=1 M=10 SLOW=1s/0.6: s~2s*9 => closed s~2s => tripped => cause=SlowRatio";
    a_call_as_long_as_the_limit_is_slow:
        "R=1 SLOW=1s/1: a1 +1s s(1) => tripped";
    a_call_just_below_the_limit_is_fast:
        "R=1 SLOW=1s/1: a1 +999999999ns s(1) => recorded";
    what_the_caller_measured_counts_before_what_the_breaker_did:
        "R=1 SLOW=1s/1: a1 a2 +1s s(1)~999ms => recorded s(2)~1s SLOW=1s/0.5 s~0s => closed s~1s => tripped";
    a_slow_failure_is_a_failure_and_slow:
        "R=1 M=2 SLOW=1s/0.5: s f~1s => tripped => cause=SlowRatio";
    a_slow_probe_opens_again:
        "R=1 SLOW=1s/0.6: f +10s a1 +1s s(1) => reopened => cause=ProbeSlow";
    a_probe_just_below_the_limit_passes:
        "R=1 SLOW=1s/0.6: f +10s a1 +999ms s(1) => closed";
    cancelled_calls_leave_no_trace:
        "R=0.5: a1 a2 a3 a4 a5 d(1) d(2) d(3) d(4) d(5) => ignored => samples=0 => closed";
    by_policy_abandoned_calls_can_be_failures:
        "R=0.5 D=f M=5: a1 a2 a3 a4 a5 d(1) d(2) d(3) d(4) => closed d(5) => tripped";
}

#[test]
fn a_hundred_cancelled_calls_leave_no_trace() {
    let breaker = Breaker::builder()
        .min_calls(1)
        .clock(ManualClock::new())
        .build()
        .unwrap();
    let in_flight: Vec<_> = (0..100).map(|_| breaker.allow().unwrap()).collect();
    drop(in_flight);
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(breaker.snapshot().samples, []);
}
