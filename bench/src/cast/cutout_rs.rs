//! This crate.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use cutout::{
    Breaker, CallError, Clock, Config, ManualClock, OpenWait, Score, SlowRule, State, SystemClock,
    Window,
};

use cutout::BreakerRef;
use cutout::adapters::tower::BreakerLayer;
use tower::Layer;

use super::layered::{Answer, Layered};
use super::upstream::Upstream;
use crate::entry::{Can, Entry, Kind};
use crate::stage::{self, Stage};
use crate::subject::{Seen, Shared, Subject};
use crate::workload::{BUCKETS, Load, Style, TIME_WINDOW, Window as Span, Workload};

pub(super) const ENTRY: Entry = Entry {
    name: "cutout",
    version: env!("VERSION_cutout"),
    kind: Kind::Ours,
    can: Can::ALL,
    set,
};

fn set(workload: Workload) -> Result<Box<dyn Stage>, String> {
    match (workload.load, workload.style) {
        (Load::Flapping, Style::Plain) => stage::set(workload, move || {
            let clock = ManualClock::new();
            let breaker = build(workload, clock.clone());
            Flapping { breaker, clock }
        }),
        (_, Style::Plain) => stage::set(workload, move || Permits(system(workload))),
        (_, Style::Owned) => stage::set(workload, move || OwnedPermits(Arc::new(system(workload)))),
        (_, Style::Closure) => stage::set(workload, move || Closures(system(workload))),
        (_, Style::Layer) => stage::set(workload, move || layered(Arc::new(system(workload)))),
        (_, Style::BorrowingLayer) => stage::set(workload, move || {
            // Services outlive the scope they are made in, so it must be a static one.
            layered(system(workload).leak())
        }),
        (_, Style::Look) => stage::set(workload, move || Looks(system(workload))),
    }
}

fn system(workload: Workload) -> Breaker<SystemClock> {
    build(workload, SystemClock::new())
}

fn build<C: Clock>(workload: Workload, clock: C) -> Breaker<C> {
    let config = Config::default().with(|config| {
        config.window = match workload.window {
            Span::Count(outcomes) => Window::count(outcomes as u32),
            Span::Time => Window::time(TIME_WINDOW, BUCKETS),
        };
        config.min_calls = Some(workload.min_calls() as u32);
        config.failure_ratio = Some(workload.ratio());
        config.timeout_ratio = workload.timeout_rule.then(|| workload.timeout_ratio());
        config.slow = workload.slow_rule.then(|| SlowRule {
            limit: workload.slow_limit(),
            ratio: workload.ratio(),
        });
        config.open_wait = OpenWait::fixed(workload.open_wait());
        // The probe of the storm stays out for good.
        config.probe_lease = None;
        if workload.scores {
            config.window = Window::cusum(score(workload));
            (config.failure_ratio, config.min_calls) = (None, None);
        }
    });
    let mut builder = Breaker::builder()
        .config(config)
        .clock(clock)
        .totals(workload.counted);
    if workload.listener {
        builder = builder.listener(|_| {});
    }
    builder.build().expect("the workloads are legal configs")
}

/// The score that opens by chance once in 10^9 calls.
pub(super) fn score(workload: Workload) -> Score {
    let (well, ill) = workload.rates();
    Score::for_rates(well, ill, 1e9).expect("the workloads' shares are far apart")
}

/// A service before which a breaker stands that is shared or borrowed.
fn layered<R: BreakerRef + Send + Sync + 'static>(breaker: R) -> impl Subject {
    Layered {
        service: BreakerLayer::new(breaker.clone()).layer(Upstream),
        look: move || seen(breaker.breaker()),
    }
}

impl Answer for Result<(), CallError<()>> {
    #[inline(always)]
    fn is_admitted(&self) -> bool {
        !matches!(self, Err(CallError::Rejected(_)))
    }
}

fn seen<C: Clock>(breaker: &Breaker<C>) -> Seen {
    match breaker.state() {
        State::Closed => Seen::Closed,
        State::HalfOpen => Seen::HalfOpen,
        _ => Seen::Open,
    }
}

#[inline(always)]
fn call<C: Clock>(breaker: &Breaker<C>, fails: bool) -> bool {
    match breaker.allow() {
        Ok(permit) => {
            if fails {
                permit.failure();
            } else {
                permit.success();
            }
            true
        }
        Err(_) => false,
    }
}

/// Borrowed permits: allow, then done.
struct Permits(Breaker<SystemClock>);

impl Shared for Permits {
    #[inline(always)]
    fn call(&self, fails: bool) -> bool {
        call(&self.0, fails)
    }

    fn state(&self) -> Seen {
        seen(&self.0)
    }

    fn hold_probe(&self) {
        loop {
            if let Ok(probe) = self.0.allow() {
                mem::forget(probe);
                return;
            }
        }
    }
}

/// The same with time that passes by hand.
struct Flapping {
    breaker: Breaker<ManualClock>,
    clock: ManualClock,
}

impl Shared for Flapping {
    #[inline(always)]
    fn call(&self, fails: bool) -> bool {
        call(&self.breaker, fails)
    }

    fn state(&self) -> Seen {
        seen(&self.breaker)
    }

    fn pass_time(&self) {
        // Waits are kept in whole microseconds.
        self.clock.advance(Duration::from_micros(2));
    }
}

/// Permits that own their breaker.
struct OwnedPermits(Arc<Breaker<SystemClock>>);

impl Shared for OwnedPermits {
    #[inline(always)]
    fn call(&self, fails: bool) -> bool {
        match self.0.allow_owned() {
            Ok(permit) => {
                if fails {
                    permit.failure();
                } else {
                    permit.success();
                }
                true
            }
            Err(_) => false,
        }
    }

    fn state(&self) -> Seen {
        seen(&self.0)
    }
}

/// A closure handed to the breaker.
struct Closures(Breaker<SystemClock>);

impl Shared for Closures {
    #[inline(always)]
    fn call(&self, fails: bool) -> bool {
        let result = self.0.call(|| if fails { Err(()) } else { Ok(()) });
        result.is_admitted()
    }

    fn state(&self) -> Seen {
        seen(&self.0)
    }
}

/// Looks at the state, and calls nothing.
struct Looks(Breaker<SystemClock>);

impl Shared for Looks {
    #[inline(always)]
    fn call(&self, _: bool) -> bool {
        self.0.state() == State::Closed
    }

    fn state(&self) -> Seen {
        seen(&self.0)
    }
}
