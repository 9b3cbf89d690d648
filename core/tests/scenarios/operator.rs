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
    resume_goes_on_with_the_wait_that_was_interrupted:
        "O=10s: f +3s disable +4s resume => open => left=3s => cause=FailureRatio +3s => half-open";
    a_wait_that_ends_meanwhile_is_over_at_resume:
        "O=10s: f disable +1h resume => half-open a1 => admitted s(1) => closed";
    resume_keeps_the_growth_of_the_wait:
        "O=10s*2..80s: f +10s f => left=20s force +5s resume => left=15s => attempt=1 +15s f => left=40s";
    resume_goes_back_to_what_was_before_the_first_of_several_actions:
        "O=10s: f disable observe force +2s disable resume => open => left=8s";
    resume_goes_back_to_half_open_with_no_probe_out:
        "S=2: f +10s s a1 => passed=1 disable resume => half-open => out=0 => passed=0 s(1) => stale => out=0 a => admitted";
    resume_of_a_closed_breaker_closes_it_with_an_empty_window:
        "M=3: f f disable resume => closed => samples=0 => transitions=2";
    resume_outlasts_what_observe_only_would_have_opened:
        "O=10s: f observe f => would-trip f => would-trip +4s resume => open => left=6s";
    resume_outlasts_another_window:
        "O=10s: f observe W=9 +4s resume => open => left=6s";
    resume_does_nothing_where_no_operator_rules:
        "O=10s: f resume => open => transitions=1 disable close resume => closed => transitions=3";
    a_forced_opening_that_has_admitted_a_probe_is_no_operators_state:
        "R=1: force=5s +5s a1 => admitted resume => half-open => out=1 s(1) => closed";
    an_endless_wait_that_is_resumed_is_endless:
        "O=max: f disable +1y resume => open => left=max";
    closing_empties_the_window:
        "R=1 M=3: f*2 close f => closed => samples=1";
}
