//! Scores are those of some order, match once, and are as old as their stamps.

use std::time::Duration;

use crate::configs::{WAIT, window};
use crate::cutout::{Config, Cusum, Score, Window};
use crate::op::{Op, calls, failure, success};
use crate::reach::Reach;
use crate::scenario::Scenario;

const SCORE: Score = Score {
    bad: 2,
    good: 1,
    limit: 4,
};

/// Two failures open it.
fn at_once() -> Cusum {
    Cusum::of_failures(SCORE)
        .lasting(Duration::ZERO)
        .max_age(None)
}

fn scores(cusum: Cusum) -> Config {
    window(1).with(|config| {
        config.window = Window::Cusum(cusum);
        (config.min_calls, config.failure_ratio) = (None, None);
    })
}

models! {
    two_failures_both_raise_the_score_and_one_of_them_opens: Reach::FULL => Scenario::new(scores(at_once()))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("tripped")
        .thread([failure(1)])
        .thread([failure(2)]);

    a_success_against_failures: Reach::both(3) => Scenario::new(scores(at_once()))
        .before([Op::Allow(1), Op::Allow(2), Op::Allow(3), Op::Allow(4)])
        .sees("failures 2 for")
        .sees("tripped")
        .thread([failure(1), success(2)])
        .thread([failure(3), success(4)])
        .after([Op::Snapshot]);

    a_healthy_success_against_the_failure_that_leaves_zero: Reach::FULL => Scenario::new(scores(at_once()))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("failures 2 for")
        .sees("failures 1 for")
        .thread([success(1)])
        .thread([failure(2)])
        .after([Op::Snapshot]);

    /// The score is seen above zero only with the moment at which it left it.
    a_score_lasts_from_the_failure_that_left_zero: Reach::both(3) => Scenario::new(scores(at_once().lasting(WAIT)))
        .before([Op::Allow(1), Op::Allow(2), Op::Allow(3)])
        .sees("tripped")
        .thread([failure(1)])
        .thread([failure(2)])
        .after([Op::Snapshot, Op::Advance(WAIT), failure(3)]);

    /// One that leaves zero a second time lasts from then on.
    a_score_that_was_at_zero_meanwhile_has_not_lasted: Reach::both(3) => Scenario::new(scores(at_once().lasting(WAIT)))
        .before(calls([0], failure))
        .before([Op::Advance(WAIT), Op::Allow(1), Op::Allow(2), Op::Allow(3), Op::Allow(4)])
        .sees("tripped")
        .sees("recorded, recorded, recorded || recorded")
        .thread([success(1), success(2), failure(3)])
        .thread([failure(4)])
        .after([Op::Snapshot]);

    /// Both find it too old, and neither loses what the other has raised.
    a_score_that_is_too_old_starts_again_once: Reach::both(3) => Scenario::new(scores(at_once().max_age(Some(WAIT))))
        .before(calls([0], failure))
        .before([Op::Advance(WAIT), Op::Allow(1), Op::Allow(2)])
        .sees("tripped")
        .thread([failure(1)])
        .thread([failure(2)])
        .after([Op::Snapshot]);

    /// Whoever sees it above zero sees since when, and when it was raised.
    a_score_is_seen_with_its_moments: Reach::FULL => Scenario::new(scores(at_once().lasting(WAIT).max_age(Some(WAIT * 2))))
        .before([Op::Allow(1)])
        .sees("failures 2 for")
        .thread([failure(1)])
        .thread([Op::Snapshot]);

    /// A thread that has found it too old does not set it to zero once others have raised it to where it was.
    a_score_that_is_back_where_it_was_is_another: Reach::interleavings(3) => Scenario::new(scores(at_once().lasting(WAIT).max_age(Some(WAIT * 2))))
        .before(calls([0, 1], failure))
        .before([Op::Advance(WAIT * 2), Op::Allow(2), Op::Allow(3), Op::Allow(4)])
        .sees("failures 4 for")
        .thread([failure(2), failure(3)])
        .thread([failure(4)])
        .after([Op::Snapshot]);

    /// The word would look the same, with another config under it.
    a_late_failure_is_judged_by_the_config_that_holds: Reach::both(2) => Scenario::new(scores(at_once()))
        .before(calls([0], failure))
        .before([Op::Allow(1)])
        .sees("tripped")
        .thread([failure(1)])
        .thread([
            Op::Reconfigure(scores(at_once().lasting(WAIT))),
            Op::Reconfigure(scores(at_once())),
        ])
        .after([Op::Snapshot]);
}
