//! Whose panic it is: only one of the guarded call, or of what judges it, is the upstream's.

use std::convert::Infallible;
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use cutout::adapters::body::GuardedBody;
use cutout::adapters::stream::{GuardedStream, Limits};
use cutout::adapters::tower::BreakerLayer;
use cutout::classify::Judge;
use cutout::router::{Attempts, Router, RouterConfig, Step, Target};
use cutout::{Breaker, Outcome, OwnedPermit, Report, State};
use futures_util::{FutureExt, Stream, StreamExt, future, stream};
use http_body::Body;
use http_body_util::Full;
use tower::{Layer, Service, service_fn};

type Answer = Result<(), Infallible>;

/// Opens at the first failure.
fn breaker() -> Arc<Breaker> {
    let builder = Breaker::builder().consecutive_failures(1).totals(true);
    Arc::new(builder.build().unwrap())
}

fn permit(breaker: &Arc<Breaker>) -> OwnedPermit {
    breaker.allow_owned().unwrap()
}

/// A panic without a message on the test's output.
fn panic() -> ! {
    resume_unwind(Box::new("asked to"))
}

fn panics<R>(work: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(work)).is_err()
}

/// Polls a future once, beside another one that panics.
fn poll_beside_a_panic(call: impl Future) {
    let other = future::lazy(|_| panic());
    assert!(panics(|| future::join(call, other).now_or_never()));
}

/// Drops a value by a panic that is not its own.
fn drop_by_a_panic<V>(value: V) {
    assert!(panics(|| {
        let _value = value;
        panic()
    }));
}

fn is_abandoned(breaker: &Breaker) {
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(breaker.totals().unwrap().calls.abandoned, 1);
}

#[test]
fn a_panic_of_another_branch_abandons_a_call() {
    let called = breaker();
    poll_beside_a_panic(called.call_async(pending::<Answer>));
    is_abandoned(&called);
}

#[tokio::test]
async fn a_panic_of_another_branch_abandons_a_call_with_a_limit() {
    let called = breaker();
    poll_beside_a_panic(called.call_timeout(Duration::from_secs(9), pending::<Answer>));
    is_abandoned(&called);
}

#[test]
fn a_panic_of_another_branch_abandons_a_routed_call() {
    let called = breaker();
    let target = Target::new("only", (), Arc::clone(&called));
    let router = Router::new(RouterConfig::default(), [target]).unwrap();
    let mut attempts = Attempts::new();
    let call = router.call_async(&mut attempts, |_| pending::<Answer>(), Step::of);
    poll_beside_a_panic(call);
    is_abandoned(&called);
}

#[test]
fn a_panic_of_another_branch_abandons_a_call_through_a_service() {
    let called = breaker();
    let layer = BreakerLayer::new(Arc::clone(&called));
    let mut service = layer.layer(service_fn(|()| pending::<Answer>()));
    poll_beside_a_panic(service.call(()));
    is_abandoned(&called);
}

#[test]
fn a_stream_and_a_body_that_somebodys_panic_drops_are_abandoned() {
    let called = breaker();
    drop_by_a_panic(GuardedStream::new(
        stream::pending::<Answer>(),
        permit(&called),
    ));
    is_abandoned(&called);
    let called = breaker();
    drop_by_a_panic(GuardedBody::new(Full::new(&b"data"[..]), permit(&called)));
    is_abandoned(&called);
}

#[test]
fn a_panic_of_a_timer_is_not_the_upstreams() {
    let called = breaker();
    let limits = Limits::new().first(Duration::from_secs(1));
    let timer = |_| -> future::Ready<()> { panic() };
    let items = GuardedStream::new(stream::pending::<Answer>(), permit(&called));
    let mut items = items.limits(limits, timer);
    assert!(panics(|| poll(&mut items)));
    drop(items);
    is_abandoned(&called);
}

#[test]
fn a_permit_in_plain_code_takes_a_panic_for_the_calls_unless_it_is_told() {
    let called = breaker();
    drop_by_a_panic(permit(&called));
    assert_eq!(called.state(), State::Open);
    let called = breaker();
    permit(&called).abandon();
    is_abandoned(&called);
}

#[test]
fn a_panic_of_the_call_itself_is_a_failure() {
    let fails = |call: &dyn Fn(&Arc<Breaker>) -> bool| {
        let called = breaker();
        assert!(call(&called));
        assert_eq!(called.state(), State::Open);
    };
    let poll = |future: Pin<&mut dyn Future<Output = ()>>| {
        let mut future = future;
        let mut context = Context::from_waker(Waker::noop());
        panics(|| future.as_mut().poll(&mut context).is_ready())
    };
    fails(&|breaker| {
        let call = breaker.call_async(async || -> Answer { panic() });
        poll(std::pin::pin!(call.map(drop)))
    });
    fails(&|breaker| {
        let call = breaker.call_async(|| -> future::Ready<Answer> { panic() });
        poll(std::pin::pin!(call.map(drop)))
    });
    fails(&|breaker| {
        let classify = |_: &Answer| -> Outcome { panic() };
        let call = breaker.call_async_with(|| future::ready(Ok(())), classify);
        poll(std::pin::pin!(call.map(drop)))
    });
}

#[test]
fn a_judge_that_panics_over_an_item_settles_as_panicked() {
    let called = breaker();
    let judge = |_: &Answer| -> Option<Outcome> { panic() };
    let items = stream::iter([Ok(()), Ok(())]);
    let mut items = GuardedStream::with_judge(items, permit(&called), judge);
    assert!(panics(|| poll(&mut items)));
    assert!(items.is_settled());
    assert_eq!(called.state(), State::Open);
    assert_eq!(poll(&mut items), Poll::Ready(Some(Ok(()))), "polled on");
    assert_eq!(called.generation(), 1, "nothing is settled twice");
}

#[test]
fn a_judge_that_panics_over_a_frame_settles_as_panicked() {
    let called = breaker();
    let judge = |_: &Result<_, _>| -> Option<Outcome> { panic() };
    let body = Full::new(&b"data"[..]);
    let mut body = GuardedBody::with_judge(body, permit(&called), judge);
    let mut context = Context::from_waker(Waker::noop());
    assert!(panics(|| Pin::new(&mut body)
        .poll_frame(&mut context)
        .is_ready()));
    assert!(body.is_settled());
    assert_eq!(called.state(), State::Open);
}

/// Has no objection to anything, until the end.
struct PanicsAtTheEnd;

impl<T> Judge<T> for PanicsAtTheEnd {
    fn item(&mut self, _: &T) -> Option<Report> {
        None
    }

    fn end(&mut self) -> Report {
        panic()
    }
}

#[test]
fn a_judge_that_panics_over_the_end_settles_as_panicked() {
    let called = breaker();
    let items = stream::iter([Ok::<_, Infallible>(())]);
    let mut items = GuardedStream::with_judge(items, permit(&called), PanicsAtTheEnd);
    assert!(poll(&mut items).is_ready());
    assert!(!items.is_settled());
    assert!(panics(|| poll(&mut items)));
    assert!(items.is_settled());
    assert_eq!((called.state(), called.generation()), (State::Open, 1));

    // A body that says at its last frame that it was the last.
    let called = breaker();
    let body = Full::new(&b"data"[..]);
    let mut body = GuardedBody::with_judge(body, permit(&called), PanicsAtTheEnd);
    let mut context = Context::from_waker(Waker::noop());
    assert!(panics(|| Pin::new(&mut body)
        .poll_frame(&mut context)
        .is_ready()));
    assert!(body.is_settled());
    assert_eq!((called.state(), called.generation()), (State::Open, 1));

    // One that has ended before it is guarded.
    let called = breaker();
    let permit = permit(&called);
    let over = Full::<&[u8]>::default();
    assert!(panics(|| GuardedBody::with_judge(
        over,
        permit,
        PanicsAtTheEnd
    )));
    assert_eq!((called.state(), called.generation()), (State::Open, 1));
    assert_eq!(called.totals().unwrap().calls.abandoned, 1);
}

fn poll<S: Stream + Unpin>(stream: &mut S) -> Poll<Option<S::Item>> {
    stream.poll_next_unpin(&mut Context::from_waker(Waker::noop()))
}
