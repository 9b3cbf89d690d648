//! `breaker`: a read-write lock around a deque; calls are futures.

use std::future::{Future, pending, ready};
use std::pin::{Pin, pin};
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use breaker::{BackoffStrategy, CircuitBreaker, CircuitBreakerConfig, CircuitBreakerError, State};

use super::{Entry, Kind, Seen, Subject};
use crate::stage;
use crate::workload::{Load, Workload};

pub(super) const ENTRY: Entry = Entry {
    name: "breaker",
    version: env!("VERSION_breaker"),
    kind: Kind::Peer,
    stage: |workload| {
        supported(workload)?;
        stage::set(workload, move || build(workload))
    },
};

fn supported(workload: Workload) -> Result<(), String> {
    match workload.load {
        Load::Floor => Err("not a floor".into()),
        _ if !workload.is_plain() => Err("it has no such rule or call".into()),
        _ => Ok(()),
    }
}

fn build(workload: Workload) -> Peer {
    let config = CircuitBreakerConfig::builder()
        .failure_rate_threshold(workload.ratio() as f32)
        .sliding_window_size(workload.window as u32)
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

struct Peer {
    breaker: CircuitBreaker,
    probe: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
}

impl Subject for Peer {
    #[inline]
    fn caller(&self) -> impl FnMut(bool) -> bool {
        |fails| {
            let outcome = if fails { Err(()) } else { Ok(()) };
            let call = pin!(self.breaker.call(|| ready(outcome)));
            // The inner future is ready, so one poll finishes the call.
            let Poll::Ready(result) = call.poll(&mut Context::from_waker(Waker::noop())) else {
                unreachable!("no part of this call waits");
            };
            !matches!(
                result,
                Err(CircuitBreakerError::CircuitOpen | CircuitBreakerError::Rejected)
            )
        }
    }

    fn state(&self) -> Seen {
        match self.breaker.state() {
            State::Closed => Seen::Closed,
            State::Open => Seen::Open,
            State::HalfOpen => Seen::HalfOpen,
        }
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
