//! Back to what an operator has interrupted: what that was is there before the operator's state.

use std::time::Duration;

use crate::configs::{WAIT, opened, probes, probing};
use crate::op::{Op, failure, success};
use crate::reach::Reach;
use crate::scenario::Scenario;

models! {
    resume_against_the_action_that_it_ends: Reach::both(4) => Scenario::new(probes(1, 1))
        .before(opened())
        .before([Op::Advance(Duration::from_secs(10))])
        .sees("true, open g3 FailureRatio attempt 0 left 50s")
        .sees("|| false")
        .thread([Op::Disable])
        .thread([Op::Resume, Op::Snapshot]);

    one_of_two_resumes: Reach::both(4) => Scenario::new(probes(1, 1))
        .before(opened())
        .before([Op::Disable])
        .heard()
        .sees("true || false")
        .thread([Op::Resume])
        .thread([Op::Resume]);

    /// Each action hands on what the first has interrupted.
    resume_against_another_action: Reach::both(4) => Scenario::new(probes(1, 1))
        .before(opened())
        .before([Op::Disable])
        .sees("open g4 FailureRatio attempt 0 left 60s")
        .sees("forced open g4")
        .thread([Op::Resume])
        .thread([Op::ForceOpen(None)])
        .after([Op::Resume]);

    /// What is interrupted is the state that the action ends.
    an_action_against_a_verdict: Reach::both(4) => Scenario::new(probes(1, 1))
        .before(probing([1]))
        .sees("true, open g5 ProbeFailed attempt 1")
        .sees("true, half-open g4 FailureRatio attempt 0")
        .thread([failure(1)])
        .thread([Op::Disable])
        .after([Op::Resume, Op::Snapshot]);

    /// The forced opening may be over, and admit a probe, just when it is resumed.
    resume_against_the_end_of_a_forced_opening: Reach::both(3) => Scenario::new(probes(1, 1))
        .before(probing([1]))
        .before([Op::ForceOpen(Some(WAIT)), Op::Advance(WAIT)])
        .sees("true || probe")
        .sees("false || probe")
        .thread([Op::Resume])
        .thread([Op::Allow(2)])
        .after([success(2)]);
}
