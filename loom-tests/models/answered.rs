//! An answer that says no is a sign of life: it does what a success does.

use crate::configs::{probes, probing, window};
use crate::cutout::Outcome;
use crate::op::{Op, calls, failure, success};
use crate::reach::Reach;
use crate::scenario::Scenario;

fn answered(permit: usize) -> Op {
    Op::Done(permit, Outcome::Answered.into())
}

models! {
    /// Nothing is written for it while the window is clean; a failure ends that.
    in_a_clean_window: Reach::both(3) => Scenario::new(window(2))
        .before(calls([0, 0], success))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("[f s]/2")
        .sees("[s f]/2")
        .thread([answered(1)])
        .thread([failure(2)])
        .after([Op::Snapshot]);

    /// It is one of the two that close.
    a_probe_passes: Reach::both(3) => Scenario::new(probes(2, 2))
        .before(probing([1, 2]))
        .heard()
        .sees("closed || recorded")
        .sees("recorded || closed")
        .thread([answered(1)])
        .thread([success(2)]);

    /// The other probe has the last word, if it comes in time.
    a_probe_that_is_answered_and_one_that_fails: Reach::both(3) => Scenario::new(probes(2, 2))
        .before(probing([1, 2]))
        .heard()
        .sees("recorded || reopened")
        .sees("stale || reopened")
        .thread([answered(1)])
        .thread([failure(2)]);

    a_run_of_failures_ends: Reach::both(3) => {
        let run = window(3).with(|config| {
            config.failure_ratio = None;
            config.consecutive_failures = Some(2);
        });
        Scenario::new(run)
            .before([Op::Allow(1), Op::Allow(2), Op::Allow(3)])
            .sees("recorded || recorded, tripped")
            .sees("recorded || recorded, recorded")
            .thread([answered(1)])
            .thread([failure(2), failure(3)])
    };
}
