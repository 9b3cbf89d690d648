//! `tower-resilience-circuitbreaker`: a tower service around an async mutex. Its count
//! window does not slide: it holds totals since the last transition.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{LazyLock, Mutex};
use std::task::{Context, Poll, Waker};

use tokio::runtime::{Builder, Runtime};
use tower::{Layer, Service};
use tower_resilience_circuitbreaker::{
    CircuitBreaker, CircuitBreakerError, CircuitBreakerHandle, CircuitBreakerLayer, CircuitState,
    DefaultClassifier,
};

use super::{Entry, Kind, Seen, Subject};
use crate::stage;
use crate::workload::{Load, Style, Workload};

pub(super) const ENTRY: Entry = Entry {
    name: "tower-resilience",
    version: env!("VERSION_tower_resilience_circuitbreaker"),
    kind: Kind::Peer,
    stage: |workload| {
        supported(workload)?;
        LazyLock::force(&RUNTIME);
        stage::set(workload, move || build(workload))
    },
};

/// Its rejections may sleep on a timer, so it needs a runtime.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build()
        .expect("a runtime can be built")
});

fn supported(workload: Workload) -> Result<(), String> {
    match workload.load {
        Load::Floor => Err("not a floor".into()),
        _ if workload.timeout_rule => Err("it has no rule on timeouts".into()),
        _ if workload.style != Style::Plain || workload.counted => {
            Err("it has one way to call".into())
        }
        _ => Ok(()),
    }
}

fn build(workload: Workload) -> Peer {
    let mut builder = CircuitBreakerLayer::builder()
        .failure_rate_threshold(workload.ratio())
        .sliding_window_size(workload.window)
        .minimum_number_of_calls(workload.min_calls())
        .permitted_calls_in_half_open(1)
        .wait_duration_in_open(workload.open_wait());
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

/// What the upstream shall do.
#[derive(Clone, Copy)]
enum Request {
    Succeed,
    Fail,
    Hang,
}

#[derive(Clone)]
struct Upstream;

impl Service<Request> for Upstream {
    type Response = ();
    type Error = ();
    type Future = Reply;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Reply {
        Reply(request)
    }
}

struct Reply(Request);

impl Future for Reply {
    type Output = Result<(), ()>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        match self.0 {
            Request::Succeed => Poll::Ready(Ok(())),
            Request::Fail => Poll::Ready(Err(())),
            Request::Hang => Poll::Pending,
        }
    }
}

type Guarded = CircuitBreaker<Upstream, DefaultClassifier>;
type Probe = Pin<Box<dyn Future<Output = Result<(), CircuitBreakerError<()>>> + Send>>;

struct Peer {
    service: Guarded,
    handle: CircuitBreakerHandle<DefaultClassifier>,
    probe: Mutex<Option<Probe>>,
}

impl Subject for Peer {
    fn caller(&self) -> impl FnMut(bool) -> bool {
        let entered = RUNTIME.enter();
        let mut service = self.service.clone();
        move |fails| {
            let _ = &entered;
            let request = if fails {
                Request::Fail
            } else {
                Request::Succeed
            };
            let _: Result<_, Infallible> = finish(poll_fn(|cx| service.poll_ready(cx).map(Ok)));
            !matches!(
                finish(service.call(request)),
                Err(CircuitBreakerError::OpenCircuit)
            )
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

/// Finishes a future: with one poll where nothing is in its way, as an executor
/// would, and by waiting where another thread holds the async mutex.
#[inline]
fn finish<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(output) => output,
        Poll::Pending => RUNTIME.block_on(future),
    }
}
