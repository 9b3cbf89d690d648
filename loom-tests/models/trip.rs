//! Transitions out of closed: one winner each, and nothing left behind.

use std::time::Duration;

use crate::configs::{WAIT, window};
use crate::cutout::{OpenWait, Outcome, Report};
use crate::op::{Op, calls, failure, success, timeout};
use crate::reach::Reach;
use crate::scenario::Scenario;

models! {
    one_of_two_failures_trips: Reach::both(4) => Scenario::new(window(1))
        .before([Op::Allow(1), Op::Allow(2)])
        .heard()
        .sees("stale || tripped")
        .thread([failure(1)])
        .thread([timeout(2)]);

    two_failures_trip_together_once: Reach::both(4) => Scenario::new(window(2))
        .before([Op::Allow(1), Op::Allow(2)])
        .heard()
        .sees("recorded || tripped")
        .thread([failure(1)])
        .thread([failure(2)]);

    one_of_three_failures_trips: Reach::interleavings(2) => Scenario::new(window(2))
        .before(calls([0], success))
        .before([Op::Allow(1), Op::Allow(2), Op::Allow(3)])
        .heard()
        .sees("stale || tripped || recorded")
        .thread([failure(1)])
        .thread([failure(2)])
        .thread([failure(3)]);

    a_trip_against_close: Reach::both(4) => Scenario::new(window(2))
        .before(calls([0], failure))
        .before([Op::Allow(1)])
        .heard()
        .sees("stale ||")
        .sees("tripped ||")
        .thread([failure(1)])
        .thread([Op::Close])
        .after([Op::Allow(2), failure(2)]);

    an_operator_action_against_another: Reach::both(4).with_loads(3) => Scenario::new(window(2))
        .before(calls([0], failure))
        .heard()
        .sees("forced open g2")
        .thread([Op::ForceOpen(None)])
        .thread([Op::Disable]);

    /// A helper that is late for the old window must not write to the new one.
    a_trip_leaves_nothing_to_write_behind: Reach::both(2) => Scenario::new(window(2))
        .before(calls([0], failure))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("tripped || stale, -")
        .sees("closed g2 [s f]/2")
        .thread([failure(1)])
        .thread([vec![failure(2), Op::Close], calls([3, 4], success)].concat())
        .after(calls([5], failure));

    an_operator_leaves_nothing_to_write_behind: Reach::both(2) => Scenario::new(window(2))
        .before(calls([0], failure))
        .before([Op::Allow(1)])
        .sees("stale || -")
        .sees("closed g1 [s f]/2")
        .thread([success(1)])
        .thread([vec![Op::Close], calls([3, 4], success)].concat())
        .after(calls([5], failure));

    an_open_breaker_has_a_deadline: Reach::both(5) => Scenario::new(window(1))
        .before([Op::Allow(1)])
        .sees("rejected g1 open FailureRatio Some(60s)")
        .thread([failure(1)])
        .thread([Op::Allow(2), Op::IsAvailable])
        .after([Op::Advance(WAIT), Op::Allow(3)]);

    an_open_breaker_has_the_deadline_that_was_asked_for: Reach::both(4) => Scenario::new(window(1))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("left 180s")
        .thread([Op::Done(1, Report::from(Outcome::Failure).retry_after(WAIT * 2))])
        .thread([Op::Done(2, Report::from(Outcome::Failure).retry_after(WAIT * 3))])
        .after([Op::Advance(WAIT), Op::Allow(3)]);

    /// Whoever sees a breaker open sees the deadline of the thread that opened it, to the microsecond.
    a_deadline_is_there_before_the_state: Reach::both(4) => {
        let wait = WAIT - Duration::from_micros(1);
        let config = window(1).with(|config| config.open_wait = OpenWait::fixed(wait));
        Scenario::new(config)
            .before([Op::Allow(1)])
            .sees("tripped || rejected g1 open FailureRatio Some(59.999999s)")
            .thread([failure(1)])
            .thread([Op::Allow(2), Op::State])
    };

    /// Two threads try to open the same generation, one of them by a later reading of the clock.
    a_deadline_is_that_of_the_thread_that_opened: Reach::both(4).with_loads(3) => Scenario::new(window(1))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("tripped || -, stale\n      half-open")
        .sees("left 60s")
        .thread([failure(1)])
        .thread([Op::Advance(Duration::from_secs(300)), failure(2)]);

    an_observed_breaker_would_trip_once_per_window: Reach::both(4).with_loads(3) => Scenario::new(window(2))
        .before([Op::ObserveOnly])
        .before(calls([0], failure))
        .before([Op::Allow(1), Op::Allow(2)])
        .heard()
        .sees("wouldtrip || stale")
        .thread([failure(1)])
        .thread([failure(2)]);
}
