//! Time in which the process itself stood still, as the gaps in its clock readings tell.

use super::*;

replays! {
    a_pause_makes_no_call_slow:
        "M=2 R=none SLOW=1600ms/0.1: [ s +100ms ]*40 a1 a2 +3s s(1) s(2) => recorded => closed";
    a_pause_is_taken_off_what_the_caller_measured:
        "M=2 R=none SLOW=1600ms/0.1: [ s +100ms ]*40 a1 a2 +3s s(1)~3s s(2)~3s => recorded => closed";
    a_call_that_was_slow_besides_is_slow:
        "M=2 R=none SLOW=1600ms/0.02: [ s +100ms ]*40 a1 [ s +100ms ]*17 a2 +3s s(2) => recorded s(1) => tripped";
    a_pause_makes_no_call_overdue:
        "M=2 R=none C=2 HUNG=1600ms: [ s +100ms ]*40 a1 a2 +3s s => recorded => closed s(1) s(2) => recorded";
    calls_are_overdue_by_their_own_time_after_a_pause:
        "M=2 R=none C=2 HUNG=1600ms: [ s +100ms ]*40 a1 a2 +3s [ s +100ms ]*10 => closed [ i +100ms ]*10 => open";
    a_timeout_across_a_pause_is_ignored:
        "M=2 R=none C=2 SLOW=1600ms/1: [ s +100ms ]*40 a1 a2 +3s t(1) => ignored t(2) => ignored => closed";
    a_timeout_after_a_pause_is_one:
        "M=2 R=none C=2 SLOW=1600ms/1: [ s +100ms ]*40 a1 +3s t(1) => ignored t t => tripped";
    a_timeout_that_its_caller_measured_is_one:
        "M=2 R=none C=2 SLOW=1600ms/1: [ s +100ms ]*40 a1 a2 +3s t(1)~2s t(2)~2s => tripped";
    an_abandoned_call_is_not_charged_with_a_pause:
        "M=2 R=none C=1 DA=1600ms: [ s +100ms ]*40 a1 +3s d(1) => ignored => closed";
    a_gap_without_a_steady_load_before_it_counts:
        "M=2 R=none C=2 DA=1600ms: s +1s s +1s s a1 a2 +3s d(1) d(2) => tripped";
    a_second_gap_soon_after_counts:
        "M=2 R=none C=2 DA=1600ms: [ s +100ms ]*40 a1 +3s d(1) => ignored a2 a3 +3s d(2) d(3) => tripped";
    a_load_that_is_steady_again_is_believed_again:
        "M=2 R=none C=1 DA=1600ms: [ s +100ms ]*40 a1 +3s d(1) => ignored [ s +100ms ]*40 a2 +3s d(2) => ignored => closed";
    another_limit_goes_on_with_the_readings:
        "M=2 R=none C=1 DA=1600ms: [ s +100ms ]*40 DA=800ms a1 +3s d(1) => ignored => closed";
}
