//! A call is counted once: while it hangs, or when it returns.

use crate::configs::{WAIT, window};
use crate::cutout::{Config, Overdue, SlowRule, Window};
use crate::op::{Op, calls, failure, success};
use crate::reach::Reach;
use crate::scenario::Scenario;

/// Follows calls; one is overdue after as long as the wait.
fn followed(size: u32) -> Config {
    window(size).with(|config| config.overdue = Some(Overdue::Timeout(WAIT)))
}

/// Later than any call that started before can still be in time.
const LATER: Op = Op::Advance(WAIT.saturating_mul(2));

const LATER_THAN_ANOTHER: &str =
    "an outcome that comes before the calls that another is about to count";

models! {
    a_call_that_returns_late_is_counted_once: Reach::both(3) => Scenario::new(followed(3))
        .before([Op::Allow(1), LATER])
        .sees("overdue")
        .thread([failure(1)])
        .thread([Op::Allow(2)])
        .after([Op::Snapshot]);

    /// The clock moves on while the call returns.
    a_call_that_is_about_to_be_overdue_is_counted_once: Reach::both(3) => Scenario::new(followed(3))
        .before([Op::Allow(1)])
        .sees("overdue")
        .sees("recorded")
        .thread([failure(1)])
        .thread([LATER, Op::Allow(2)])
        .after([Op::Snapshot]);

    two_that_come_along_count_a_call_once: Reach::both(3) => Scenario::new(followed(3))
        .before([Op::Allow(1), LATER])
        .sees("[t]/3")
        .thread([Op::Allow(2)])
        .thread([Op::Allow(3)])
        .after([Op::Snapshot]);

    /// A call that starts while time goes on may be of either epoch, and is looked for in that.
    a_call_that_starts_as_the_epoch_ends_is_followed: Reach::both(2) => Scenario::new(followed(3))
        .sees("[t s]/3")
        .thread([Op::Allow(1)])
        .thread([Op::Advance(WAIT), Op::Allow(2)])
        .after([Op::Advance(WAIT / 2), success(2), LATER, Op::Allow(3), Op::Snapshot]);

    /// It starts in an epoch that is over by then, after others have looked for calls in it.
    a_call_that_starts_as_others_are_counted_is_followed: Reach::both(2) => Scenario::new(followed(3))
        .sees("overdue, closed g0 [t]/3")
        .sees("recorded, closed g0 [f]/3")
        .thread([Op::Allow(1)])
        .thread([LATER, Op::Allow(2)])
        .after([Op::Advance(WAIT / 2), Op::Allow(3), failure(1), Op::Snapshot]);

    /// The calls of its epoch are taken before it starts.
    a_call_does_not_start_in_an_epoch_that_is_taken: Reach::both(2) => Scenario::new(followed(3))
        .before([Op::Allow(0)])
        .sees("overdue, closed g0 [t t]/3")
        .sees("recorded, closed g0 [t f]/3")
        .thread([Op::Allow(1)])
        .thread([LATER, Op::Allow(2)])
        .after([failure(1), Op::Snapshot]);

    /// Each leaves its epoch once, however often it has to record its outcome.
    two_calls_that_return_are_both_counted: Reach::both(3) => Scenario::new(followed(3))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("recorded || recorded")
        .thread([failure(1)])
        .thread([failure(2)])
        .after([Op::Snapshot]);

    overdue_calls_are_counted_though_others_come_between: Reach::both(2) => Scenario::new(followed(3))
        .before([Op::Allow(0), Op::Advance(WAIT / 2), Op::Allow(1), Op::Advance(WAIT / 8 * 5)])
        .sees("[t f]/3")
        .lenient(LATER_THAN_ANOTHER, |outcome| outcome.contains("closed g0 [f t]/3"))
        .thread([failure(1)])
        .thread([Op::Allow(2)])
        .after([Op::Snapshot]);

    calls_that_hang_open_the_breaker: Reach::both(2) => Scenario::new(followed(2))
        .before([Op::Allow(1), Op::Allow(2), LATER])
        .sees("rejected g1 open FailureRatio")
        .lenient("whoever comes before the calls that another takes are counted", |outcome| {
            outcome.contains("permit g0") && outcome.contains("rejected g1 open FailureRatio")
        })
        .thread([Op::Allow(3)])
        .thread([Op::Allow(4)]);

    a_time_window_counts_it_once_too: Reach::both(2) => {
        let config = followed(3).with(|config| config.window = Window::time(WAIT * 8, 2));
        Scenario::new(config)
            .before([Op::Allow(1), LATER])
            .sees("overdue")
            .thread([failure(1)])
            .thread([Op::Allow(2)])
            .after([Op::Snapshot])
    };

    a_hung_call_is_not_counted_in_the_next_generation: Reach::both(2) => Scenario::new(followed(3))
        .before([Op::Allow(1), LATER])
        .sees("closed g1 []/3")
        .thread([Op::Close])
        .thread([Op::Allow(2)])
        .after([Op::Allow(3), Op::Snapshot]);

    another_limit_lets_calls_in_flight_be: Reach::both(2) => {
        let longer = followed(3).with(|config| config.overdue = Some(Overdue::Timeout(WAIT * 4)));
        Scenario::new(followed(3))
            .before(calls([0], success))
            .before([Op::Allow(1), Op::Advance(WAIT / 2)])
            .sees("[s f]/3")
            .thread([failure(1)])
            .thread([Op::Reconfigure(longer)])
            .after([Op::Allow(2), Op::Snapshot])
    };

    /// It starts under the old limit, while the new one is being put in force.
    a_call_that_starts_while_the_limit_changes_is_counted_once: Reach::both(3) => {
        let longer = followed(3).with(|config| config.overdue = Some(Overdue::Timeout(WAIT * 4)));
        Scenario::new(followed(3))
            .sees("recorded, closed g0 [f]/3")
            .thread([Op::Advance(WAIT), Op::Allow(1)])
            .thread([Op::Reconfigure(longer)])
            .after([failure(1), Op::Snapshot])
    };

    /// Its epoch is of the old limit, and given up by whoever comes along after the change.
    a_call_that_returns_while_the_limit_changes_is_counted_once: Reach::both(2) => {
        let longer = followed(3).with(|config| config.overdue = Some(Overdue::Timeout(WAIT * 4)));
        Scenario::new(followed(3))
            .before([Op::Allow(1), Op::Advance(WAIT / 2)])
            .sees("recorded ||")
            .thread([failure(1)])
            .thread([Op::Reconfigure(longer), Op::Allow(2)])
            .after([Op::Snapshot])
    };

    /// It looks at the clock only after the others are followed.
    a_call_from_before_calls_are_followed_is_counted_when_it_returns: Reach::both(3) => {
        let slow = Some(SlowRule { limit: WAIT * 8, ratio: 1.0 });
        Scenario::new(window(3).with(|config| config.slow = slow))
            .sees("recorded, closed g0 [f]/3")
            .thread([Op::Allow(1)])
            .thread([Op::Reconfigure(followed(3).with(|config| config.slow = slow)), Op::Advance(WAIT / 2)])
            .after([failure(1), Op::Snapshot])
    };

    /// Both start in an epoch that nobody has seen, one of them in the later of two.
    calls_that_start_in_two_new_epochs_are_both_followed: Reach::both(2) => Scenario::new(followed(3))
        .sees("recorded, recorded, closed g0 [f f]/3")
        .thread([Op::Advance(WAIT / 8), Op::Allow(1)])
        .thread([Op::Advance(WAIT / 8), Op::Allow(2)])
        .after([failure(1), failure(2), Op::Snapshot]);

    /// The limit that a call has begun to read may be replaced twice.
    a_call_is_not_followed_by_a_mix_of_two_limits: Reach::both(2) => {
        let other = |limit| followed(3).with(|config| config.overdue = Some(Overdue::Timeout(limit)));
        Scenario::new(followed(3))
            .before([Op::Advance(WAIT * 100)])
            .sees("[t]/3")
            .thread([Op::Allow(1)])
            .thread([Op::Reconfigure(other(WAIT * 2)), Op::Reconfigure(other(WAIT * 64))])
            .after([Op::Advance(WAIT), Op::Allow(2), Op::Advance(WAIT * 128), Op::Allow(3), Op::Snapshot])
    };

    /// What it reads of the config may be about to be replaced again.
    a_call_is_followed_as_long_as_the_config_says_so: Reach::interleavings(2) => {
        let alike = followed(3).with(|config| config.max_probes = 2);
        Scenario::new(followed(3))
            .before([Op::Allow(1), LATER])
            .sees("overdue ||")
            .sees("recorded ||")
            .lenient(LATER_THAN_ANOTHER, |outcome| outcome.contains("closed g0 [f t]/3"))
            .thread([failure(1)])
            .thread([Op::Reconfigure(alike), Op::Reconfigure(window(3))])
            .thread([Op::Allow(2)])
            .after([Op::Snapshot])
    };

    /// Nor does it leave another's epoch by a mix of two limits.
    a_call_leaves_its_own_epoch: Reach::interleavings(2) => {
        let alike = followed(3).with(|config| config.max_probes = 2);
        let other = followed(3).with(|config| config.overdue = Some(Overdue::Timeout(WAIT * 64)));
        Scenario::new(followed(3))
            .before([Op::Allow(0), Op::Advance(WAIT / 2), Op::Allow(1)])
            .sees("recorded || -, - || recorded")
            .thread([failure(1)])
            .thread([Op::Reconfigure(alike), Op::Reconfigure(other)])
            .thread([failure(0)])
            .after([Op::Snapshot])
    };

    /// It may then find the epochs of the last limit, in which it is not followed.
    a_call_of_a_limit_replaced_twice_is_counted_once: Reach::both(2).with_loads(1) => {
        let other = |limit| followed(4).with(|config| config.overdue = Some(Overdue::Timeout(limit)));
        Scenario::new(followed(4))
            .sees("recorded, closed g0 [t f]/4")
            .sees("overdue, closed g0 [t t]/4")
            .thread([Op::Allow(1)])
            .thread([Op::Reconfigure(other(WAIT * 2)), Op::Reconfigure(other(WAIT)), Op::Allow(2)])
            .after([LATER, Op::Allow(3), failure(1), Op::Snapshot])
    };

    /// Nobody looks for it there any more: its cell is another epoch's before it returns.
    a_call_that_starts_in_an_epoch_long_over_is_counted_once: Reach::both(2) => Scenario::new(followed(4))
        .before([Op::Allow(2), Op::Allow(3), Op::Advance(WAIT / 8), success(3)])
        .sees("[s t f]/4")
        .sees("[s t t]/4")
        .thread([Op::Allow(1)])
        .thread([Op::Advance(WAIT / 8 * 15), success(2)])
        .after([Op::Allow(4), failure(1), Op::Snapshot]);

    /// Its epoch was looked over while it started. The cell may be another's before it starts in it, or after.
    a_call_that_is_late_to_start_and_the_next_in_its_cell_are_both_followed: Reach::both(2) => Scenario::new(followed(3))
        .sees("recorded, recorded, closed g0 [f f]/3")
        .thread([Op::Allow(1)])
        .thread([Op::Advance(WAIT / 8 * 15), Op::Allow(2)])
        .after([failure(1), failure(2), Op::Snapshot]);
}
