//! A rule on a number of failures: it goes by what the window holds, and matches once.

use crate::configs::{WAIT, window};
use crate::cutout::{Config, Window};
use crate::op::{Op, calls, failure, success};
use crate::reach::Reach;
use crate::scenario::Scenario;

/// Opens at so many failures among the last `size`.
fn among(failures: u32, size: u32) -> Config {
    window(size).with(|config| {
        config.failure_ratio = None;
        config.failures = Some(failures);
    })
}

/// The same, in a time window.
fn within(failures: u32) -> Config {
    among(failures, 3).with(|config| config.window = Window::time(WAIT * 2, 2))
}

models! {
    /// Neither is enough by itself.
    two_failures_at_once_trip_once: Reach::both(3) => Scenario::new(among(2, 5))
        .before([Op::Allow(1), Op::Allow(2)])
        .heard()
        .sees("tripped || recorded")
        .sees("recorded || tripped")
        .thread([failure(1)])
        .thread([failure(2)]);

    /// A success makes room before the second failure comes, or after.
    a_failure_that_leaves_the_window_is_not_counted: Reach::both(3) => Scenario::new(among(2, 2))
        .before(calls([0], failure))
        .before([Op::Allow(1), Op::Allow(2), Op::Allow(3)])
        .sees("recorded, recorded || recorded")
        .sees("|| tripped")
        .thread([success(1), success(2)])
        .thread([failure(3)]);

    two_failures_at_once_in_a_time_window_trip_once: Reach::both(3) => Scenario::new(within(2))
        .before([Op::Allow(1), Op::Allow(2)])
        .heard()
        .sees("tripped || recorded")
        .sees("recorded || tripped")
        .thread([failure(1)])
        .thread([failure(2)]);

    /// It is known that one failure cannot trip; by the new number it can.
    a_lower_number_ends_the_quiet: Reach::both(2).with_loads(1) => Scenario::new(within(3))
        .before(calls([0], failure))
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("recorded || -\n")
        .sees("tripped || -\n")
        .thread([failure(1)])
        .thread([Op::Reconfigure(within(2))])
        .after([failure(2)]);
}
