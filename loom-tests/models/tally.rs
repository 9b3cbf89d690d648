//! A window that is judged by kinds counts each outcome once, in its kind.

use crate::configs::window;
use crate::cutout::Config;
use crate::op::{Op, calls, failure, success, timeout};
use crate::reach::Reach;
use crate::scenario::Scenario;

/// Opens by as many timeouts as are two thirds of a full window, and never by failures alone but by all.
fn by_kind(size: u32) -> Config {
    window(size).with(|config| config.timeout_ratio = Some(0.6))
}

models! {
    two_kinds_enter_an_empty_window: Reach::FULL => Scenario::new(by_kind(3))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("[t f]/3")
        .sees("tripped")
        .thread([timeout(1)])
        .thread([failure(2)])
        .after(calls([5], timeout));

    two_timeouts_enter_a_full_window: Reach::FULL => Scenario::new(by_kind(4))
        .before(calls([0, 0, 0, 0], success))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("open g1 TimeoutRatio")
        .thread([timeout(1)])
        .thread([timeout(2)])
        .after(calls([5, 6, 7], timeout));

    /// Each enters once, whoever helps; and the one that falls out leaves.
    kinds_are_kept_across_wrap_around: Reach::both(3) => Scenario::new(by_kind(3))
        .before(calls([0], timeout))
        .before(calls([0, 0], success))
        .before([Op::Allow(1), Op::Allow(2), Op::Allow(3), Op::Allow(4)])
        .sees("tripped")
        .thread([failure(1), success(2)])
        .thread([timeout(3), success(4)])
        .after(calls([5, 6], timeout));

    three_outcomes_of_three_threads: Reach::both(2) => Scenario::new(by_kind(3))
        .before(calls([0], timeout))
        .before(calls([0, 0], success))
        .before([Op::Allow(1), Op::Allow(2), Op::Allow(3)])
        .sees("tripped")
        .thread([failure(1)])
        .thread([timeout(2)])
        .thread([success(3)])
        .after(calls([4, 5], timeout));

    /// The helper sleeps, and a lap later the places look as they did.
    a_late_helper_enters_nothing: Reach::both(2) => Scenario::new(by_kind(3))
        .before(calls([0, 0, 0], success))
        .before(calls([0], timeout))
        .before([Op::Allow(1), Op::Allow(2), Op::Allow(3), Op::Allow(4)])
        .sees("tripped")
        .thread([success(1)])
        .thread([success(2), success(3), failure(4)])
        .after(calls([5, 6], timeout));

    /// What an earlier window has left in the ring falls out of no later one.
    the_window_after_starts_from_nothing: Reach::both(2) => Scenario::new(by_kind(3))
        .before(calls([0, 0], success))
        .before(calls([0], timeout))
        .before([Op::Close, Op::Allow(2), Op::Allow(3)])
        .sees("open g2 TimeoutRatio")
        .thread([timeout(2)])
        .thread([failure(3)])
        .after(calls([4], success))
        .after(calls([5, 6], timeout));

    /// Two threads help with the same timeout. Entered twice it would open the breaker at the failure.
    one_timeout_of_two_helpers: Reach::both(3) => Scenario::new(by_kind(3))
        .before(calls([0, 0, 0], success))
        .before(calls([0], failure))
        .before(calls([0], timeout))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("recorded || recorded")
        .thread([success(1)])
        .thread([failure(2)])
        .after(calls([4, 5], timeout));

    /// The tally is as of the start of a lap, and so it was a lap ago.
    a_lap_that_changes_no_count: Reach::both(3) => Scenario::new(by_kind(3))
        .before(calls([0], failure))
        .before(calls([0, 0], success))
        .before(calls([0], failure))
        .before(calls([0], success))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("open g1 TimeoutRatio")
        .thread([timeout(1)])
        .thread([success(2)])
        .after(calls([4, 5], timeout));

    a_timeout_against_an_operator_that_closes: Reach::both(3) => Scenario::new(by_kind(2))
        .before(calls([0], timeout))
        .before([Op::Allow(1)])
        .sees("stale")
        .thread([success(1)])
        .thread([Op::Close])
        .after(calls([4, 5, 6], timeout));

    /// The ratio of timeouts goes and comes again while outcomes enter: what is tallied is of before, and whoever is next counts the ring.
    a_second_rule_counts_what_is_there: Reach::both(2) => Scenario::new(by_kind(3))
        .before(calls([0, 0], success))
        .before(calls([0], failure))
        .before([Op::Reconfigure(window(3))])
        .before(calls([0], timeout))
        .before(calls([0], success))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("open g1 TimeoutRatio")
        .thread([success(1)])
        .thread([Op::Reconfigure(by_kind(3))])
        .after(calls([4, 5], timeout));

    /// The lap moves on with the config; the outcome that is pending has entered once all the same.
    another_limit_counts_nothing_twice: Reach::both(2) => Scenario::new(by_kind(3))
        .before(calls([0], success))
        .before(calls([0], timeout))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("tripped")
        .thread([failure(1), success(2)])
        .thread([Op::Reconfigure(by_kind(3).with(|config| config.failure_ratio = Some(0.9)))])
        .after(calls([4, 5], timeout));
}
