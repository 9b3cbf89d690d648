//! `breaker`: a read-write lock around a deque; calls are futures.

use std::future::{Future, pending, ready};
use std::pin::{Pin, pin};
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use breaker::tower::BreakerLayer;
use breaker::{BackoffStrategy, CircuitBreaker, CircuitBreakerConfig, CircuitBreakerError, State};
use tower::Layer;

use super::layered::{Answer, Layered};
use super::upstream::Upstream;
use crate::entry::{Can, Entry, Kind};
use crate::stage;
use crate::subject::{Seen, Shared};
use crate::workload::{Style, Workload};

pub(super) const ENTRY: Entry = Entry {
    name: "breaker",
    version: env!("VERSION_breaker"),
    kind: Kind::Peer,
    can: Can {
        styles: &[Style::Plain, Style::Layer],
        ..Can::PLAIN
    },
    set: |workload| match workload.style {
        Style::Layer => stage::set(workload, move || {
            let breaker = build(workload).breaker;
            Layered {
                service: BreakerLayer::new(breaker.clone()).layer(Upstream),
                look: move || seen(&breaker),
            }
        }),
        _ => stage::set(workload, move || build(workload)),
    },
};

fn build(workload: Workload) -> Peer {
    let config = CircuitBreakerConfig::builder()
        .failure_rate_threshold(workload.ratio() as f32)
        .sliding_window_size(workload.outcomes() as u32)
        .minimum_calls(workload.min_calls() as u32)
        .consecutive_failures(u32::MAX)
        .half_open_max_calls(1)
        .success_threshold(1)
        .backoff(BackoffStrategy::Fixed(workload.open_wait()))
        .build();
    let mut builder = CircuitBreaker::builder(config);
    if workload.listener {
        builder = builder.on_state_change(|_, _| {});
    }
    Peer {
        breaker: builder.build(),
        probe: Mutex::new(None),
    }
}

impl Answer for Result<(), CircuitBreakerError<()>> {
    #[inline(always)]
    fn is_admitted(&self) -> bool {
        !matches!(
            self,
            Err(CircuitBreakerError::CircuitOpen | CircuitBreakerError::Rejected)
        )
    }
}

struct Peer {
    breaker: CircuitBreaker,
    probe: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
}

impl Shared for Peer {
    #[inline(always)]
    fn call(&self, fails: bool) -> bool {
        let outcome = if fails { Err(()) } else { Ok(()) };
        let call = pin!(self.breaker.call(|| ready(outcome)));
        // The inner future is ready, so one poll finishes the call.
        let Poll::Ready(result) = call.poll(&mut Context::from_waker(Waker::noop())) else {
            unreachable!("no part of this call waits");
        };
        result.is_admitted()
    }

    fn state(&self) -> Seen {
        seen(&self.breaker)
    }

    fn hold_probe(&self) {
        let breaker = self.breaker.clone();
        let mut probe = Box::pin(async move {
            let _ = breaker.call(pending::<Result<(), ()>>).await;
        });
        let polled = probe.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending(), "the probe is admitted and waits");
        *self.probe.lock().expect("not poisoned") = Some(probe);
    }
}

fn seen(breaker: &CircuitBreaker) -> Seen {
    match breaker.state() {
        State::Closed => Seen::Closed,
        State::Open => Seen::Open,
        State::HalfOpen => Seen::HalfOpen,
    }
}
