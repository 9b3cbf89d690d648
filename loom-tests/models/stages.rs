//! Recovery by stages: a stage is decided once, by its own quota and its own outcomes.

use crate::configs::{LEASE, probing, stages};
use crate::op::{Op, failure, ignored, success};
use crate::reach::Reach;
use crate::scenario::Scenario;

fn allow(permits: std::ops::RangeInclusive<usize>) -> Vec<Op> {
    permits.map(Op::Allow).collect()
}

models! {
    /// Both are needed. The next stage has four slots, whoever began it.
    two_outcomes_pass_a_stage_once: Reach::both(3) => Scenario::new(stages(2, 4, 0.5))
        .before(probing([1, 2]))
        .heard()
        .sees("out 0 passed 0 inconclusive 0 stage 2")
        .thread([success(1)])
        .thread([success(2)])
        .after(allow(3..=7));

    /// One is tolerated, whichever comes first; the second opens.
    two_failures_open_a_stage_once: Reach::both(3) => Scenario::new(stages(4, 4, 0.5))
        .before(probing([1, 2]))
        .heard()
        .sees("recorded || reopened")
        .sees("reopened || recorded")
        .thread([failure(1)])
        .thread([failure(2)]);

    the_last_slot_of_a_stage_is_given_once: Reach::FULL => Scenario::new(stages(2, 4, 0.5))
        .before(probing([1]))
        .before([success(1)])
        .sees("probe g2 || rejected")
        .thread([Op::Allow(2)])
        .thread([Op::Allow(3)])
        .after([Op::Allow(4), success(2), success(3)]);

    /// An outcome takes up its slot until the stage is over, and an ignored one gives it back.
    a_slot_that_is_judged_is_not_given_again: Reach::both(3) => Scenario::new(stages(2, 4, 1.0))
        .before(probing([1, 2]))
        .sees("recorded || rejected g2 half-open")
        .thread([failure(1)])
        .thread([Op::Allow(3)])
        .after([ignored(2), Op::Allow(4), Op::Allow(5)]);

    /// The failure counts in the stage that it finds.
    a_failure_against_the_end_of_its_stage: Reach::both(3) => Scenario::new(stages(4, 8, 0.5))
        .before(probing([1, 2, 3, 4]))
        .before([success(1), success(2)])
        .heard()
        .sees("stage 2 failed 0")
        .sees("stage 2 failed 1")
        .thread([success(3)])
        .thread([failure(4)])
        .after([Op::Allow(5)]);

    a_lost_probe_against_the_end_of_a_stage: Reach::both(3) => Scenario::new(stages(1, 2, 0.5))
        .before(probing([1]))
        .before([Op::Advance(LEASE), Op::Allow(2)])
        .sees("passed 1 inconclusive 0 stage 2")
        .thread([success(1)])
        .thread([success(2)])
        .after([Op::Allow(3), Op::Allow(4), success(3)]);

    /// It has 2 slots or 8.
    a_call_against_another_config: Reach::both(3) => Scenario::new(stages(2, 4, 0.5))
        .before(probing([1, 2]))
        .sees("rejected g2 half-open")
        .sees("probe g2 || -")
        .thread([Op::Allow(3)])
        .thread([Op::Reconfigure(stages(8, 8, 0.5))])
        .after([Op::Allow(4), failure(1), failure(2)]);

    /// It opens a stage of 2, and is tolerated in one of 8.
    a_failure_against_another_config: Reach::both(3) => Scenario::new(stages(2, 4, 0.5))
        .before(probing([1]))
        .sees("reopened || -")
        .sees("recorded || -")
        .thread([failure(1)])
        .thread([Op::Reconfigure(stages(8, 8, 0.5))])
        .after([Op::Allow(2)]);

    a_snapshot_has_the_counts_of_its_stage: Reach::both(4) => Scenario::new(stages(2, 4, 0.5))
        .before(probing([1, 2, 0]))
        .before([success(1)])
        .sees("out 1 passed 1 inconclusive 0 stage 1 failed 0")
        .sees("out 0 passed 0 inconclusive 0 stage 2 failed 0")
        .sees("out 1 passed 0 inconclusive 0 stage 2 failed 0")
        .thread([Op::Snapshot])
        .thread([success(2), Op::Allow(3), Op::Advance(LEASE)]);
}
