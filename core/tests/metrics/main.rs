//! The metrics of breakers, as a Prometheus endpoint shows them.

mod dashboards;
mod page;
mod series;
mod throttle;
mod year;

use std::time::Duration;

use cutout::{Breaker, Builder, ManualClock, OpenWait};

const WAIT: Duration = Duration::from_secs(10);

/// Opens at the first failure, for [`WAIT`], and counts.
fn fragile(clock: &ManualClock) -> Builder<ManualClock> {
    Breaker::builder()
        .name("search")
        .consecutive_failures(1)
        .open_wait(OpenWait::fixed(WAIT))
        .clock(clock.clone())
        .totals(true)
}
