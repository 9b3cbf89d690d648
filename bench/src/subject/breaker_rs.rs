//! `breaker`: a read-write lock around a deque; calls are futures.

use std::future::{Future, pending, ready};
use std::pin::{Pin, pin};
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use breaker::tower::{BreakerLayer, BreakerService};
use breaker::{BackoffStrategy, CircuitBreaker, CircuitBreakerConfig, CircuitBreakerError, State};
use tower::Layer;

use super::upstream::{self, Request, Upstream};
use super::{Caller, Entry, Kind, Seen, Subject};
use crate::stage;
use crate::workload::{Load, Style, Workload};

pub(super) const ENTRY: Entry = Entry {
    name: "breaker",
    version: env!("VERSION_breaker"),
    kind: Kind::Peer,
    stage: |workload| {
        supported(workload)?;
        match workload.style {
            Style::Layer => stage::set(workload, move || Layered::new(build(workload))),
            _ => stage::set(workload, move || build(workload)),
        }
    },
};

fn supported(workload: Workload) -> Result<(), String> {
    match workload.load {
        Load::Floor => Err("not a floor".into()),
        _ if workload.style(Style::Plain).is_plain() && has_call(workload.style) => Ok(()),
        _ => Err("it has no such window, rule or call".into()),
    }
}

fn has_call(style: Style) -> bool {
    matches!(style, Style::Plain | Style::Layer)
}

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

fn is_admitted(result: &Result<(), CircuitBreakerError<()>>) -> bool {
    !matches!(
        result,
        Err(CircuitBreakerError::CircuitOpen | CircuitBreakerError::Rejected)
    )
}

struct Peer {
    breaker: CircuitBreaker,
    probe: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
}

impl Caller for &Peer {
    #[inline(always)]
    fn call(&mut self, fails: bool) -> bool {
        let outcome = if fails { Err(()) } else { Ok(()) };
        let call = pin!(self.breaker.call(|| ready(outcome)));
        // The inner future is ready, so one poll finishes the call.
        let Poll::Ready(result) = call.poll(&mut Context::from_waker(Waker::noop())) else {
            unreachable!("no part of this call waits");
        };
        is_admitted(&result)
    }
}

impl Subject for Peer {
    type Caller<'a> = &'a Self;

    fn caller(&self) -> &Self {
        self
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

/// Its layer before a service.
struct Layered {
    breaker: CircuitBreaker,
    service: BreakerService<Upstream>,
}

impl Layered {
    fn new(peer: Peer) -> Self {
        let breaker = peer.breaker;
        let service = BreakerLayer::new(breaker.clone()).layer(Upstream);
        Self { breaker, service }
    }
}

impl Caller for BreakerService<Upstream> {
    #[inline(always)]
    fn call(&mut self, fails: bool) -> bool {
        is_admitted(&upstream::through(self, Request::that(fails)))
    }
}

impl Subject for Layered {
    type Caller<'a> = BreakerService<Upstream>;

    fn caller(&self) -> BreakerService<Upstream> {
        self.service.clone()
    }

    fn state(&self) -> Seen {
        seen(&self.breaker)
    }
}
