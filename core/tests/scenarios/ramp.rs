//! The way back to all calls after a recovery.

use super::*;

replays! {
    a_share_that_grows_from_none_is_admitted_after_a_close:
        "RAMP=10s: f +10s s => closed => ramp=10s a => rejected +5s a => rejected a => admitted => ramp=5s +5s a => admitted";
    another_length_is_that_of_the_ramp_under_way:
        "RAMP=10s: f +10s s +9s RAMP=90s => ramp=81s a => rejected RAMP=none a => admitted";
    a_call_that_was_admitted_on_the_way_may_open_it:
        "RAMP=10s SLOW=1s/1: f +10s s +5s a a1 +2s s(1) => open";
    a_ramp_outlasts_another_shape_of_the_window:
        "RAMP=10s W=10s/5: f +10s s +2s W=20s/5 => ramp=8s a => rejected";
    a_ramp_outlasts_another_close_and_no_other_state:
        "RAMP=10s: f +10s s +2s close => ramp=8s observe a => admitted close a => admitted";
    a_ramp_outlasts_a_restart:
        "RAMP=10s: f +10s s +2s save wall+1s restore => ramp=7s a => rejected +7s a => admitted";
    who_is_refused_counts_no_overdue_call:
        "RAMP=1s HUNG=8s: f +10s s +1s a1 +9s a => open";
    probes_by_stages_are_not_refused:
        "RAMP=10s G=1*2..4/0.5: f +10s s*6 => closed => ramp=10s a => rejected";
    a_ramp_that_is_over_does_not_come_back_with_the_clock:
        "RAMP=10s: f +10s s +10s a => admitted -10s a => admitted";
    a_ramp_goes_back_with_the_clock:
        "RAMP=10s: f +10s s +9s -9s => ramp=10s a => rejected";
}
