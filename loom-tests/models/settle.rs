//! A permit settles once, whoever settles it and however.

use crate::configs::{probes, probing, window};
use crate::cutout::Outcome;
use crate::op::{Op, calls, failure, success};
use crate::reach::Reach;
use crate::scenario::Scenario;

models! {
    /// Two threads, one permit each; the abandoned one counts as a timeout.
    an_outcome_and_an_abandoned_permit_are_recorded_once_each: Reach::FULL => {
        let config = window(3).with(|config| config.abandoned = Outcome::Timeout);
        Scenario::new(config)
            .before(calls([0], success))
            .before([Op::Allow(1), Op::Allow(2)])
            .sees("[s t f]/3")
            .thread([failure(1)])
            .thread([Op::Drop(2)])
    };

    /// The abandoned probe gives no verdict and frees its slot, once.
    an_outcome_and_an_abandoned_probe_free_one_slot_each: Reach::FULL => {
        Scenario::new(probes(2, 2))
            .before(probing([1, 2]))
            .sees("probe g2, probe g2, rejected g2")
            .thread([success(1)])
            .thread([Op::Drop(2)])
            .after([Op::Allow(3), Op::Allow(4), Op::Allow(5)])
    };

    /// Permits granted by one thread and settled by another.
    permits_settle_in_other_threads_than_they_were_granted_in: Reach::FULL => {
        Scenario::new(probes(2, 2))
            .before(probing([1, 2]))
            .sees("recorded || closed")
            .thread([success(2)])
            .thread([success(1)])
            .after(calls([3], success))
    };

    an_abandoned_permit_settles_by_a_policy_that_held: Reach::FULL.shuttle(4) => {
        let ignoring = window(3);
        let failing = ignoring.with(|config| config.abandoned = Outcome::Failure);
        Scenario::new(failing)
            .before([Op::Allow(1), Op::Allow(2)])
            .sees("[f s]/3")
            .sees("[s]/3")
            .thread([Op::Drop(1)])
            .thread([Op::Reconfigure(ignoring), success(2)])
    };
}
