//! An outcome of another generation changes nothing, and is counted as stale.

use crate::configs::{LEASE, SPENT, WAIT, probes, probing, window};
use crate::op::{Op, calls, failure, success};
use crate::reach::Reach;
use crate::scenario::Scenario;

/// An outcome in flight while an operator acts, in closed and in half-open.
fn operated(action: Op) -> [Scenario; 2] {
    [
        Scenario::new(window(2))
            .before(calls([0], success))
            .before([Op::Allow(1)]),
        Scenario::new(probes(1, 1)).before(probing([1])),
    ]
    .map(|scenario| {
        scenario
            .sees("stale ||")
            .thread([failure(1)])
            .thread([action])
            .after([Op::Allow(2), failure(2)])
    })
}

models! {
    after_a_trip: Reach::FULL => Scenario::new(window(1))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("stale || tripped")
        .thread([success(1)])
        .thread([failure(2)])
        .after([Op::Allow(3)]);

    /// The late failure must not re-open, nor enter the new window.
    after_a_probe_has_closed: Reach::both(4) => Scenario::new(probes(2, 1))
        .before(probing([1, 2]))
        .sees("stale || closed")
        .thread([failure(1)])
        .thread([success(2)])
        .after([Op::Allow(3), success(3)]);

    after_a_probe_has_opened_again: Reach::both(4) => Scenario::new(probes(2, 1))
        .before(probing([1, 2]))
        .sees("stale || reopened")
        .thread([success(1)])
        .thread([failure(2)])
        .after([Op::Allow(3)]);

    /// A late failure and the reclaiming probe's success: one of them decides.
    after_a_reclaim_and_its_verdict: Reach::both(4).with_loads(3) => Scenario::new(probes(1, 1))
        .before(probing([1]))
        .before([Op::Advance(LEASE)])
        .sees("stale || probe g3, closed")
        .sees("reopened || probe g3, stale")
        .thread([failure(1)])
        .thread([Op::Allow(2), success(2)])
        .after([Op::Allow(3)]);

    /// The half-open period of the lost probe is over when the next one begins.
    after_another_half_open_period_has_begun: Reach::both(3) => Scenario::new(probes(1, 1))
        .before(probing([1]))
        .before([Op::Advance(LEASE), Op::Allow(2)])
        .sees("stale || reopened, -, probe g5")
        .sees("closed || stale")
        .thread([success(1)])
        .thread([failure(2), Op::Advance(WAIT), Op::Allow(3)])
        .after([success(3)]);

    after_force_open_in_closed: Reach::FULL => operated(Op::ForceOpen(None))[0].clone();
    after_force_open_in_half_open: Reach::both(4) => operated(Op::ForceOpen(None))[1].clone();
    after_close_in_closed: Reach::FULL => operated(Op::Close)[0].clone();
    after_close_in_half_open: Reach::both(4) => operated(Op::Close)[1].clone();
    after_disable_in_closed: Reach::FULL => operated(Op::Disable)[0].clone();
    after_disable_in_half_open: Reach::both(4) => operated(Op::Disable)[1].clone();
    after_observe_only_in_closed: Reach::FULL => operated(Op::ObserveOnly)[0].clone();
    after_observe_only_in_half_open: Reach::both(4) => operated(Op::ObserveOnly)[1].clone();

    /// The window of the new generation is full of successes: the shortcut must
    /// not take the old permit for one of its own.
    after_a_close_that_is_healthy_again: Reach::both(3) => Scenario::new(window(1))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("stale || -, permit g1, recorded")
        .thread([success(1)])
        .thread([vec![Op::Close], calls([SPENT], success)].concat())
        .after([success(2)]);
}
