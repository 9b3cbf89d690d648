//! Half-open: the quota holds, slots are freed once, one probe decides.

use crate::configs::{LEASE, WAIT, opened, probes, probing, waited};
use crate::op::{Op, failure, ignored, success, timeout};
use crate::reach::Reach;
use crate::scenario::Scenario;

models! {
    one_call_in_two_gets_the_first_probe: Reach::both(4) => Scenario::new(probes(1, 1))
        .before(waited())
        .heard()
        .sees("|| probe g2")
        .thread([Op::Allow(1)])
        .thread([Op::Allow(2)]);

    one_call_in_three_gets_the_first_probe: Reach::both(2).with_loads(1) => Scenario::new(probes(1, 1))
        .before(waited())
        .sees("|| probe g2 ||")
        .thread([Op::Allow(1)])
        .thread([Op::Allow(2)])
        .thread([Op::Allow(3)])
        .after([Op::Allow(4)]);

    two_calls_in_three_get_a_probe: Reach::interleavings(2) => Scenario::new(probes(2, 1))
        .before(waited())
        .sees("probe g2 || probe g2 || rejected")
        .thread([Op::Allow(1)])
        .thread([Op::Allow(2)])
        .thread([Op::Allow(3)])
        .after([Op::Allow(4)]);

    the_last_slot_is_given_once: Reach::FULL => Scenario::new(probes(2, 1))
        .before(probing([1]))
        .sees("|| probe g2")
        .thread([Op::Allow(2)])
        .thread([Op::Allow(3)])
        .after([Op::Allow(4), success(1)]);

    a_freed_slot_is_given_once: Reach::FULL.shuttle(4) => Scenario::new(probes(1, 3))
        .before(probing([1]))
        .sees("recorded, rejected g2 half-open")
        .thread([success(1), Op::Allow(2)])
        .thread([Op::Allow(3)])
        .after([Op::Allow(4)]);

    two_probes_free_their_slots_once_each: Reach::FULL => Scenario::new(probes(2, 5))
        .before(probing([1, 2]))
        .sees("probe g2, probe g2, rejected g2")
        .thread([ignored(1)])
        .thread([success(2)])
        .after([Op::Allow(3), Op::Allow(4), Op::Allow(5)]);

    a_slot_that_is_taken_back_is_given_once: Reach::FULL.shuttle(4) => Scenario::new(probes(1, 1))
        .before(probing([1]))
        .sees("-, probe g2 || rejected")
        .sees("-, rejected g2 half-open FailureRatio Some(120s) || probe g2")
        .thread([Op::Withdraw(1), Op::Allow(2)])
        .thread([Op::Allow(3)])
        .after([Op::Allow(4), Op::Snapshot]);

    a_slot_of_a_generation_that_is_over_is_not_taken_back: Reach::both(4) => Scenario::new(probes(1, 1))
        .before(probing([1]))
        .before([Op::Advance(LEASE)])
        .sees("- || probe g3")
        .thread([Op::Withdraw(1)])
        .thread([Op::Allow(2)])
        .after([Op::Allow(3), Op::Snapshot]);

    the_probes_close_after_exactly_so_many_successes: Reach::both(2) => Scenario::new(probes(3, 3))
        .before(probing([1, 2, 3]))
        .heard()
        .sees("|| closed ||")
        .thread([success(1)])
        .thread([success(2)])
        .thread([success(3)]);

    one_of_two_verdicts_counts: Reach::both(4) => Scenario::new(probes(2, 2))
        .before(probing([1, 2]))
        .heard()
        .sees("stale || reopened")
        .thread([failure(1)])
        .thread([timeout(2)]);

    the_inconclusive_are_counted_together: Reach::FULL => {
        let config = probes(2, 1).with(|config| config.max_inconclusive = 2);
        Scenario::new(config)
            .before(probing([1, 2]))
            .heard()
            .sees("reopened || ignored")
            .thread([ignored(1)])
            .thread([ignored(2)])
            .after([Op::Advance(WAIT), Op::Allow(3)])
    };

    a_call_before_the_wait_is_over_is_rejected_and_after_it_probes: Reach::both(4) => {
        Scenario::new(probes(1, 1))
            .before(opened())
            .sees("rejected g1 open")
            .sees("rejected g2 half-open")
            .thread([Op::Allow(1)])
            .thread([Op::Advance(WAIT), Op::Allow(2)])
    };
}
