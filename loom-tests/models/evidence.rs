//! What opened the breaker is told of this outage, and of no other.

use crate::configs::{WAIT, probes, probing, waited, window};
use crate::op::{Op, failure, labelled, timeout};
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

    /// Two that would open it: what is written down is what the one of them saw that has opened it.
    it_is_that_of_the_thread_that_opened: Reach::both(3).with_loads(2) => Scenario::new(window(1))
        .before([Op::Allow(1), Op::Allow(2)])
        .explained()
        .sees("tripped || stale\n      open g1 FailureRatio attempt 0 left 60s []/1, false, 1, FailureRatio 1f 0t 0~ of 1")
        .sees("stale || tripped\n      open g1 FailureRatio attempt 0 left 60s []/1, false, 1, FailureRatio 1f 1t 0~ of 1")
        .thread([failure(1)])
        .thread([timeout(2)]);

    /// The label of an outage that is over comes late, while that of the next one is there.
    a_late_label_is_dropped: Reach::both(2).with_loads(1) => Scenario::new(window(1))
        // The first label makes room for all, which is no part of the search.
        .before([Op::Allow(0), labelled(0, "first"), Op::Close, Op::Allow(1)])
        .explained()
        .sees("open g5 FailureRatio attempt 0 left 60s []/1, false, 0, FailureRatio 1f 0t 0~ of 1 (new)")
        .thread([labelled(1, "old")])
        .thread([Op::Close, Op::Allow(2), labelled(2, "new")]);

    /// A label of an outage that is over is not told of the next one, which has none.
    a_label_is_of_this_outage: Reach::both(2).with_loads(1) => Scenario::new(window(1))
        .before([Op::Allow(0), labelled(0, "old"), Op::Close, Op::Allow(1)])
        .explained()
        .sees("tripped || FailureRatio 1f 0t 0~ of 1")
        .sees("tripped || none")
        .thread([failure(1)])
        .thread([Op::Evidence]);

    /// The thread whose order is over may write it down when another order holds.
    a_late_order_is_dropped: Reach::both(2).with_loads(1) => Scenario::new(window(1))
        .before([Op::ForceOpen(None)])
        .explained()
        .sees("forced open g3 Operator attempt 0 []/1, false, 0, by force_open")
        .sees("disabled g3 []/1, true, 0, by disable")
        .thread([Op::ForceOpen(None)])
        .thread([Op::Disable]);

    /// A breaker that opens again is still explained, all along.
    it_is_told_all_along: Reach::both(3) => Scenario::new(probes(1, 1))
        .before(waited())
        .explained()
        .sees("|| FailureRatio 1f 0t 0~ of 1")
        .thread([Op::Allow(1), failure(1)])
        .thread([Op::Evidence])
        .after([Op::Advance(WAIT), Op::Allow(2), failure(2), Op::Evidence]);

    /// The generations that a reader looks back to may be two further on by then.
    it_is_told_while_generations_pass: Reach::both(2).with_loads(1) => Scenario::new(probes(1, 1))
        .before(probing([1]))
        .explained()
        .sees("|| FailureRatio 1f 0t 0~ of 1")
        .thread([failure(1), Op::Advance(WAIT), Op::Allow(2)])
        .thread([Op::Evidence]);

    /// An order in an outage leaves what opened the breaker as it was.
    an_order_is_told_beside_it: Reach::both(2) => Scenario::new(probes(1, 1))
        .before(probing([1]))
        .explained()
        .sees("reopened || -, FailureRatio 1f 0t 0~ of 1 and by force_open")
        .sees("stale || -, FailureRatio 1f 0t 0~ of 1 and by force_open")
        .thread([failure(1)])
        .thread([Op::ForceOpen(None), Op::Evidence]);
}
