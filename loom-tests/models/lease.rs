//! What belongs to a probe is there before the probe: its lease, and how often
//! the breaker has re-opened.

use std::time::Duration;

use crate::configs::{LEASE, WAIT, opened, probes, probing};
use crate::cutout::{Config, OpenWait};
use crate::op::{Op, failure, ignored, success};
use crate::reach::Reach;
use crate::scenario::Scenario;

/// A call counts as made when it read the clock, and may see a lease that was granted after that.
const EARLIER_READING: &str = "a clock that was read before the probe was granted";

/// Each re-opening waits twice as long.
fn growing(max_probes: u32) -> Config {
    probes(max_probes, 2)
        .with(|config| config.open_wait = OpenWait::exponential(WAIT, 2.0, WAIT * 64))
}

/// Opened, and opened again by so many failed probes.
fn reopened(times: u32) -> Vec<Op> {
    let mut ops = opened();
    for attempt in 0..times {
        let wait = Op::Advance(WAIT * 2u32.pow(attempt));
        ops.extend([wait, Op::Allow(0), failure(0)]);
    }
    ops
}

/// The same, waited once more.
fn reopened_and_waited(times: u32) -> Vec<Op> {
    let wait = Op::Advance(WAIT * 2u32.pow(times));
    [reopened(times), vec![wait]].concat()
}

models! {
    the_first_probe_is_lost_and_reclaimed: Reach::both(4) => Scenario::new(probes(1, 1))
        .before([Op::ForceOpen(Some(Duration::ZERO))])
        .sees("probe g2 || -, probe g3")
        .thread([Op::Allow(1)])
        .thread([Op::Advance(LEASE), Op::Allow(2)])
        .lenient(EARLIER_READING, |outcome| {
            outcome.starts_with("rejected g2 half-open Operator Some(240s)")
        })
        .after([Op::Advance(LEASE), Op::Allow(3)]);

    one_of_two_reclaims: Reach::both(4) => Scenario::new(probes(1, 1))
        .before(probing([1]))
        .before([Op::Advance(LEASE)])
        .heard()
        .sees("half-open LeaseLost")
        .thread([Op::Allow(2)])
        .thread([Op::Allow(3)]);

    one_reclaims_and_the_other_takes_the_second_slot: Reach::both(4) => Scenario::new(probes(2, 1))
        .before(probing([1, 2]))
        .before([Op::Advance(LEASE)])
        .sees("probe g3 || probe g3")
        .thread([Op::Allow(3)])
        .thread([Op::Allow(4)])
        .after([Op::Advance(LEASE), Op::Allow(5)]);

    a_breaker_to_reclaim_is_available: Reach::both(4) => Scenario::new(probes(2, 1))
        .before(probing([1, 2]))
        .before([Op::Advance(LEASE)])
        .sees("probe g3 || true")
        .thread([Op::Allow(3)])
        .thread([Op::IsAvailable]);

    /// A call that comes late to a free slot must not take the lease from a probe that came after it.
    a_reclaimed_probe_keeps_its_lease: Reach::both(3) => Scenario::new(probes(1, 9))
        .before(probing([0]))
        .before([success(0)])
        .sees("probe g3 || probe g2")
        .thread([Op::Allow(1)])
        .thread([Op::Allow(2), Op::Advance(LEASE), Op::Allow(3)])
        .lenient(EARLIER_READING, |outcome| {
            outcome.starts_with("rejected g3 half-open FailureRatio Some(240s)")
        })
        .after([Op::Advance(LEASE), Op::Allow(4)]);

    a_reclaim_against_the_lost_probes_outcome: Reach::both(4) => Scenario::new(probes(2, 9))
        .before(probing([1, 2]))
        .before([Op::Advance(LEASE)])
        .sees("probe g3 || ignored")
        .thread([Op::Allow(3)])
        .thread([ignored(1)])
        .after([Op::Advance(LEASE), Op::Allow(4), Op::Allow(5)]);

    a_late_success_against_the_reclaim: Reach::both(4) => Scenario::new(probes(1, 2))
        .before(probing([1]))
        .before([Op::Advance(LEASE)])
        .heard()
        .sees("recorded || probe g2")
        .sees("recorded || probe g3")
        .thread([success(1)])
        .thread([Op::Allow(2)])
        .after([Op::Allow(3), success(2)]);

    /// It counts, and frees no slot of the generation after it.
    a_late_success_against_a_call: Reach::both(4) => Scenario::new(probes(1, 3))
        .before(probing([1]))
        .before([Op::Advance(LEASE), Op::Allow(2)])
        .sees("recorded || rejected g3 half-open")
        .thread([success(1)])
        .thread([Op::Allow(3)])
        .after([success(2), Op::Allow(4)]);

    two_late_verdicts: Reach::both(4) => Scenario::new(probes(1, 1))
        .before(probing([1]))
        .before([Op::Advance(LEASE), Op::Allow(2), Op::Advance(LEASE), Op::Allow(3)])
        .heard()
        .sees("closed || stale")
        .sees("stale || reopened")
        .thread([success(1)])
        .thread([failure(2)])
        .after([success(3)]);

    /// The lease of a probe that came back late is lost again while it does.
    a_late_success_against_another_reclaim: Reach::both(3) => Scenario::new(probes(1, 2))
        .before(probing([1]))
        .before([Op::Advance(LEASE), Op::Allow(2), Op::Advance(LEASE)])
        .sees("recorded || probe g4, closed")
        .thread([success(1)])
        .thread([Op::Allow(3), success(3)])
        .after([success(2)]);

    the_attempt_outlasts_a_race_for_the_first_probe: Reach::both(4) => Scenario::new(growing(1))
        .before(reopened_and_waited(2))
        .sees("open g7 ProbeFailed attempt 3")
        .thread([Op::Allow(1)])
        .thread([Op::Allow(2)])
        .after([failure(1), failure(2)]);

    the_attempt_outlasts_a_race_to_reclaim: Reach::both(4) => Scenario::new(growing(1))
        .before(reopened_and_waited(2))
        .before([Op::Allow(0), Op::Advance(LEASE)])
        .sees("open g8 ProbeFailed attempt 3")
        .thread([Op::Allow(1)])
        .thread([Op::Allow(2)])
        .after([failure(1), failure(2)]);

    the_attempt_grows_though_a_reclaim_comes_between: Reach::both(4) => Scenario::new(growing(1))
        .before(reopened_and_waited(2))
        .before([Op::Allow(0), Op::Advance(LEASE)])
        .sees("open g7 ProbeFailed attempt 3")
        .sees("open g8 ProbeFailed attempt 3")
        .thread([failure(0)])
        .thread([Op::Allow(1)])
        .after([failure(1)]);

    a_snapshot_has_the_attempt_of_its_state: Reach::both(5) => Scenario::new(growing(1))
        .before(reopened_and_waited(2))
        .sees("half-open g6 ProbeFailed attempt 2")
        .thread([Op::Snapshot])
        .thread([Op::Allow(1), failure(1)]);

    /// It may be asked for at any moment: the lost probes' lease is over, the forced opening too, and
    /// then the first of two slots is taken.
    a_breaker_is_available_all_along: Reach::both(4) => Scenario::new(probes(2, 1))
        .before(probing([1, 2]))
        .before([Op::Advance(LEASE)])
        .sees("true || -, probe g4")
        .thread([Op::IsAvailable])
        .thread([Op::ForceOpen(Some(Duration::ZERO)), Op::Allow(3)]);

    a_breaker_admits_all_along: Reach::both(4).with_loads(3) => Scenario::new(probes(2, 1))
        .before(probing([1, 2]))
        .before([Op::Advance(LEASE)])
        .sees("probe g4 || -, probe g4")
        .thread([Op::Allow(4)])
        .thread([Op::ForceOpen(Some(Duration::ZERO)), Op::Allow(3)]);

    /// A rejection is by a wait that was not over.
    a_rejection_is_by_a_state_that_was: Reach::both(3) => {
        let wait = WAIT - Duration::from_micros(1);
        let config = probes(1, 1).with(|config| config.open_wait = OpenWait::fixed(wait));
        Scenario::new(config)
            .before(opened())
            .before([Op::Advance(wait)])
            .sees("rejected g3 open ProbeFailed Some(59.999999s)")
            .thread([Op::Allow(1)])
            .thread([Op::Allow(2), failure(2)])
    };
}
