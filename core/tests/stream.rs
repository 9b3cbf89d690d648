//! Streams that carry a permit: settled once, on every path.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use cutout::adapters::stream::{Elapsed, GuardedStream, Limits};
use cutout::adapters::tokio::TokioClock;
use cutout::classify::Judge;
use cutout::{Breaker, Builder, ManualClock, Outcome, OwnedPermit, Report, Settled, State};
use futures_util::{FutureExt, Stream, StreamExt, stream};

type Item = Result<u32, &'static str>;

/// A breaker that opens at the third failure in a row.
fn breaker() -> Arc<Breaker<ManualClock>> {
    Arc::new(
        Builder::new(ManualClock::new())
            .consecutive_failures(3)
            .build()
            .unwrap(),
    )
}

fn permit(breaker: &Arc<Breaker<ManualClock>>) -> OwnedPermit<ManualClock> {
    breaker.allow_owned().unwrap()
}

/// The beginning of a stream that breaks twice.
fn items_of(count: usize) -> Vec<Item> {
    [Ok(1), Err("reset"), Ok(2), Err("reset")]
        .into_iter()
        .take(count)
        .collect()
}

/// What a breaker has recorded, and how often: a permit that settled twice would show.
fn recorded(breaker: &Breaker<ManualClock>) -> Vec<Outcome> {
    let samples = breaker.snapshot().samples;
    samples.iter().map(|sample| sample.outcome).collect()
}

fn poll<S: Stream + Unpin>(stream: &mut S) -> Poll<Option<S::Item>> {
    stream.poll_next_unpin(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn a_clean_end_is_one_success_however_often_it_is_polled() {
    let breaker = breaker();
    let items = stream::iter([Ok(1), Err("late")]).take(1).fuse();
    let mut items = GuardedStream::new(items, permit(&breaker));
    assert_eq!(poll(&mut items), Poll::Ready(Some(Ok(1))));
    assert_eq!(recorded(&breaker), [], "not before its end");
    for _ in 0..5 {
        assert_eq!(poll(&mut items), Poll::Ready(None));
        assert!(items.is_settled());
    }
    drop(items);
    assert_eq!(recorded(&breaker), [Outcome::Success]);
}

#[test]
fn three_streams_that_break_after_good_beginnings_open_the_breaker() {
    let breaker = breaker();
    for _ in 0..3 {
        let items = GuardedStream::new(stream::iter(items_of(4)), permit(&breaker));
        assert_eq!(
            items.collect::<Vec<_>>().now_or_never().unwrap(),
            items_of(4)
        );
    }
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn a_stream_that_breaks_is_one_failure_whatever_comes_after() {
    let breaker = breaker();
    let items = GuardedStream::new(stream::iter(items_of(4)), permit(&breaker));
    assert_eq!(items.count().now_or_never(), Some(4));
    assert_eq!(recorded(&breaker), [Outcome::Failure]);
}

#[test]
fn a_stream_that_is_dropped_early_is_settled_by_the_policy() {
    for (abandoned, expected) in [
        (Outcome::Ignored, vec![]),
        (Outcome::Failure, vec![Outcome::Failure]),
    ] {
        let builder = Builder::new(ManualClock::new()).abandoned(abandoned);
        let breaker = Arc::new(builder.build().unwrap());
        let mut items = GuardedStream::new(stream::iter(items_of(1)), permit(&breaker));
        assert_eq!(poll(&mut items), Poll::Ready(Some(Ok(1))));
        drop(items);
        assert_eq!(recorded(&breaker), expected);
    }
}

#[test]
fn a_stream_that_panics_is_a_failure_though_it_is_kept() {
    let breaker = breaker();
    let panics = stream::poll_fn(|_| -> Poll<Option<Item>> { panic!("asked to") });
    let mut items = GuardedStream::new(panics, permit(&breaker));
    assert!(catch_unwind(AssertUnwindSafe(|| poll(&mut items))).is_err());
    assert_eq!(recorded(&breaker), [Outcome::Failure]);
    assert!(items.is_settled());
}

/// Whole only when the last item says so.
struct UntilZero;

impl Judge<u32> for UntilZero {
    fn item(&mut self, item: &u32) -> Option<Report> {
        (*item == 0).then(|| Outcome::Success.into())
    }

    fn end(&mut self) -> Report {
        Outcome::Timeout.into()
    }
}

#[test]
fn a_judge_decides_on_items_of_any_type_and_on_the_end() {
    for (items, expected) in [
        (vec![2, 1, 0, 0], Outcome::Success),
        (vec![2, 1], Outcome::Timeout),
        (vec![], Outcome::Timeout),
    ] {
        let breaker = breaker();
        let count = items.len();
        let items = stream::iter(items);
        let items = GuardedStream::with_judge(items, permit(&breaker), UntilZero);
        assert_eq!(items.count().now_or_never(), Some(count));
        assert_eq!(recorded(&breaker), [expected]);
    }
}

#[test]
fn a_closure_is_a_judge() {
    let breaker = breaker();
    let judge = |item: &u32| (*item > 1).then_some(Outcome::Failure);
    let items = stream::iter([1, 2, 3]);
    let items = GuardedStream::with_judge(items, permit(&breaker), judge);
    assert_eq!(items.count().now_or_never(), Some(3));
    assert_eq!(recorded(&breaker), [Outcome::Failure]);
}

#[test]
fn a_consumer_that_knows_better_settles_once() {
    let breaker = breaker();
    let mut items = GuardedStream::new(stream::iter(items_of(4)), permit(&breaker));
    for expected in [Some(Settled::Recorded), None] {
        assert_eq!(Pin::new(&mut items).settle(Outcome::Timeout), expected);
    }
    assert_eq!(items.count().now_or_never(), Some(4));
    assert_eq!(recorded(&breaker), [Outcome::Timeout]);
}

#[test]
fn the_size_is_that_of_the_stream_inside() {
    let breaker = breaker();
    let items = GuardedStream::new(stream::iter(items_of(3)), permit(&breaker));
    assert_eq!(items.size_hint(), (3, Some(3)));
    let mut limited = pin!(items.limits(Limits::new(), tokio::time::sleep));
    assert_eq!(
        limited.size_hint(),
        (1, Some(4)),
        "a limit may cut it short"
    );
    assert!(poll(&mut limited).is_ready());
    assert_eq!(limited.size_hint(), (1, Some(3)));
}

/// Items that each come after a pause, in seconds.
fn with_pauses(pauses: &[u64]) -> Pin<Box<dyn Stream<Item = Item>>> {
    let items = stream::iter(pauses.to_vec()).then(async |seconds| {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        Ok(1)
    });
    items.boxed_local()
}

const LIMITS: Limits = Limits::new()
    .first(Duration::from_secs(20))
    .idle(Duration::from_secs(5));

/// What a stream with these pauses and [`LIMITS`] yields, and what is recorded.
async fn limited(pauses: &[u64]) -> (Vec<Result<Item, Elapsed>>, Vec<Outcome>) {
    let breaker = breaker();
    let items = with_pauses(pauses);
    let items = GuardedStream::new(items, permit(&breaker)).limits(LIMITS, tokio::time::sleep);
    let yielded = items.collect().await;
    (yielded, recorded(&breaker))
}

#[tokio::test(start_paused = true)]
async fn a_stream_within_its_limits_is_a_success() {
    let (items, outcomes) = limited(&[19, 4, 4, 0, 4]).await;
    assert_eq!(items, [Ok(Ok(1)); 5]);
    assert_eq!(outcomes, [Outcome::Success]);
}

#[tokio::test(start_paused = true)]
async fn a_first_item_that_is_late_is_a_timeout() {
    let started = tokio::time::Instant::now();
    let (items, outcomes) = limited(&[21]).await;
    assert_eq!(started.elapsed().as_secs(), 20);
    let [Err(elapsed)] = items[..] else {
        panic!("{items:?}");
    };
    assert!(elapsed.is_first());
    assert_eq!(elapsed.limit(), Duration::from_secs(20));
    assert_eq!(elapsed.to_string(), "nothing arrived within 20s");
    assert_eq!(outcomes, [Outcome::Timeout]);
}

#[tokio::test(start_paused = true)]
async fn silence_after_an_item_is_a_timeout() {
    let started = tokio::time::Instant::now();
    let (items, outcomes) = limited(&[10, 4, 6, 1]).await;
    assert_eq!(started.elapsed().as_secs(), 10 + 4 + 5);
    let [Ok(Ok(1)), Ok(Ok(1)), Err(elapsed)] = items[..] else {
        panic!("{items:?}");
    };
    assert!(!elapsed.is_first());
    assert_eq!(elapsed.to_string(), "nothing more arrived within 5s");
    assert_eq!(outcomes, [Outcome::Timeout]);
}

#[tokio::test(start_paused = true)]
async fn a_slow_consumer_makes_no_stream_late() {
    let breaker = breaker();
    let items = GuardedStream::new(
        stream::iter(items_of(1)).chain(with_pauses(&[1])),
        permit(&breaker),
    );
    let mut items = pin!(items.limits(LIMITS, tokio::time::sleep));
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(items.next().await, Some(Ok(Ok(1))));
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(items.next().await, None);
    assert_eq!(recorded(&breaker), [Outcome::Success]);
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_is_not_set_never_ends_a_stream() {
    let breaker = breaker();
    let items = GuardedStream::new(with_pauses(&[1_000_000; 2]), permit(&breaker));
    let items = items.limits(Limits::new(), tokio::time::sleep);
    assert_eq!(items.count().await, 2);
    assert_eq!(recorded(&breaker), [Outcome::Success]);
}

#[tokio::test(start_paused = true)]
async fn a_slow_stream_is_measured_from_admission_to_its_end() {
    let slow = cutout::SlowRule {
        limit: Duration::from_secs(10),
        ratio: 1.0,
    };
    let breaker = Arc::new(Builder::new(TokioClock::new()).slow(slow).build().unwrap());
    for pauses in [[4, 5], [4, 6]] {
        let permit = breaker.allow_owned().unwrap();
        let items = GuardedStream::new(with_pauses(&pauses), permit);
        assert_eq!(items.count().await, 2);
    }
    let slow: Vec<_> = breaker
        .snapshot()
        .samples
        .iter()
        .map(|sample| sample.slow)
        .collect();
    assert_eq!(slow, [false, true]);
}
