//! What others have found: one more way to open, and another end of an open wait.

use std::time::Duration;

use crate::configs::{WAIT, opened, probes, waited, window};
use crate::op::{Op, calls, failure, success};
use crate::reach::Reach;
use crate::scenario::Scenario;

/// A wait that is set, unlike the configured one.
const SET: Duration = WAIT.saturating_mul(3);

models! {
    /// Whoever opens it first, it opens once, by one cause.
    a_takeover_against_a_trip: Reach::both(4).with_loads(2) => Scenario::new(window(2))
        .before(calls([0], failure))
        .before([Op::Allow(1)])
        .heard()
        .sees("tripped || false")
        .sees("stale || true")
        .thread([failure(1)])
        .thread([Op::TakeOver])
        .after([Op::Allow(2), Op::Snapshot]);

    /// What is left of the old window must not be written to the one after the opening.
    a_takeover_leaves_nothing_to_write_behind: Reach::both(2) => Scenario::new(window(2))
        .before(calls([0], failure))
        .before([Op::Allow(1)])
        .sees("stale || true")
        .sees("closed g2 [s f]/2")
        .thread([success(1)])
        .thread([vec![Op::TakeOver, Op::Close], calls([3, 4], success)].concat())
        .after(calls([5], failure));

    one_of_two_takeovers: Reach::both(4) => Scenario::new(window(1))
        .heard()
        .sees("true || false")
        .thread([Op::TakeOver])
        .thread([Op::TakeOver]);

    /// The call that comes as the wait ends gets the probe, or waits for as long as was set.
    a_wait_is_set_as_it_ends: Reach::both(4) => Scenario::new(probes(1, 1))
        .before(waited())
        .heard()
        .sees("true || rejected")
        .sees("false || probe")
        .thread([Op::SetWait(SET)])
        .thread([Op::Allow(1)])
        .after([Op::Advance(WAIT), Op::Allow(2), Op::Snapshot]);

    /// A wait that is ended lets one call probe.
    a_wait_is_ended: Reach::both(4) => Scenario::new(probes(1, 1))
        .before(opened())
        .sees("true || probe")
        .sees("true || rejected")
        .thread([Op::SetWait(Duration::ZERO)])
        .thread([Op::Allow(1)])
        .after([Op::Snapshot]);

    /// Two set it: the later of them holds, whole.
    one_wait_against_another: Reach::both(4) => Scenario::new(probes(1, 1))
        .before(opened())
        .heard()
        .sees("true || true")
        .thread([Op::SetWait(SET)])
        .thread([Op::SetWait(WAIT)])
        .after([Op::Snapshot]);

    /// The operator's state goes back to the wait that held when it began.
    a_wait_is_set_against_an_operator: Reach::both(3) => Scenario::new(probes(1, 1))
        .before(opened())
        .sees("true || -")
        .sees("false || -")
        .thread([Op::SetWait(SET)])
        .thread([Op::Disable])
        .after([Op::Resume, Op::Snapshot]);
}
