//! New configs for a live breaker.

use super::*;

replays! {
    an_illegal_config_changes_nothing:
        "R=1 M=2: f R=1.5 => refused => samples=1 => transitions=0 f => open";
    min_calls_above_a_smaller_window_is_refused:
        "M=5: W=4 => refused => transitions=0";
    another_window_size_starts_an_empty_window_and_a_generation:
        "R=1 M=2: a1 f W=9 => closed => generation=1 => samples=0 f(1) => stale";
    a_larger_window_has_room_for_all_its_outcomes:
        "W=20 M=20 R=0.5: W=4096 s*3000 f*1000 => samples=4000 => closed f*2000 => open";
    another_window_size_keeps_open_and_its_deadline:
        "R=1: f W=9 => open => left=10s => generation=1";
    another_window_size_keeps_probes_valid:
        "R=1: f +10s a1 W=9 => half-open => out=1 s(1) => closed";
    another_wait_holds_from_the_next_opening:
        "O=10s: f O=20s => left=10s +10s f => left=20s";
    a_smaller_quota_holds_for_the_next_probe:
        "H=3 S=3: f +10s a1 a2 H=1 a => rejected s(1) a => rejected s(2) a => admitted";
    fewer_successes_to_close_act_on_the_next_success:
        "H=3 S=3: f +10s s*2 S=1 => half-open s => closed";
    a_new_lease_holds_for_the_next_probe:
        "H=2 L=none: f +10s a1 L=5s +1y a2 +5s a => rejected force=1s +1s a3 a4 +5s a => admitted";
    a_slow_rule_set_while_a_probe_is_out_judges_it:
        "O=10s: f +10s a1 SLOW=50s/1 +59s s(1) => reopened => cause=ProbeSlow";
    a_slow_rule_set_later_measures_later_calls:
        "R=1: a1 SLOW=1s/1 a2 +1s s(1) => recorded s(2) => recorded SLOW=1s/0.5 s~1s => tripped";
}
