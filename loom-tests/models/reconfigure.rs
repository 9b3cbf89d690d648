//! A live breaker's config: each decision is by one config, and by one that was in force.

use std::time::Duration;

use crate::configs::{LEASE, probes, probing, window};
use crate::cutout::{Config, OpenWait, Outcome, SlowRule, Window};
use crate::op::{Op, calls, failure, slow_success, success};
use crate::reach::Reach;
use crate::scenario::Scenario;

const SECOND: Duration = Duration::from_secs(1);

fn slow(limit: Duration) -> Config {
    let slow = Some(SlowRule { limit, ratio: 1.0 });
    window(2).with(|config| config.slow = slow)
}

models! {
    an_outcome_is_judged_by_the_old_rules_or_the_new: Reach::FULL.shuttle(4) => Scenario::new(window(2))
        .before([Op::Allow(1)])
        .sees("recorded ||")
        .sees("tripped ||")
        .thread([failure(1)])
        .thread([Op::Reconfigure(window(2).with(|config| config.consecutive_failures = Some(1)))])
        .after([Op::Config]);

    an_outcome_enters_the_old_window_or_is_stale_in_the_new: Reach::FULL.shuttle(4) => Scenario::new(window(2))
        .before(calls([0], success))
        .before([Op::Allow(1)])
        .heard()
        .sees("stale ||")
        .sees("Reconfigured")
        .thread([failure(1)])
        .thread([Op::Reconfigure(window(3))])
        .after(calls([2, 3], failure));

    a_healthy_success_is_fast_or_slow_by_a_limit_in_force: Reach::FULL.shuttle(4) => Scenario::new(slow(SECOND))
        .before([Op::Allow(0), slow_success(0, SECOND / 4), Op::Allow(0), slow_success(0, SECOND / 4)])
        .before([Op::Allow(1)])
        .sees("[s s]/2")
        .sees("[s s~]/2")
        .thread([slow_success(1, SECOND / 2)])
        .thread([Op::Reconfigure(slow(SECOND / 4))]);

    the_quota_is_the_old_one_or_the_new: Reach::FULL.shuttle(4) => Scenario::new(probes(1, 1))
        .before(probing([1]))
        .sees("probe g2 ||")
        .sees("rejected g2 half-open FailureRatio Some(120s) ||")
        .thread([Op::Allow(2)])
        .thread([Op::Reconfigure(probes(2, 1))])
        .after([Op::Allow(3)]);

    a_verdict_is_by_the_old_config_or_the_new: Reach::FULL.shuttle(4) => Scenario::new(probes(1, 1))
        .before(probing([1]))
        .sees("closed ||")
        .sees("recorded ||")
        .thread([success(1)])
        .thread([Op::Reconfigure(probes(1, 2))])
        .after([Op::Allow(2)]);

    /// The reclaimed lease must outlast the change, and so must the new one.
    a_reclaim_against_a_reconfiguration: Reach::FULL.shuttle(4) => Scenario::new(probes(1, 1))
        .before(probing([1]))
        .before([Op::Advance(LEASE)])
        .sees("rejected g3 half-open FailureRatio Some(120s), -, probe g4")
        .thread([Op::Allow(2)])
        .thread([Op::Reconfigure(probes(1, 1))])
        .after([Op::Allow(3), Op::Advance(LEASE), Op::Allow(4)]);

    a_config_read_is_one_that_was_in_force: Reach::FULL.shuttle(4) => Scenario::new(probes(1, 1))
        .sees("slow: Some")
        .sees("slow: None")
        .thread([Op::Config])
        .thread([Op::Reconfigure(slow(SECOND).with(|config| config.min_calls = Some(1)))]);

    two_reconfigurations_take_turns: Reach::both(2) => Scenario::new(window(2))
        .sees("failure_ratio: Some(0.5)")
        .sees("failure_ratio: Some(0.25)")
        .thread([Op::Reconfigure(window(2).with(|config| config.failure_ratio = Some(0.5)))])
        .thread([Op::Reconfigure(window(2).with(|config| config.failure_ratio = Some(0.25)))])
        .after([Op::Config]);

    /// Once a limit is read that makes the call fast, the next call is not slow by the limit before.
    healthy_successes_against_two_reconfigurations: Reach::interleavings(3) => {
        let quarter = SECOND / 4;
        Scenario::new(slow(quarter))
            .before([Op::Allow(0), slow_success(0, quarter / 2), Op::Allow(0), slow_success(0, quarter / 2)])
            .before([Op::Allow(1), Op::Allow(2)])
            .sees("[s~ s]/2")
            .thread([slow_success(1, SECOND / 2), slow_success(2, SECOND / 2)])
            .thread([Op::Reconfigure(slow(quarter)), Op::Reconfigure(slow(SECOND))])
    };

    a_config_read_is_not_a_mix_of_two: Reach::both(3).with_loads(1) => Scenario::new(probes(1, 1))
        .sees("max_probes: 1")
        .sees("max_probes: 3")
        .thread([Op::Config])
        .thread([
            Op::Reconfigure(probes(2, 2)),
            Op::Reconfigure(probes(3, 3).with(|config| config.open_wait = OpenWait::fixed(SECOND))),
        ]);

    /// The word goes with the same slot again after two, and the policy read before is not in force.
    an_outcome_is_not_judged_by_a_mix_of_two: Reach::both(2).with_loads(1) => {
        let failing = window(2).with(|config| config.abandoned = Outcome::Failure);
        let ignoring = window(2).with(|config| config.failure_ratio = Some(0.5));
        Scenario::new(failing)
            .before(calls([0], success))
            .before([Op::Allow(1)])
            .sees("[s f]/2")
            .sees("[s]/2")
            .thread([Op::Drop(1)])
            .thread([Op::Reconfigure(failing), Op::Reconfigure(ignoring)])
    };

    a_verdict_goes_with_the_window_of_its_config: Reach::both(2).with_loads(1) => {
        let by_time = probes(1, 1).with(|config| config.window = Window::time(SECOND, 1));
        Scenario::new(probes(1, 1))
            .before(probing([1]))
            .sees("closed ||")
            .thread([success(1)])
            .thread([Op::Reconfigure(probes(2, 1)), Op::Reconfigure(by_time)])
            .after([Op::Allow(2), failure(2), Op::Snapshot])
    };
}
