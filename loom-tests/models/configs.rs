//! Configs of the scenarios, and the ways to bring a breaker into a state.

use std::time::Duration;

use crate::cutout::{Config, OpenWait, Stages, Window};
use crate::op::{Op, calls, failure};

/// The open wait, and the unit of the growing one.
pub(crate) const WAIT: Duration = Duration::from_secs(60);

/// The probe lease.
pub(crate) const LEASE: Duration = WAIT.saturating_mul(2);

/// A window that opens the breaker only when all of it has failed.
pub(crate) fn window(size: u32) -> Config {
    Config::default().with(|config| {
        config.window = Window::count(size);
        config.min_calls = Some(size);
        config.failure_ratio = Some(1.0);
        config.open_wait = OpenWait::fixed(WAIT);
        config.probe_lease = Some(LEASE);
    })
}

/// Opens at the first failure; then so many probes at a time, and so many to close.
pub(crate) fn probes(max_probes: u32, successes_to_close: u32) -> Config {
    window(1).with(|config| {
        config.max_probes = max_probes;
        config.successes_to_close = successes_to_close;
    })
}

/// The same by stages that double up to `until`, each with such a share of failures.
pub(crate) fn stages(first: u32, until: u32, failure_ratio: f64) -> Config {
    probes(1, 1).with(|config| {
        config.stages = Some(Stages {
            first,
            growth: 2,
            until,
            failure_ratio,
        });
    })
}

/// The permit that the ways below use up.
pub(crate) const SPENT: usize = 99;

/// Opens a breaker that opens at the first failure.
pub(crate) fn opened() -> Vec<Op> {
    calls([SPENT], failure)
}

/// Opens it and lets the wait pass.
pub(crate) fn waited() -> Vec<Op> {
    [opened(), vec![Op::Advance(WAIT)]].concat()
}

/// Opens it, lets the wait pass, and takes these probes.
pub(crate) fn probing(permits: impl IntoIterator<Item = usize>) -> Vec<Op> {
    let probes = permits.into_iter().map(Op::Allow).collect();
    [waited(), probes].concat()
}
