//! A breaker between a real client and a real server: what it sees of an upstream that
//! fails, hangs, breaks its bodies and recovers, and what a Prometheus endpoint tells of it.

mod grpc;
mod http;
mod metrics_endpoint;
mod upstream;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cutout::{Breaker, Cause, Event, ManualClock, OpenWait, State};

const WAIT: Duration = Duration::from_secs(10);
/// Long enough for an answer over loopback on a busy machine; each test waits for it in
/// full as often as its upstream hangs.
const LIMIT: Duration = Duration::from_secs(3);

/// A breaker whose waits go by a clock that the test moves, and what is heard of it.
struct Guarded {
    breaker: Arc<Breaker<ManualClock>>,
    clock: ManualClock,
    events: Arc<Mutex<Vec<(State, State, Cause)>>>,
}

impl Guarded {
    /// Opens when half of at least four calls have failed.
    fn new(name: &str) -> Self {
        let clock = ManualClock::new();
        let events = Arc::default();
        let heard = Arc::clone(&events);
        let breaker = Breaker::builder()
            .name(name)
            .min_calls(4)
            .failure_ratio(0.5)
            .open_wait(OpenWait::fixed(WAIT))
            .probe_lease(None)
            .totals(true)
            .clock(clock.clone())
            .listener(move |event: &Event| {
                let heard: &Mutex<Vec<_>> = &heard;
                heard
                    .lock()
                    .unwrap()
                    .push((event.from, event.to, event.cause));
            })
            .build()
            .unwrap();
        Self {
            breaker: Arc::new(breaker),
            clock,
            events,
        }
    }

    /// What has happened since this was last asked.
    fn events(&self) -> Vec<(State, State, Cause)> {
        std::mem::take(&mut self.events.lock().unwrap())
    }

    /// Lets the open wait pass.
    fn wait(&self) {
        self.clock.advance(WAIT);
    }

    fn samples(&self) -> u32 {
        self.breaker.snapshot().counts().samples
    }
}
