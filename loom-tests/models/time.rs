//! A time window counts each outcome once, in its tick, and trips once.

use std::time::Duration;

use crate::configs::{WAIT, window};
use crate::cutout::{Config, OpenWait, Window};
use crate::op::{Op, calls, failure, success, timeout};
use crate::reach::Reach;
use crate::scenario::Scenario;

const BUCKET: Duration = WAIT;

/// Two buckets; opens when all of so many outcomes have failed.
fn ticks(min_calls: u32) -> Config {
    window(1).with(|config| {
        config.window = Window::time(BUCKET * 2, 2);
        config.min_calls = Some(min_calls);
    })
}

/// Opens at half of them.
fn half(min_calls: u32) -> Config {
    ticks(min_calls).with(|config| config.failure_ratio = Some(0.5))
}

/// Two who write and then read what the other has written may both miss it.
const NO_SEQ_CST: &str =
    "loom, which takes sequentially consistent accesses for acquire and release";

models! {
    no_outcome_of_a_tick_is_lost: Reach::FULL => Scenario::new(ticks(4))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("[2f 0t 0~ of 2 at 0ns]")
        .thread([failure(1)])
        .thread([failure(2)])
        .after([Op::Snapshot]);

    outcomes_of_all_kinds_are_counted_once: Reach::both(3) => Scenario::new(half(9))
        .before([Op::Allow(1), Op::Allow(2), Op::Allow(3), Op::Allow(4)])
        .sees("[2f 1t 0~ of 4 at 0ns]")
        .thread([success(1), failure(2)])
        .thread([timeout(3), success(4)])
        .after([Op::Snapshot]);

    /// The clock moves on between the look at it and the count.
    no_outcome_is_lost_or_counted_twice_when_a_bucket_turns: Reach::both(3) => Scenario::new(ticks(4))
        .before(calls([0], failure))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("[2f 0t 0~ of 2 at 60s, 1f 0t 0~ of 1 at 0ns]")
        .sees("[1f 0t 0~ of 1 at 60s, 2f 0t 0~ of 2 at 0ns]")
        .thread([failure(1)])
        .thread([Op::Advance(BUCKET), failure(2)])
        .after([Op::Snapshot]);

    /// One is counted in the tick that ends, after another has judged the new one.
    no_outcome_is_left_out_when_a_bucket_turns: Reach::both(2) => Scenario::new(ticks(4))
        .before(calls([0], failure))
        .before([Op::Allow(1), Op::Allow(2), Op::Allow(3)])
        .sees("tripped")
        .lenient_with_old_values(NO_SEQ_CST, |outcome| outcome.contains("\n      recorded\n"))
        .thread([failure(1)])
        .thread([Op::Advance(BUCKET), failure(2)])
        .after([failure(3)]);

    /// Two are, and the one that judges last has seen less.
    no_two_outcomes_are_left_out_when_a_bucket_turns: Reach::interleavings(2).shuttle(3) => {
        let tenth = ticks(10).with(|config| config.failure_ratio = Some(0.1));
        Scenario::new(tenth)
            .before(calls([0; 9], success))
            .before([Op::Allow(1), Op::Allow(2), Op::Allow(3), Op::Allow(4)])
            .sees("tripped")
            .lenient("judging after others have counted", |outcome| !outcome.contains("\n      recorded\n"))
            .thread([failure(1)])
            .thread([success(2)])
            .thread([Op::Advance(BUCKET), success(3)])
            .after([failure(4)])
    };

    /// Whoever has the earlier one is late, and must not make it the latest again.
    two_new_buckets_are_judged_as_one_window: Reach::both(2).with_loads(1) => {
        // So long that it does not tell by which reading of the clock it began.
        let open_wait = OpenWait::fixed(Duration::MAX);
        Scenario::new(ticks(2).with(|config| config.open_wait = open_wait))
            .before([Op::Allow(1), Op::Allow(2)])
            .sees("-, tripped || -, recorded")
            .sees("-, recorded || -, tripped")
            .thread([Op::Advance(BUCKET), failure(1)])
            .thread([Op::Advance(BUCKET), failure(2)])
    };

    a_cell_that_comes_round_again_starts_anew: Reach::both(3) => Scenario::new(ticks(4))
        .before(calls([0, 0], failure))
        .before([Op::Advance(BUCKET * 2), Op::Allow(1), Op::Allow(2)])
        .sees("[2f 0t 0~ of 2 at 0ns]")
        .thread([failure(1)])
        .thread([failure(2)])
        .after([Op::Snapshot]);

    it_trips_once: Reach::both(3) => Scenario::new(ticks(2))
        .before([Op::Allow(1), Op::Allow(2)])
        .heard()
        .sees("tripped || recorded")
        .sees("recorded || tripped")
        .thread([failure(1)])
        .thread([failure(2)]);

    /// Whoever is last trips, though neither is enough.
    the_sample_that_reaches_min_calls_may_be_a_success: Reach::both(3) => Scenario::new(half(4))
        .before(calls([0], failure))
        .before(calls([0], success))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("tripped || recorded")
        .sees("recorded || tripped")
        .lenient_with_old_values(NO_SEQ_CST, |outcome| outcome.starts_with("recorded || recorded"))
        .thread([success(1)])
        .thread([failure(2)]);

    /// It is known that so few failures cannot trip; one more can.
    failures_end_the_quiet: Reach::both(3) => Scenario::new(half(2))
        .before(calls([0, 0, 0], success))
        .before([Op::Allow(1), Op::Allow(2), Op::Allow(3)])
        .sees("recorded, tripped || recorded")
        .sees("recorded, recorded || tripped")
        .thread([failure(1), failure(2)])
        .thread([failure(3)]);

    /// A failure that was counted, and is about to trip, may find the breaker closed anew.
    an_outcome_is_not_counted_in_the_next_generation: Reach::both(3) => Scenario::new(ticks(2))
        .before(calls([0], failure))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("closed g1 [1f 0t 0~ of 1 at 0ns]")
        .lenient("a failure of the window that ends", |outcome| {
            outcome.starts_with("recorded || -, permit g1, recorded\n")
                && outcome.contains("closed g1 [1f 0t 0~ of 1 at 0ns] 0 in a row, true, 0")
        })
        .thread([failure(1)])
        .thread([Op::Close, Op::Allow(3), failure(3)])
        .after([Op::Snapshot]);

    a_run_of_failures_is_one_in_some_order: Reach::both(3) => {
        let config = ticks(1).with(|config| {
config.consecutive_failures = Some(2);
config.failure_ratio = None;
});
        Scenario::new(config)
            .before([Op::Allow(1), Op::Allow(2), Op::Allow(3)])
            .sees("recorded || recorded, tripped")
            .sees("recorded || recorded, recorded")
            .thread([success(1)])
            .thread([failure(2), failure(3)])
    };

    /// What was counted by the old buckets is not in the new window, and the other way round.
    another_bucket_length_starts_anew: Reach::both(2) => {
        let other = ticks(4).with(|config| config.window = Window::time(BUCKET * 2, 1));
        Scenario::new(ticks(4))
            .before(calls([0], failure))
            .before([Op::Allow(1)])
            .sees("stale || ")
            .sees("closed g1 [1f 0t 0~ of 1 at 0ns]")
            .thread([failure(1)])
            .thread([Op::Reconfigure(other), Op::Allow(2), failure(2)])
            .after([Op::Snapshot])
    };

    a_lower_limit_ends_the_quiet: Reach::both(2) => {
        let lower = half(2).with(|config| config.failure_ratio = Some(0.25));
        Scenario::new(half(2))
            .before(calls([0, 0, 0], success))
            .before([Op::Allow(1), Op::Allow(2)])
            .sees("recorded || ")
            .thread([failure(1)])
            .thread([Op::Reconfigure(lower)])
            .after([success(2)])
    };

    an_outcome_is_not_judged_by_a_mix_of_two_configs: Reach::both(2).with_loads(1) => {
        let few = |ratio| ticks(1).with(|config| config.failure_ratio = Some(ratio));
        Scenario::new(few(0.9))
            .before(calls([0], success))
            .before([Op::Allow(1)])
            .sees("recorded ||")
            .thread([failure(1)])
            .thread([
                Op::Reconfigure(few(0.8)),
                Op::Reconfigure(few(0.5).with(|config| config.min_calls = Some(9))),
            ])
    };

    a_count_window_becomes_a_time_window: Reach::both(2) => Scenario::new(window(2))
        .before(calls([0], failure))
        .before([Op::Allow(1)])
        .sees("closed g1 [1f 0t 0~ of 1 at 0ns]")
        .thread([failure(1)])
        .thread([Op::Reconfigure(ticks(4)), Op::Allow(2), failure(2)])
        .after([Op::Snapshot]);

    /// Neither the slot that is filled nor the one before may pass its quiet on.
    a_lower_limit_does_not_know_of_the_quiet_before: Reach::both(2).with_loads(1) => {
        let lower = half(4).with(|config| config.failure_ratio = Some(0.25));
        Scenario::new(half(4))
            .before(calls([0, 0, 0], success))
            .before([Op::Allow(1)])
            .sees("tripped || ")
            .thread([failure(1)])
            .thread([Op::Reconfigure(half(4)), Op::Reconfigure(lower)])
    };
}
