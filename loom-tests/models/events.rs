//! Transitions are delivered once each, in order, by someone.

use crate::configs::{WAIT, opened, probes, window};
use crate::op::{Op, failure, success};
use crate::reach::Reach;
use crate::scenario::Scenario;

models! {
    two_transitions_of_two_threads: Reach::both(3) => Scenario::new(window(2))
        .heard()
        .sees("g1 closed > observe-only")
        .thread([Op::Disable])
        .thread([Op::ObserveOnly]);

    three_transitions_of_two_threads: Reach::both(3).with_loads(2) => Scenario::new(window(2))
        .heard()
        .sees("g1 closed > observe-only")
        .thread([Op::Disable, Op::Close])
        .thread([Op::ObserveOnly]);

    three_transitions_of_three_threads: Reach::interleavings(2) => Scenario::new(window(2))
        .heard()
        .sees("g1 closed > closed")
        .thread([Op::Disable])
        .thread([Op::Close])
        .thread([Op::ObserveOnly]);

    a_life_of_a_breaker_against_an_operator: Reach::both(3).with_loads(2) => Scenario::new(probes(1, 1))
        .before(opened())
        .before([Op::Advance(WAIT)])
        .heard()
        .sees("stale ||")
        .sees("g3 half-open > closed ProbesPassed")
        .thread([Op::Allow(1), success(1)])
        .thread([Op::ForceOpen(None)])
        .after([Op::Close, Op::Allow(2), failure(2)]);
}
