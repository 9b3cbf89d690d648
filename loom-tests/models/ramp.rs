//! A ramp begins with the close that it follows, ends once, and takes no outcome with it.

use std::time::Duration;

use crate::configs::{probes, probing, window};
use crate::cutout::{Config, Window};
use crate::op::{Op, failure, success};
use crate::reach::Reach;
use crate::scenario::Scenario;

const RAMP: Duration = Duration::from_secs(10);

fn ramping(config: Config) -> Config {
    config.with(|config| config.ramp = Some(RAMP))
}

/// Closed again, with these calls in flight that were admitted at the end of the ramp, which is over now.
fn over(permits: [usize; 2]) -> Vec<Op> {
    let mut ops = probing([0]);
    ops.extend([success(0), Op::Advance(RAMP - RAMP / 1000)]);
    // The first one makes up what the share lacks.
    ops.push(Op::Allow(90));
    ops.extend(permits.map(Op::Allow));
    ops.push(Op::Advance(RAMP));
    ops
}

models! {
    /// Who sees it closed sees the ramp.
    a_close_comes_with_its_ramp: Reach::both(3) => Scenario::new(ramping(probes(1, 1)))
        .before(probing([1]))
        .sees("closed || rejected g3 closed Ramping")
        .thread([success(1)])
        .thread([Op::Allow(2)])
        .after([Op::Snapshot]);

    /// The operator and the probe both close it, and one ramp follows.
    two_that_close_begin_one_ramp: Reach::both(2) => Scenario::new(ramping(probes(1, 1)))
        .before(probing([1]))
        .sees("ramp 10s")
        .thread([success(1)])
        .thread([Op::Close])
        .after([Op::Allow(2)]);

    /// Both find that it is over.
    two_that_find_it_over_are_admitted: Reach::both(3) => Scenario::new(ramping(probes(1, 1)))
        .before(over([1, 2]))
        .sees("permit g3 || permit g3")
        .thread([Op::Allow(3)])
        .thread([Op::Allow(4)])
        .after([Op::Allow(5), Op::Snapshot]);

    /// The word that loses its ramp is the one that an outcome is recorded in.
    an_outcome_is_not_lost_to_the_end_of_a_ramp: Reach::both(3) => Scenario::new(ramping(window(2)))
        .before([Op::ForceOpen(None), Op::Close, Op::Advance(RAMP - RAMP / 1000), Op::Allow(0), Op::Allow(1), Op::Allow(2), Op::Advance(RAMP)])
        .sees("tripped")
        .thread([Op::Allow(3)])
        .thread([failure(1), failure(2)])
        .after([Op::Snapshot]);

    /// The same by a time window, where counting and judging are two steps.
    a_trip_is_not_lost_to_the_end_of_a_ramp: Reach::both(3) => Scenario::new(
            ramping(window(2)).with(|config| config.window = Window::time(RAMP * 100, 2)),
        )
        .before([Op::ForceOpen(None), Op::Close, Op::Advance(RAMP - RAMP / 1000), Op::Allow(0), Op::Allow(1), Op::Allow(2), Op::Advance(RAMP)])
        .before([failure(1)])
        .sees("|| tripped")
        .thread([Op::Allow(3)])
        .thread([failure(2)])
        .after([Op::Snapshot]);

    /// Reconfigured while it is over, or under way.
    a_reconfiguration_keeps_the_ramp: Reach::both(2) => Scenario::new(ramping(probes(1, 1)))
        .before(over([1, 2]))
        .sees("ramp")
        .thread([Op::Allow(3)])
        .thread([Op::Reconfigure(probes(1, 1).with(|config| config.ramp = Some(RAMP * 10)))])
        .after([Op::Snapshot, Op::Allow(5)]);

    /// An outcome moves the word while the ramp ends, and an operator its generation.
    a_ramp_that_a_config_ends_does_not_come_back: Reach::both(2) => Scenario::new(ramping(window(2)))
        .before([Op::ForceOpen(None), Op::Close, Op::Advance(RAMP - RAMP / 1000), Op::Allow(0), Op::Allow(1)])
        .sees("recorded")
        .thread([Op::Reconfigure(window(2))])
        .thread([failure(1)])
        .after([Op::Reconfigure(ramping(window(2))), Op::Snapshot, Op::Allow(2)]);

    a_ramp_that_a_config_ends_is_not_handed_on: Reach::both(2) => Scenario::new(ramping(window(2)))
        .before([Op::ForceOpen(None), Op::Close])
        .sees("permit")
        .thread([Op::Reconfigure(window(2))])
        .thread([Op::Close])
        .after([Op::Reconfigure(ramping(window(2))), Op::Snapshot, Op::Allow(2)]);
}
