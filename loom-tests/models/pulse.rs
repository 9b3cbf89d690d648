//! A pause of the process is taken off once, whoever finds it, and who sees it knows when it was.

use std::time::Duration;

use crate::configs::window;
use crate::cutout::{Config, SlowRule};
use crate::op::{Op, failure, success, timeout};
use crate::reach::Reach;
use crate::scenario::Scenario;

/// A tick of the readings: a sixteenth of the limit.
const TICK: Duration = Duration::from_secs(1);
const LIMIT: Duration = TICK.saturating_mul(16);
const PAUSE: Duration = LIMIT.saturating_mul(10);

/// Calls are timed, and nothing opens it.
fn timed() -> Config {
    window(3).with(|config| {
        config.min_calls = Some(3);
        config.slow = Some(SlowRule {
            limit: LIMIT,
            ratio: 1.0,
        });
    })
}

/// Readings so steady that a gap is out of the blue.
fn steady() -> Vec<Op> {
    [Op::Advance(TICK), Op::Heartbeat].repeat(33)
}

models! {
    /// One finds it, and the other loses the race to tell.
    two_that_find_a_pause_take_it_off_once: Reach::both(3) => Scenario::new(timed())
        .before(steady())
        .before([Op::Allow(1), Op::Allow(2), Op::Advance(PAUSE)])
        .sees("[s f]/3")
        .sees("[f s]/3")
        .thread([success(1)])
        .thread([failure(2)])
        .after([Op::Snapshot]);

    /// What the reading of another thread has found excuses a timeout here.
    a_pause_seen_by_one_excuses_a_timeout_of_another: Reach::both(3) => Scenario::new(timed())
        .before(steady())
        .before([Op::Allow(1), Op::Advance(PAUSE)])
        .sees("- || ignored")
        .thread([Op::Heartbeat])
        .thread([timeout(1)])
        .after([Op::Snapshot]);

    /// Before it, a timeout is one.
    a_timeout_that_comes_before_or_after_a_pause: Reach::both(2) => Scenario::new(timed())
        .before(steady())
        .before([Op::Allow(1)])
        .sees("-, - || recorded")
        .sees("-, - || ignored")
        .thread([Op::Advance(PAUSE), Op::Heartbeat])
        .thread([timeout(1)])
        .after([Op::Snapshot]);

    /// A call that starts at the thaw is not excused by the pause before it.
    a_call_of_after_the_pause_is_not_excused: Reach::both(2) => Scenario::new(timed())
        .before(steady())
        .before([Op::Advance(PAUSE)])
        .sees("- || permit g0, recorded")
        .thread([Op::Heartbeat])
        .thread([Op::Allow(1), timeout(1)])
        .after([Op::Snapshot]);
}
