//! Async calls: what ends them and what that counts as, timeouts, waiting for admission.

mod calls;
mod clock;
mod herd;
mod retries;
mod timeout;
mod waiting;

use std::time::Duration;

use cutout::adapters::tokio::TokioClock;
use cutout::{Breaker, Builder, Counts, OpenWait};

const WAIT: Duration = Duration::from_secs(10);
const LEASE: Duration = Duration::from_secs(60);

/// Opens at the first failure, for [`WAIT`].
fn fragile() -> Builder<TokioClock> {
    Breaker::builder()
        .name("fragile")
        .consecutive_failures(1)
        .open_wait(OpenWait::fixed(WAIT))
        .probe_lease(LEASE)
        .clock(TokioClock::new())
}

/// Never opens by itself.
fn sturdy() -> Builder<TokioClock> {
    Breaker::builder()
        .min_calls(20)
        .failure_ratio(1.0)
        .clock(TokioClock::new())
}

fn counts(breaker: &Breaker<TokioClock>) -> Counts {
    breaker.snapshot().counts()
}
