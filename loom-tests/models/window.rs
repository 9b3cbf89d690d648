//! The window is what it would be behind a mutex.

use std::time::Duration;

use crate::configs::window;
use crate::cutout::SlowRule;
use crate::op::{Op, calls, failure, slow_success, success, timeout};
use crate::reach::Reach;
use crate::scenario::Scenario;

models! {
    two_outcomes_enter_an_empty_window_in_some_order: Reach::FULL => Scenario::new(window(3))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("[f t]/3")
        .thread([failure(1)])
        .thread([timeout(2)]);

    two_outcomes_enter_a_full_window_in_some_order: Reach::FULL => Scenario::new(window(3))
        .before(calls([0, 1, 2], failure).into_iter().take(4))
        .before(calls([2], success))
        .before([Op::Allow(3), Op::Allow(4)])
        .sees("[s t s]/3")
        .thread([success(3)])
        .thread([timeout(4)])
        .after(calls([5, 6], success));

    content_and_bad_count_are_kept_across_wrap_around: Reach::both(3) => Scenario::new(window(2))
        .before(calls([0], success))
        .before([Op::Allow(1), Op::Allow(2), Op::Allow(3), Op::Allow(4)])
        .sees("[t s]/2")
        .thread([failure(1), success(2)])
        .thread([timeout(3), success(4)])
        .after(calls([5], success));

    three_outcomes_wrap_around: Reach::both(2) => Scenario::new(window(2))
        .before(calls([0], success))
        .before([Op::Allow(1), Op::Allow(2), Op::Allow(3)])
        .sees("[f s]/2")
        .sees("tripped")
        .thread([failure(1)])
        .thread([timeout(2)])
        .thread([success(3)])
        .after(calls([4], success));

    /// The ring word that a late helper has read looks the same again a lap later.
    a_late_helper_writes_nothing: Reach::both(2) => Scenario::new(window(2))
        .before(calls([0, 0], success))
        .before(calls([0], failure))
        .before([Op::Allow(1), Op::Allow(2), Op::Allow(3), Op::Allow(4)])
        .sees("[s f]/2")
        .thread([success(1)])
        .thread([success(2), success(3), failure(4)])
        .after(calls([5, 6], success));

    /// A lap later the word would look the same, with another window under it.
    a_late_outcome_is_not_taken_for_one_a_lap_earlier: Reach::both(2) => Scenario::new(window(3))
        .before(calls([0], failure))
        .before(calls([0], success))
        .before(calls([0], failure))
        .before([Op::Allow(1), Op::Allow(2), Op::Allow(3), Op::Allow(4)])
        .sees("[f f s]/3")
        .sees("[s s s]/3")
        .thread([success(1)])
        .thread([success(2), failure(3), failure(4)])
        .after(calls([5, 6, 7], success));

    a_healthy_success_against_a_failure: Reach::FULL => Scenario::new(window(2))
        .before(calls([0, 0], success))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("[f s]/2")
        .thread([success(1)])
        .thread([failure(2)]);

    healthy_successes_against_failures: Reach::both(3) => Scenario::new(window(2))
        .before(calls([0, 0], success))
        .before([Op::Allow(1), Op::Allow(2), Op::Allow(3), Op::Allow(4)])
        .sees("recorded, stale || recorded, tripped")
        .thread([success(1), success(2)])
        .thread([failure(3), failure(4)]);

    /// The ratio is that of the outcomes before this one, none counted twice.
    the_ratio_is_judged_on_the_window_as_it_is: Reach::both(3) => {
        let config = window(3).with(|config| config.failure_ratio = Some(0.6));
        Scenario::new(config)
            .before(calls([0], failure))
            .before(calls([0, 0], success))
            .before([Op::Allow(1), Op::Allow(2), Op::Allow(3)])
            .heard()
            .sees("tripped || recorded, stale")
            .thread([failure(1)])
            .thread([failure(2), success(3)])
    };

    a_run_of_failures_is_one_in_the_order_of_the_window: Reach::both(3) => {
        let config = window(3).with(|config| {
config.consecutive_failures = Some(2);
config.failure_ratio = None;
});
        Scenario::new(config)
            .before(calls([0, 0], success))
            .before([Op::Allow(1), Op::Allow(2), Op::Allow(3)])
            .sees("recorded || recorded, tripped")
            .thread([failure(1)])
            .thread([success(2), failure(3)])
    };

    slow_calls_are_in_the_window_as_such: Reach::FULL => {
        let limit = Duration::from_secs(1);
        let config = window(2).with(|config| config.slow = Some(SlowRule { limit, ratio: 1.0 }));
        Scenario::new(config)
            .before([Op::Allow(1), Op::Allow(2)])
            .sees("[s~ s]/2")
            .thread([slow_success(1, limit)])
            .thread([slow_success(2, limit / 2)])
    };
}
