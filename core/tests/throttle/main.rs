//! A throttle: what it refuses, how it agrees with its model, and how it fits where breakers do.

mod against_model;
mod clocks;
mod fits;
mod pairs;
mod share;
mod threads;

use std::time::Duration;

use cutout::{ManualClock, Outcome, Rejected, Throttle, ThrottleConfig};

const SECOND: Duration = Duration::from_secs(1);

struct Rig {
    clock: ManualClock,
    throttle: Throttle<ManualClock>,
}

impl Rig {
    fn new() -> Self {
        Self::of(ThrottleConfig::default())
    }

    fn of(config: ThrottleConfig) -> Self {
        let clock = ManualClock::new();
        let builder = Throttle::builder().name("search").clock(clock.clone());
        let throttle = builder.config(config).seed(3).build().unwrap();
        Self { clock, throttle }
    }

    fn call(&self, outcome: Outcome) -> Result<(), Rejected> {
        self.throttle.allow().map(|permit| {
            permit.done(outcome);
        })
    }

    /// `calls` at even distances over a second, of which the upstream takes `capacity` and refuses the rest. Gives how many
    /// were sent to it, and how many it took.
    fn second(&self, calls: u32, capacity: u32) -> (u32, u32) {
        let (mut sent, mut taken) = (0, 0);
        for call in 0..calls {
            self.clock.advance(SECOND / calls);
            let Ok(permit) = self.throttle.allow() else {
                continue;
            };
            sent += 1;
            // It takes calls evenly too: as many as its capacity has grown to by now.
            if u64::from(taken) * u64::from(calls) < u64::from(capacity) * u64::from(call + 1) {
                taken += 1;
                permit.success();
            } else {
                permit.failure();
            }
        }
        (sent, taken)
    }
}
