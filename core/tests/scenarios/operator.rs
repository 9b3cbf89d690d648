//! Operator actions.

use super::*;

replays! {
    no_automatic_transition_undoes_a_forced_opening:
        "R=1: a1 force s(1) => stale => forced-open +1y => forced-open";
    disabled_admits_and_records_nothing:
        "C=1: disable f*100 => ignored => disabled => samples=0 close f => open";
    observe_only_records_and_reports_what_would_have_tripped:
        "R=none C=3: observe f*2 => recorded => samples=2 f => would-trip => observe-only => samples=0 f => recorded => transitions=2";
    the_end_of_observe_only_starts_an_empty_window:
        "R=1 M=2: observe f close f => closed f => open";
    every_action_is_a_new_generation_even_a_repeated_one:
        "R=1: close close force force disable disable observe observe => generation=8 => transitions=8";
    every_action_is_legal_from_half_open:
        "C=1: f +10s a1 observe => observe-only f(1) => stale";
    closing_empties_the_window:
        "R=1 M=3: f*2 close f => closed => samples=1";
}
