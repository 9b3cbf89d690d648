//! What opened the breaker is told of this outage, and of no other.

use crate::configs::{WAIT, probes, probing, waited, window};
use crate::op::{Op, failure, timeout};
use crate::reach::Reach;
use crate::scenario::Scenario;

models! {
    /// The thread that opens it may write that down when the breaker has been closed and is
    /// open again, by another's outcome.
    a_late_record_is_dropped: Reach::both(2).with_loads(1) => Scenario::new(window(1))
        .before([Op::Allow(1)])
        .explained()
        .sees("tripped || -, permit g2, tripped, FailureRatio 1f 1t 0~ of 1")
        .sees("stale || -, permit g1, tripped, FailureRatio 1f 1t 0~ of 1")
        .thread([failure(1)])
        .thread([Op::Close, Op::Allow(2), timeout(2), Op::Evidence]);

    /// It is written after the move, so a reader may find nothing yet; but nothing of another trip.
    a_reader_sees_this_trip_or_none: Reach::both(2) => Scenario::new(window(1))
        .before([Op::Allow(0), timeout(0), Op::Close, Op::Allow(1)])
        .explained()
        .sees("tripped || FailureRatio 1f 0t 0~ of 1")
        .sees("tripped || none")
        .thread([failure(1)])
        .thread([Op::Evidence, Op::Evidence]);

    /// A breaker that opens again is still explained, all along.
    it_is_told_all_along: Reach::both(3) => Scenario::new(probes(1, 1))
        .before(waited())
        .explained()
        .sees("|| FailureRatio 1f 0t 0~ of 1")
        .thread([Op::Allow(1), failure(1)])
        .thread([Op::Evidence])
        .after([Op::Advance(WAIT), Op::Allow(2), failure(2), Op::Evidence]);

    /// An order in an outage leaves what opened the breaker as it was.
    an_order_is_told_beside_it: Reach::both(2) => Scenario::new(probes(1, 1))
        .before(probing([1]))
        .explained()
        .sees("reopened || -, FailureRatio 1f 0t 0~ of 1 and by force_open")
        .sees("stale || -, FailureRatio 1f 0t 0~ of 1 and by force_open")
        .thread([failure(1)])
        .thread([Op::ForceOpen(None), Op::Evidence]);
}
