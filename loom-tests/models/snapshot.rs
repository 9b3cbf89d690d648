//! A snapshot is a state that existed.

use crate::configs::{WAIT, probes, probing, window};
use crate::op::{Op, calls, failure, success, timeout};
use crate::reach::Reach;
use crate::scenario::Scenario;

models! {
    against_an_outcome: Reach::FULL => Scenario::new(window(2))
        .before(calls([0], success))
        .before([Op::Allow(1)])
        .sees("closed g0 [s f]/2 ||")
        .thread([Op::Snapshot])
        .thread([failure(1)]);

    /// The newest outcome is not in the ring yet when the snapshot begins.
    against_an_outcome_after_a_failure: Reach::FULL => Scenario::new(window(3))
        .before(calls([0], success))
        .before(calls([0], failure))
        .before([Op::Allow(1)])
        .sees("closed g0 [s f s]/3 ||")
        .thread([Op::Snapshot])
        .thread([success(1)]);

    against_outcomes_that_wrap_around: Reach::both(3) => Scenario::new(window(2))
        .before(calls([0, 0], success))
        .before([Op::Allow(1), Op::Allow(2), Op::Allow(3)])
        .sees("closed g0 [f s]/2 ||")
        .thread([Op::Snapshot])
        .thread([failure(1), success(2), timeout(3)]);

    against_two_threads_outcomes: Reach::both(2) => Scenario::new(window(2))
        .before(calls([0, 0], success))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("closed g0 [s t]/2 ||")
        .thread([Op::Snapshot])
        .thread([failure(1)])
        .thread([timeout(2)]);

    against_a_trip_and_a_close: Reach::both(5) => Scenario::new(window(2))
        .before(calls([0], failure))
        .before([Op::Allow(1)])
        .sees("open g1")
        .sees("closed g2 []/2, closed ||")
        .thread([Op::Snapshot, Op::State])
        .thread([failure(1), Op::Close]);

    against_a_new_window_shape: Reach::both(3) => Scenario::new(window(2))
        .before(calls([0], success))
        .before([Op::Allow(1)])
        .sees("[s f]/2 ||")
        .sees("[]/3 ||")
        .thread([Op::Snapshot])
        .thread([failure(1), Op::Reconfigure(window(3))]);

    against_probes: Reach::both(3) => Scenario::new(probes(1, 2))
        .before(probing([1]))
        .sees("out 0 passed 1")
        .sees("open g3 ProbeFailed attempt 1")
        .thread([Op::Snapshot, Op::IsAvailable])
        .thread([success(1), Op::Allow(2), failure(2)])
        .after([Op::Advance(WAIT), Op::Allow(3)]);
}
