//! Outcomes of generations that are over.

use super::*;

replays! {
    a_late_success_of_an_old_generation_frees_no_slot:
        "H=1: a0 f +10s a1 s(0) => stale => half-open => out=1 a2 => rejected s(1) => closed";
    a_late_failure_of_an_old_generation_is_no_verdict:
        "H=1: a0 f +10s a1 f(0) => stale => half-open => out=1";
    a_late_ignored_outcome_frees_no_slot:
        "H=1: a0 f +10s a1 i(0) => stale => out=1 a2 => rejected";
    a_late_dropped_permit_frees_no_slot:
        "H=1: a0 f +10s a1 d(0) => stale => out=1 a2 => rejected";
    a_lost_probe_has_no_say_once_its_half_open_period_is_over:
        "L=5s: f +10s a1 +5s a2 f(2) => open s(1) => stale => open";
    a_lost_probe_of_an_earlier_half_open_period_has_no_say:
        "L=5s: f +10s a1 a2 => rejected +5s a3 f(3) +10s a4 s(1) => stale => half-open +5s a5 s(5) => closed";
    an_operator_ends_the_period_of_a_lost_probe:
        "L=5s: f +10s a1 +5s a2 disable resume => half-open s(1) => stale s(2) => stale => half-open => out=0";
    a_late_failure_does_not_restart_the_wait:
        "C=1: a0 a1 f(0) => open +9s f(1) => stale => transitions=1 +1s a => admitted";
    a_permit_of_before_a_close_leaves_the_new_window_alone:
        "C=1: a0 f +10s s => closed f +10s s => closed f(0) => stale => samples=0 => closed";
    stale_outcomes_are_counted:
        "C=1: a0 a1 a2 a3 a4 f(0) s(1) f(2) i(3) d(4) => stale=4";
}
