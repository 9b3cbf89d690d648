//! Faults that users of circuit breakers have met, each as the shortest replay
//! that shows it. The notation is explained in `replay/mod.rs`; every
//! replay runs on the breaker and on the sequential model.

mod lockstep;
mod replay;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use cutout::{
    Breaker, CallError, Cause, Clock, Config, ManualClock, OpenWait, Outcome, Report, Settled,
    SlowRule, Snapshot, State, Window,
};

use replay::replay;

/// One test per claim.
macro_rules! replays {
    ($($claim:ident: $line:literal;)+) => {
        $(
            #[test]
            fn $claim() {
                replay($line);
            }
        )+
    };
}

mod half_open {
    use super::*;

    replays! {
        an_ignored_probe_frees_its_slot:
            "H=2 S=2: f +10s a1 a2 s(1) i(2) a3 => admitted s(3) => closed";
        lost_probes_are_reclaimed_when_the_newest_lease_has_run_out:
            "H=2 L=5s: f +10s a1 a2 a => rejected +5s a3 => admitted => generation=3 => out=1 s(1) => stale";
        a_reclaim_waits_for_the_newest_lease:
            "H=2 L=5s: f +10s a1 +3s a2 +2s a => rejected +3s a => admitted => generation=3";
        a_reclaim_keeps_the_passed_probes:
            "H=1 S=2 L=5s: f +10s s => passed=1 a1 +5s a2 => passed=1 s(2) => closed";
        a_late_probe_counts_while_no_one_has_reclaimed_it:
            "L=5s: f +10s a1 +1d s(1) => closed";
        dropped_probes_free_their_slots:
            "H=4 S=4: f +10s a1 a2 a3 a4 s(1) s(2) d(3) d(4) a5 => admitted a6 => admitted a7 => admitted a8 => admitted a9 => rejected";
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
        inconclusive_probes_do_not_lengthen_the_wait:
            "I=2 O=10s*2..80s: f +10s f => left=20s +20s i*2 => left=20s => attempt=1 +20s f => left=40s";
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
}

mod stale_outcomes {
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
        a_reclaimed_probe_has_no_say:
            "H=1 L=5s: f +10s a1 +5s a2 s(1) => stale a3 => rejected f(2) => open";
        a_late_failure_does_not_restart_the_wait:
            "C=1: a0 a1 f(0) => open +9s f(1) => stale => transitions=1 +1s a => admitted";
        a_permit_of_before_a_close_leaves_the_new_window_alone:
            "C=1: a0 f +10s s => closed f +10s s => closed f(0) => stale => samples=0 => closed";
        stale_outcomes_are_counted:
            "C=1: a0 a1 a2 a3 a4 f(0) s(1) f(2) i(3) d(4) => stale=4";
    }
}

mod windows_and_rules {
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
}

mod waits_and_clocks {
    use super::*;

    replays! {
        an_endless_wait_never_ends:
            "O=max: f => open => left=max +100y => open a => rejected => left=max +500y => open";
        an_endless_lease_never_ends:
            "L=max: f +10s a1 +500y a => rejected s(1) => closed";
        an_endless_forced_opening_never_ends:
            "R=1: force=max +500y => forced-open a => rejected close => closed";
        waits_grow_up_to_the_longest_and_start_over_after_a_close:
            "O=10s*2..40s: f => left=10s +10s f => left=20s +20s f => left=40s +40s f => left=40s +40s s => closed f => left=10s";
        a_wait_ends_to_the_nanosecond:
            "O=10s: f +9999999999ns a => rejected => left=1ns +1ns a => admitted";
        a_fixed_wait_does_not_grow:
            "O=10s: f [ => left=10s +10s f ]*20";
        a_wait_may_grow_by_a_fraction:
            "O=8s*1.5..30s: f => left=8s +8s f => left=12s +12s f => left=18s +18s f => left=27s +27s f => left=30s";
        a_factor_of_one_does_not_grow:
            "O=7s*1..30s: f [ => left=7s +7s f ]*20";
        growth_saturates:
            "O=1s*10..max: f [ +1s f@1s ]*30 +1s f => left=max => attempt=31 +500y => open";
        a_huge_factor_saturates:
            "O=1ns*1e300..1h: f +1us f => left=1h +1h f => left=1h";
        the_upstream_may_set_the_wait:
            "O=10s: f@99s => left=99s +99s f@3s => left=3s +3s f => left=10s";
        the_upstream_may_ask_for_no_wait:
            "O=10s: f@0s => half-open a => admitted";
        an_endless_retry_after_never_ends:
            "O=10s: f@max => left=max +500y => open";
        an_action_by_an_operator_starts_the_wait_over:
            "O=10s: f +9s force close f => left=10s +9999ms => open +1ms => half-open";
        a_forced_opening_ends_half_open:
            "R=1: force=5s a => rejected => left=5s +5s => half-open a => admitted s => rejected";
        an_endless_forced_opening_needs_an_operator:
            "R=1: force +30y a => rejected => forced-open close a => admitted";
        a_clock_that_stands_still_does_not_stop_the_rules:
            "M=10 R=0.5: s*5 f*5 => open";
        a_clock_that_steps_back_does_not_stop_the_rules:
            "M=4 R=0.5: +1h s f -60s s => closed -60s f => open -60s => open";
        a_wait_ends_when_a_clock_that_stepped_back_has_caught_up:
            "O=10s: +1h f -60s => open +60s => open +10s => half-open";
        a_wait_begun_after_a_step_back_is_no_longer:
            "O=10s C=1: s +60s -30s f => left=10s +10s => half-open";
        a_clock_that_steps_back_makes_no_call_slow:
            "R=1 SLOW=1s/1: +2min a1 -60s s(1) => recorded";
        a_clock_before_the_start_is_the_start:
            "O=10s: -1h -1h f => left=10s +1h +10s => half-open";
        a_lease_ends_with_its_generation_however_many_follow:
            "L=none: f +10s a1 L=5s [ close ]*16382 f +10s a2 => generation=16386 +5s a => admitted";
        reading_changes_nothing:
            "O=10s: f +10s [ +0s => half-open ]*100 => transitions=1 => generation=1";
    }

    /// A clock that counts how often it is read: a microsecond each time.
    #[derive(Default)]
    struct Counted(AtomicU64);

    impl Clock for &Counted {
        fn now(&self) -> u64 {
            self.0.fetch_add(1, Ordering::Relaxed) * 1_000
        }
    }

    impl Counted {
        fn reads<T>(&self, call: impl FnOnce() -> T) -> (u64, T) {
            let before = self.0.load(Ordering::Relaxed);
            let value = call();
            (self.0.load(Ordering::Relaxed) - before, value)
        }
    }

    #[test]
    fn a_closed_breaker_without_a_slow_rule_reads_no_clock() {
        let clock = Counted::default();
        let breaker = Breaker::builder().clock(&clock).build().unwrap();
        let calls = || {
            for _ in 0..100 {
                breaker.allow().unwrap().success();
                breaker.allow().unwrap().success();
                breaker.allow().unwrap().failure();
                drop(breaker.allow().unwrap());
            }
            assert_eq!(breaker.state(), State::Closed);
        };
        assert_eq!(clock.reads(calls).0, 0);
    }

    #[test]
    fn no_call_reads_the_clock_twice() {
        let clock = Counted::default();
        let breaker = Breaker::builder()
            .window(Window::count(5))
            .min_calls(3)
            .slow(SlowRule {
                limit: Duration::from_micros(3),
                ratio: 0.9,
            })
            .open_wait(OpenWait::fixed(Duration::from_micros(20)))
            .probe_lease(Duration::from_micros(20))
            .max_probes(2)
            .listener(|_| ())
            .clock(&clock)
            .build()
            .unwrap();
        let mut most = 0;
        for call in 0..10_000 {
            let (reads, allowed) = clock.reads(|| breaker.allow());
            most = most.max(reads);
            let Ok(permit) = allowed else { continue };
            let (reads, _) = match call % 11 {
                0..4 => clock.reads(|| permit.failure()),
                4..10 => clock.reads(|| permit.success()),
                _ => {
                    std::mem::forget(permit);
                    continue;
                }
            };
            most = most.max(reads);
        }
        assert_eq!(most, 1);
        assert!(breaker.generation() > 100, "all states were seen");
    }

    #[test]
    fn a_million_reopenings_saturate() {
        let clock = ManualClock::new();
        let endless = OpenWait::exponential(Duration::from_secs(1), 10.0, Duration::MAX);
        let breaker = Breaker::builder()
            .consecutive_failures(1)
            .open_wait(endless)
            .clock(clock.clone())
            .build()
            .unwrap();
        let at_once = Report::from(Outcome::Failure).retry_after(Duration::ZERO);
        breaker.allow().unwrap().done(at_once);
        for _ in 0..1_000_000 {
            assert_eq!(breaker.allow().unwrap().done(at_once), Settled::Reopened);
        }
        breaker.allow().unwrap().failure();
        assert_eq!(breaker.snapshot().attempt, 511);
        let rejected = breaker.allow().unwrap_err();
        assert_eq!(rejected.retry_after(), Some(Duration::MAX));
        clock.advance(Duration::MAX);
        assert_eq!(breaker.state(), State::Open);
    }

    #[test]
    fn jitter_shortens_a_wait_by_at_most_its_percentage() {
        let mut waits = Vec::new();
        for start in 0..200 {
            let clock = ManualClock::new();
            clock.set(Duration::from_nanos(start));
            let breaker = Breaker::builder()
                .consecutive_failures(1)
                .open_wait(OpenWait::fixed(Duration::from_secs(10)).jitter_percent(40))
                .clock(clock)
                .build()
                .unwrap();
            breaker.allow().unwrap().failure();
            waits.push(breaker.snapshot().remaining.unwrap());
        }
        waits.sort();
        assert!(waits[0] >= Duration::from_secs(6), "{:?}", waits[0]);
        assert!(waits[199] <= Duration::from_secs(10) + Duration::from_micros(1));
        assert!(waits[20] < Duration::from_secs(7), "spread out evenly");
        assert!(waits[180] > Duration::from_secs(9), "spread out evenly");
        waits.dedup();
        assert!(waits.len() > 190, "no two breakers wait alike");
    }
}

mod operator {
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
}

mod reconfigure {
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
        a_slow_rule_set_later_measures_later_calls:
            "R=1: a1 SLOW=1s/1 a2 +1s s(1) => recorded s(2) => recorded SLOW=1s/0.5 s~1s => tripped";
    }
}

mod restart {
    use super::*;

    replays! {
        a_restored_breaker_waits_for_what_is_left:
            "O=10s: f +3s save wall+3s restore => open => left=4s +4s => half-open";
        a_restored_wait_is_no_longer_than_the_config_says:
            "O=100s: f save O=10s restore => left=10s";
        a_breaker_restored_a_day_later_is_probe_able_at_once:
            "O=10s: f save wall+1d restore => half-open a => admitted";
        a_wall_clock_that_stepped_back_makes_no_wait_longer:
            "O=10s: f +3s save wall-1d restore => left=7s";
        half_open_is_restored_probe_able:
            "O=10s: f +10s a1 save restore => half-open => out=0 a => admitted";
        the_window_is_restored:
            "M=3: f*2 save restore => samples=2 f => open";
        a_window_of_another_size_is_not_restored:
            "M=3: f*2 save W=9 restore => closed => samples=0";
        the_growth_of_the_wait_is_restored:
            "O=10s*2..80s: f +10s f +20s f => left=40s save restore => left=40s => attempt=2 +40s f => left=80s";
        the_generation_is_restored:
            "O=10s: f +10s f => generation=3 save restore => generation=3";
        a_forced_opening_is_restored:
            "O=10s: force save wall+1y restore => forced-open a => rejected";
        a_forced_opening_with_an_end_is_restored:
            "O=10s: force=99s save wall+9s restore => forced-open => left=90s";
        disabled_is_restored:
            "C=1: disable save restore => disabled f => ignored";
    }

    #[test]
    fn a_snapshot_of_nonsense_is_made_sense_of() {
        let nonsense = Snapshot {
            state: State::Open,
            generation: u32::MAX,
            cause: Some(Cause::WaitElapsed),
            remaining: None,
            attempt: u32::MAX,
            probes_out: u32::MAX,
            probes_passed: u32::MAX,
            probes_inconclusive: u32::MAX,
            window: Window::count(0),
            samples: Vec::new(),
            taken: Duration::MAX,
        };
        let breaker = Breaker::builder()
            .clock(ManualClock::new())
            .restore(nonsense)
            .build()
            .unwrap();
        let rejected = breaker.allow().unwrap_err();
        assert_eq!(rejected.retry_after(), Some(Duration::from_secs(30)));
        assert_eq!(rejected.cause(), Cause::Operator);
    }
}

mod listeners {
    use super::*;

    #[test]
    fn a_listener_may_call_the_breaker() {
        let breaker = Arc::new(OnceLock::<Weak<Breaker<ManualClock>>>::new());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let built = {
            let (breaker, heard) = (Arc::clone(&breaker), Arc::clone(&heard));
            Breaker::builder()
                .consecutive_failures(1)
                .clock(ManualClock::new())
                .listener(move |event| {
                    let breaker = breaker.get().and_then(Weak::upgrade).unwrap();
                    heard.lock().unwrap().push((event.from, event.to));
                    assert_eq!(breaker.state(), breaker.snapshot().state);
                    let admitted = breaker.allow().map(|permit| permit.ignore()).is_ok();
                    match event.to {
                        State::Open => {
                            assert!(!admitted);
                            breaker.force_open(None, "a listener's decision");
                        }
                        State::ForcedOpen => breaker.close("and its opposite"),
                        _ => assert!(admitted),
                    }
                })
                .build()
                .unwrap()
        };
        let built = Arc::new(built);
        breaker.set(Arc::downgrade(&built)).unwrap();

        assert_eq!(built.allow().unwrap().failure(), Settled::Tripped);
        assert_eq!(
            *heard.lock().unwrap(),
            [
                (State::Closed, State::Open),
                (State::Open, State::ForcedOpen),
                (State::ForcedOpen, State::Closed),
            ]
        );
        assert_eq!(built.state(), State::Closed);
        assert_eq!(built.listener_panics(), 0);
    }

    #[test]
    fn a_panicking_listener_changes_nothing() {
        let clock = ManualClock::new();
        let heard = Arc::new(AtomicU32::new(0));
        let builder = || {
            Breaker::builder()
                .consecutive_failures(1)
                .clock(clock.clone())
        };
        let plain = builder().build().unwrap();
        let panicking = {
            let heard = Arc::clone(&heard);
            builder()
                .listener(|_| std::panic::resume_unwind(Box::new("a bad listener")))
                .listener(move |_| {
                    heard.fetch_add(1, Ordering::Relaxed);
                })
                .build()
                .unwrap()
        };

        for breaker in [&plain, &panicking] {
            assert_eq!(breaker.allow().unwrap().failure(), Settled::Tripped);
        }
        clock.advance(Duration::from_secs(30));
        for breaker in [&plain, &panicking] {
            let answer = breaker.call(|| Err::<(), _>("still down"));
            assert_eq!(answer, Err(CallError::Inner("still down")));
        }
        assert_eq!(panicking.snapshot(), plain.snapshot());
        assert_eq!(panicking.generation(), 3);
        assert_eq!(panicking.listener_panics(), 3);
        assert_eq!(heard.load(Ordering::Relaxed), 3, "the listener after it");
    }
}

mod config {
    use super::*;

    #[test]
    fn an_illegal_value_is_refused_with_its_name_and_range() {
        const RATIO: &str = "finite, above 0 and at most 1";
        let legal = Config::default();
        let wait = legal.open_wait;
        let slow = SlowRule {
            limit: Duration::from_secs(1),
            ratio: 0.5,
        };
        let mut rows: Vec<(Config, &str, String, &str)> = Vec::new();
        let mut row = |config, field, value: &dyn ToString, range| {
            rows.push((config, field, value.to_string(), range));
        };

        for ratio in [f64::NAN, -1.0, -0.0, 0.0, 1.000_000_1, f64::INFINITY] {
            let failure_ratio = Some(ratio);
            row(
                Config {
                    failure_ratio,
                    ..legal
                },
                "failure_ratio",
                &ratio,
                RATIO,
            );
            let timeout_ratio = Some(ratio);
            row(
                Config {
                    timeout_ratio,
                    ..legal
                },
                "timeout_ratio",
                &ratio,
                RATIO,
            );
            let slow = Some(SlowRule { ratio, ..slow });
            row(Config { slow, ..legal }, "slow.ratio", &ratio, RATIO);
        }
        for size in [0, 4097, 5000, u32::MAX] {
            let window = Window::count(size);
            row(
                Config { window, ..legal },
                "window",
                &size,
                "a count of 1 to 4096",
            );
        }
        for min_calls in [0, 21, u32::MAX] {
            row(
                Config { min_calls, ..legal },
                "min_calls",
                &min_calls,
                "1 to the window's size",
            );
        }
        for run in [0, 21, u32::MAX] {
            let consecutive_failures = Some(run);
            let range = "1 to the window's size, or none";
            row(
                Config {
                    consecutive_failures,
                    ..legal
                },
                "consecutive_failures",
                &run,
                range,
            );
        }
        for count in [0, 256, u32::MAX] {
            let range = "1 to 255";
            row(
                Config {
                    max_probes: count,
                    ..legal
                },
                "max_probes",
                &count,
                range,
            );
            row(
                Config {
                    successes_to_close: count,
                    ..legal
                },
                "successes_to_close",
                &count,
                range,
            );
            row(
                Config {
                    max_inconclusive: count,
                    ..legal
                },
                "max_inconclusive",
                &count,
                range,
            );
        }
        let none = Config {
            failure_ratio: None,
            ..legal
        };
        let rules = "at least one of failure_ratio, timeout_ratio, slow, consecutive_failures";
        row(none, "rules", &"none", rules);
        let limit = Some(SlowRule {
            limit: Duration::ZERO,
            ..slow
        });
        row(
            Config {
                slow: limit,
                ..legal
            },
            "slow.limit",
            &"0ns",
            "above zero",
        );
        let probe_lease = Some(Duration::ZERO);
        row(
            Config {
                probe_lease,
                ..legal
            },
            "probe_lease",
            &"0ns",
            "above zero",
        );
        let with = |open_wait| Config { open_wait, ..legal };
        let zero = OpenWait::fixed(Duration::ZERO);
        row(with(zero), "open_wait.base", &"0ns", "above zero");
        for factor in [f64::NAN, -2.0, 0.5, f64::INFINITY] {
            let range = "finite and at least 1";
            row(
                with(OpenWait { factor, ..wait }),
                "open_wait.factor",
                &factor,
                range,
            );
        }
        let max = Duration::from_secs(1);
        row(
            with(OpenWait { max, ..wait }),
            "open_wait.max",
            &"1s",
            "at least open_wait.base",
        );
        row(
            with(wait.jitter_percent(101)),
            "open_wait.jitter_percent",
            &101,
            "0 to 100",
        );

        let live = Breaker::new(legal).unwrap();
        for (config, field, value, range) in rows {
            let refused = Breaker::new(config).unwrap_err();
            assert_eq!(refused.field(), field);
            assert_eq!(refused.value(), value, "{field}");
            assert_eq!(refused.legal(), range, "{field}");
            assert_eq!(live.reconfigure(config), Err(refused), "reconfigure alike");
        }
        assert_eq!(live.config(), legal);
    }

    #[test]
    fn every_field_changes_what_happens() {
        // A new field does not compile until it is named here, and has a row below.
        let Config {
            window: _,
            min_calls: _,
            failure_ratio: _,
            timeout_ratio: _,
            slow: None | Some(SlowRule { limit: _, ratio: _ }),
            consecutive_failures: _,
            open_wait:
                OpenWait {
                    base: _,
                    factor: _,
                    max: _,
                    jitter_percent: _,
                },
            max_probes: _,
            successes_to_close: _,
            probe_lease: _,
            max_inconclusive: _,
            abandoned: _,
            panicked: _,
        } = Config::default();

        let rows = [
            ("W=10 M=5 R=0.6", "W=5 M=5 R=0.6", "s*5 f f f"),
            ("M=1", "M=2", "f"),
            ("R=0.5", "R=0.9", "s f"),
            ("TR=none", "TR=0.5", "s t"),
            ("SLOW=1s/1", "SLOW=2s/1", "s~1s"),
            ("SLOW=1s/1", "SLOW=1s/0.5", "s s~1s"),
            ("R=none C=2", "R=none C=3", "f f"),
            ("O=10s*1..40s", "O=11s*1..40s", "f +10s a"),
            ("O=10s*1..40s", "O=10s*2..40s", "f +10s f +10s a"),
            ("O=10s*2..10s", "O=10s*2..20s", "f +10s f +10s a"),
            ("J=0", "J=50", "f +9999ms a"),
            ("H=1", "H=2", "f +10s a a"),
            ("S=1", "S=2", "f +10s s"),
            ("L=5s", "L=6s", "f +10s a +5s a"),
            ("L=none", "L=6s", "f +10s a +6s a"),
            ("I=1", "I=2", "f +10s i"),
            ("D=i", "D=f", "d"),
            ("P=i", "P=f", "p"),
        ];
        for (one, other, steps) in rows {
            let [one, other] = [one, other].map(|settings| format!("{settings}: {steps}"));
            assert_ne!(replay(&one), replay(&other), "{one} | {other}");
        }
    }
}
