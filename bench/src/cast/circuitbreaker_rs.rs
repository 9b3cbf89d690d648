//! `circuitbreaker-rs`: atomics for the counts, two mutexes for times, three clock reads a
//! call. Its counts are totals since it last closed: it has no window.

use std::error::Error;
use std::fmt;

use circuitbreaker_rs::{BreakerError, CircuitBreaker, DefaultPolicy, HookRegistry, State};

use crate::entry::{Can, Entry, Kind};
use crate::stage;
use crate::subject::{Seen, Shared};
use crate::workload::{Load, Workload};

pub(super) const ENTRY: Entry = Entry {
    name: "circuitbreaker-rs",
    version: env!("VERSION_circuitbreaker_rs"),
    kind: Kind::Peer,
    can: Can::PLAIN,
    set: |workload| stage::set(workload, move || build(workload)),
};

fn build(workload: Workload) -> Peer {
    let storm = workload.load == Load::HalfOpenStorm;
    let mut builder = CircuitBreaker::<DefaultPolicy, Down>::builder()
        .failure_threshold(workload.ratio())
        .min_throughput(workload.min_calls() as u64)
        .consecutive_failures(u64::MAX)
        // In the storm the first probe succeeds, closes nothing, and leaves no slot.
        .consecutive_successes(if storm { u64::MAX } else { 1 })
        .probe_interval(u32::from(!storm))
        .cooldown(workload.open_wait());
    if workload.listener {
        let hooks = HookRegistry::new();
        hooks.set_on_open(|| {});
        hooks.set_on_half_open(|| {});
        hooks.set_on_close(|| {});
        builder = builder.hooks(hooks);
    }
    Peer(builder.build())
}

/// It asks for an error type.
#[derive(Debug)]
struct Down;

impl fmt::Display for Down {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("down")
    }
}

impl Error for Down {}

struct Peer(CircuitBreaker<DefaultPolicy, Down>);

impl Shared for Peer {
    #[inline(always)]
    fn call(&self, fails: bool) -> bool {
        let result = self.0.call(|| if fails { Err(Down) } else { Ok(()) });
        !matches!(result, Err(BreakerError::Open))
    }

    fn state(&self) -> Seen {
        match self.0.current_state() {
            State::Closed => Seen::Closed,
            State::Open => Seen::Open,
            State::HalfOpen => Seen::HalfOpen,
        }
    }

    fn hold_probe(&self) {
        while self.0.call(|| Ok(())).is_err() {}
    }
}
