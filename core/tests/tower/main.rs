//! The layer before a service that holds it to `tower`'s contract, and among other layers.

mod admission;
mod attempts;
mod balance;
mod keyed;
mod queues;
mod settling;
mod strict;

use std::sync::Arc;
use std::time::Duration;

use cutout::adapters::tower::{AtResult, BreakerLayer, BreakerService};
use cutout::classify::ByResult;
use cutout::{Breaker, Builder, CallError, Config, ManualClock, OpenWait, State};
use tower::{Layer, Service, ServiceExt};

use strict::{Ask, Failed, Strict, Upstream};

const WAIT: Duration = Duration::from_secs(10);

/// A breaker that opens at the second failure in a row.
fn builder(clock: &ManualClock) -> Builder<ManualClock> {
    let config = Config::low_traffic().with(|config| {
        config.consecutive_failures = Some(2);
        config.open_wait = OpenWait::fixed(WAIT);
    });
    Builder::new(clock.clone()).config(config)
}

/// A guarded service, and all that belongs to it.
struct Stage {
    clock: ManualClock,
    breaker: Arc<Breaker<ManualClock>>,
    upstream: Arc<Upstream>,
    service: BreakerService<Strict, AtResult<ByResult>, Arc<Breaker<ManualClock>>>,
}

impl Stage {
    fn new() -> Self {
        Self::with(|builder| builder)
    }

    fn with(change: impl FnOnce(Builder<ManualClock>) -> Builder<ManualClock>) -> Self {
        let clock = ManualClock::new();
        let breaker = Arc::new(change(builder(&clock)).build().unwrap());
        let upstream = Arc::<Upstream>::default();
        let service = BreakerLayer::new(breaker.clone()).layer(upstream.service());
        Self {
            clock,
            breaker,
            upstream,
            service,
        }
    }

    /// Opens the breaker by failed calls.
    fn trip(&mut self) {
        for _ in 0..2 {
            assert_eq!(self.call(Ask::Fail), Err(CallError::Inner(Failed)));
        }
        assert_eq!(self.breaker.state(), State::Open);
    }

    /// Makes a call that does not hang.
    fn call(&mut self, ask: Ask) -> Result<u32, CallError<Failed>> {
        futures_executor::block_on(async { self.service.ready().await?.call(ask).await })
    }
}
