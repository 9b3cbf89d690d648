//! What the layer costs over a bare service and the wrapper over a bare stream: the best of many
//! rounds of a plain loop. `cargo bench --bench edges`

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use cutout::adapters::body::GuardedBody;
use cutout::adapters::stream::{GuardedStream, Limits};
use cutout::adapters::tower::{AtResult, BreakerLayer};
use cutout::classify::ByResult;
use cutout::{Breaker, BreakerRef, OwnedPermit, SlowRule};
use cutout_bench::arguments::Arguments;
use futures_core::Stream;
use http_body::{Body, Frame};
use tower::{Layer, Service};

const ROUNDS: u32 = 200;
const LOOPS: u32 = 20_000;

/// The nanoseconds that one turn of a loop takes, in the best round.
fn nanos(mut turn: impl FnMut()) -> f64 {
    let mut round = || {
        let started = Instant::now();
        (0..LOOPS).for_each(|_| turn());
        started.elapsed()
    };
    let best = (0..ROUNDS).map(|_| round()).min();
    best.unwrap_or_default().as_secs_f64() * 1e9 / f64::from(LOOPS)
}

fn report(case: &str, bare: f64, guarded: f64) {
    println!(
        "{case:<34} bare {bare:6.2} ns   guarded {guarded:6.2} ns   more {:6.2} ns",
        guarded - bare
    );
}

/// Answers at once.
#[derive(Clone)]
struct Echo;

impl Service<u64> for Echo {
    type Response = u64;
    type Error = Infallible;
    type Future = Ready<Result<u64, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    #[inline(never)]
    fn call(&mut self, request: u64) -> Self::Future {
        ready(Ok(request))
    }
}

#[inline(never)]
fn call(service: &mut impl Service<u64, Response = u64>) {
    let mut context = Context::from_waker(Waker::noop());
    if service.poll_ready(&mut context).is_ready() {
        let response = pin!(service.call(black_box(1))).poll(&mut context);
        black_box(response.is_ready());
    }
}

/// Yields without an end.
struct Endless;

impl Stream for Endless {
    type Item = Result<u64, u8>;

    #[inline(never)]
    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(Some(Ok(black_box(1))))
    }
}

impl Body for Endless {
    type Data = &'static [u8];
    type Error = u8;

    #[inline(never)]
    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<&'static [u8]>, u8>>> {
        Poll::Ready(Some(Ok(Frame::data(b"data"))))
    }
}

#[inline(never)]
fn next(stream: Pin<&mut impl Stream>) {
    let mut context = Context::from_waker(Waker::noop());
    black_box(stream.poll_next(&mut context).is_ready());
}

#[inline(never)]
fn frame(body: Pin<&mut impl Body>) {
    let mut context = Context::from_waker(Waker::noop());
    black_box(body.poll_frame(&mut context).is_ready());
}

fn breaker(slow: Option<SlowRule>) -> Breaker {
    let breaker = Breaker::builder().slow(slow).build();
    breaker.unwrap_or_else(|error| panic!("{error}"))
}

fn shared() -> Arc<Breaker> {
    Arc::new(breaker(None))
}

fn permit() -> OwnedPermit {
    let permit = shared().allow_owned();
    permit.unwrap_or_else(|rejected| panic!("{rejected}"))
}

/// What a call takes while another thread calls the same breaker.
fn nanos_of_two<R: BreakerRef + Send>(layer: &BreakerLayer<AtResult<ByResult>, R>) -> f64 {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let mut other = layer.layer(Echo);
        let is_over = &is_over;
        scope.spawn(move || {
            while !is_over.load(Relaxed) {
                call(&mut other);
            }
        });
        let mut service = layer.layer(Echo);
        let nanos = nanos(|| call(black_box(&mut service)));
        is_over.store(true, Relaxed);
        nanos
    })
}

fn tower() {
    let mut echo = Echo;
    let bare = nanos(|| call(black_box(&mut echo)));

    let layer = BreakerLayer::new(shared());
    let mut service = layer.layer(Echo);
    report(
        "tower, healthy, in an Arc",
        bare,
        nanos(|| call(black_box(&mut service))),
    );
    report("  while another thread calls", bare, nanos_of_two(&layer));

    static BREAKER: LazyLock<Breaker> = LazyLock::new(|| breaker(None));
    let layer = BreakerLayer::new(&*BREAKER);
    let mut service = layer.layer(Echo);
    report(
        "tower, healthy, in a static",
        bare,
        nanos(|| call(black_box(&mut service))),
    );
    report("  while another thread calls", bare, nanos_of_two(&layer));

    let slow = SlowRule {
        limit: Duration::from_secs(1),
        ratio: 0.5,
    };
    let mut service = BreakerLayer::new(Arc::new(breaker(Some(slow)))).layer(Echo);
    report(
        "tower, with a slow rule",
        bare,
        nanos(|| call(black_box(&mut service))),
    );
    service.breaker().force_open(None, "bench");
    report(
        "tower, rejecting",
        bare,
        nanos(|| call(black_box(&mut service))),
    );
}

fn stream() {
    let mut stream = Endless;
    let bare = nanos(|| next(Pin::new(black_box(&mut stream))));
    let mut stream = GuardedStream::new(Endless, permit());
    report(
        "stream, an item",
        bare,
        nanos(|| next(Pin::new(black_box(&mut stream)))),
    );
    let limits = Limits::new().idle(Duration::from_secs(1));
    let timer = |_: Duration| std::future::pending();
    let mut stream = GuardedStream::new(Endless, permit()).limits(limits, timer);
    report(
        "stream, an item, with limits",
        bare,
        nanos(|| next(Pin::new(black_box(&mut stream)))),
    );
}

fn body() {
    let mut body = Endless;
    let bare = nanos(|| frame(Pin::new(black_box(&mut body))));
    let mut body = GuardedBody::new(Endless, permit());
    report(
        "body, a frame",
        bare,
        nanos(|| frame(Pin::new(black_box(&mut body)))),
    );
}

fn main() {
    let about = "The tower layer, streams and bodies beside bare ones";
    let arguments = Arguments::of_process("edges", about);
    let cases: [(&str, fn()); 3] = [
        ("edges/tower", tower),
        ("edges/stream", stream),
        ("edges/body", body),
    ];
    let selected = cases
        .into_iter()
        .filter(|(name, _)| arguments.selects(name));
    for (name, case) in selected {
        if arguments.has("list") {
            println!("{name}: benchmark");
        } else if arguments.measures() {
            case();
        }
    }
}
