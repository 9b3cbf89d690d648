//! Faults that users of circuit breakers have met, each as the shortest replay
//! that shows it. The notation is explained in `replay/mod.rs`; every
//! replay runs on the breaker and on the sequential model.

#[path = "../lockstep/mod.rs"]
mod lockstep;
#[path = "../replay/mod.rs"]
mod replay;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use cutout::{
    Breaker, CallError, Cause, Clock, Config, Counts, Cusum, Evidence, Label, ListenerSet,
    ManualClock, OpenWait, Outcome, Score, Scores, Settled, SlowRule, Snapshot, Stages, State,
    Window,
};

use replay::replay;

/// One test per claim.
macro_rules! replays {
    ($($claim:ident: $line:literal;)+) => {
        $(
            #[test]
            fn $claim() {
                replay($line);
            }
        )+
    };
}

mod config;
mod half_open;
mod listeners;
mod operator;
mod pauses;
mod peers;
mod ramp;
mod reconfigure;
mod restart;
mod stages;
mod stale_outcomes;
mod time_windows;
mod waits_and_clocks;
mod windows_and_rules;
