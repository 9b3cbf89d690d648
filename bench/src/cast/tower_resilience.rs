//! `tower-resilience-circuitbreaker`: a tower service around an async mutex. Its count
//! window does not slide: it holds totals since the last transition.

use std::future::Future;
use std::pin::Pin;
use std::sync::{LazyLock, Mutex};
use std::task::{Context, Waker};

use tokio::runtime::EnterGuard;
use tower::{Layer, Service};
use tower_resilience_circuitbreaker::{
    CircuitBreaker, CircuitBreakerError, CircuitBreakerHandle, CircuitBreakerLayer, CircuitState,
    DefaultClassifier, SlidingWindowType,
};

use super::layered::{Answer, Through};
use super::upstream::{RUNTIME, Request, Upstream};
use crate::entry::{Can, Entry, Kind};
use crate::stage;
use crate::subject::{Caller, Seen, Subject};
use crate::workload::{Style, TIME_WINDOW, Window, Workload};

pub(super) const ENTRY: Entry = Entry {
    name: "tower-resilience",
    version: env!("VERSION_tower_resilience_circuitbreaker"),
    kind: Kind::Peer,
    can: Can {
        styles: &[Style::Plain, Style::Layer],
        time_window: true,
        slow_rule: true,
        ..Can::PLAIN
    },
    set: |workload| {
        // Its rejections may sleep on a timer.
        LazyLock::force(&RUNTIME);
        stage::set(workload, move || build(workload))
    },
};

fn build(workload: Workload) -> Peer {
    let mut builder = CircuitBreakerLayer::builder()
        .failure_rate_threshold(workload.ratio())
        .sliding_window_size(workload.outcomes())
        .minimum_number_of_calls(workload.min_calls())
        .permitted_calls_in_half_open(1)
        .wait_duration_in_open(workload.open_wait());
    if workload.window == Window::Time {
        builder = builder
            .sliding_window_type(SlidingWindowType::TimeBased)
            .sliding_window_duration(TIME_WINDOW);
    }
    if workload.slow_rule {
        builder = builder
            .slow_call_duration_threshold(workload.slow_limit())
            .slow_call_rate_threshold(workload.ratio());
    }
    if workload.listener {
        builder = builder.on_state_transition(|_, _| {});
    }
    let built = builder.build_with_handle();
    let (layer, handle) = built.expect("the workloads are legal configs");
    Peer {
        service: layer.layer(Upstream),
        handle,
        probe: Mutex::new(None),
    }
}

type Guarded = CircuitBreaker<Upstream, DefaultClassifier>;
type Probe = Pin<Box<dyn Future<Output = Result<(), CircuitBreakerError<()>>> + Send>>;

struct Peer {
    service: Guarded,
    handle: CircuitBreakerHandle<DefaultClassifier>,
    probe: Mutex<Option<Probe>>,
}

struct Calls {
    _entered: EnterGuard<'static>,
    service: Through<Guarded>,
}

impl Answer for Result<(), CircuitBreakerError<()>> {
    #[inline(always)]
    fn is_admitted(&self) -> bool {
        !matches!(self, Err(CircuitBreakerError::OpenCircuit))
    }
}

impl Caller for Calls {
    #[inline(always)]
    fn call(&mut self, fails: bool) -> bool {
        self.service.call(fails)
    }
}

impl Subject for Peer {
    type Caller<'a> = Calls;

    fn caller(&self) -> Calls {
        Calls {
            _entered: RUNTIME.enter(),
            service: Through(self.service.clone()),
        }
    }

    fn state(&self) -> Seen {
        match self.handle.state() {
            CircuitState::Closed => Seen::Closed,
            CircuitState::Open => Seen::Open,
            CircuitState::HalfOpen => Seen::HalfOpen,
        }
    }

    fn hold_probe(&self) {
        let mut probe = self.service.clone().call(Request::Hang);
        let polled = probe.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending(), "the probe is admitted and waits");
        *self.probe.lock().expect("not poisoned") = Some(probe);
    }
}
