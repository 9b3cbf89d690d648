//! A pause of the process itself blames nobody; an upstream that hangs is found all the same.
#![cfg(unix)]

use std::cell::Cell;
use std::convert::Infallible;
use std::future::poll_fn;
use std::io::{BufRead, BufReader};
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use cutout::adapters::body::{BodyError, GuardedBody};
use cutout::adapters::stream::{GuardedStream, Limits};
use cutout::{
    Breaker, Builder, Cause, Clock, ManualClock, Outcome, Overdue, Report, Settled, SlowRule, State,
};
use futures_util::{StreamExt, stream};
use http_body::{Body, Frame};

const LIMIT: Duration = Duration::from_millis(800);
const TICK: Duration = Duration::from_millis(50);
const PAUSE: Duration = Duration::from_secs(3);

fn builder() -> Builder<ManualClock> {
    rules(Breaker::builder().clock(ManualClock::new()))
}

/// All that judges by time.
fn rules<C: Clock>(builder: Builder<C>) -> Builder<C> {
    builder
        .slow(SlowRule {
            limit: LIMIT,
            ratio: 0.5,
        })
        .overdue(Overdue::Timeout(LIMIT))
        .timeout_ratio(0.5)
        .abandoned_after(LIMIT)
}

/// A breaker under steady load, and 24 calls in flight.
fn under_load() -> (
    ManualClock,
    Arc<Breaker<ManualClock>>,
    Vec<cutout::OwnedPermit<ManualClock>>,
) {
    let clock = ManualClock::new();
    let breaker = Arc::new(builder().clock(clock.clone()).build().unwrap());
    for _ in 0..60 {
        clock.advance(TICK);
        breaker.allow().unwrap().success();
    }
    let calls = (0..24).map(|_| breaker.allow_owned().unwrap()).collect();
    (clock, breaker, calls)
}

#[test]
fn calls_in_flight_are_not_charged_with_a_pause() {
    let (clock, breaker, calls) = under_load();
    clock.advance(PAUSE);
    for (index, permit) in calls.into_iter().enumerate() {
        let settled = match index % 4 {
            0 => permit.success(),
            1 => permit.done_after(Outcome::Success, PAUSE),
            2 => permit.timeout(),
            _ => {
                permit.abandon();
                continue;
            }
        };
        assert_ne!(settled, Settled::Tripped, "{index}");
    }
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(breaker.snapshot().counts().failures, 0);
    assert_eq!(breaker.snapshot().counts().slow, 0);
}

#[test]
fn a_second_pause_in_a_row_is_taken_for_the_upstreams() {
    let (clock, breaker, calls) = under_load();
    clock.advance(PAUSE);
    calls.into_iter().for_each(|permit| _ = permit.timeout());
    let calls: Vec<_> = (0..24).map(|_| breaker.allow_owned().unwrap()).collect();
    clock.advance(PAUSE);
    calls.into_iter().for_each(|permit| _ = permit.timeout());
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn an_upstream_that_hangs_while_calls_arrive_opens() {
    let (clock, breaker, calls) = under_load();
    let arriving = (0..).take_while(|_| {
        clock.advance(TICK);
        breaker.allow().is_ok_and(|permit| {
            std::mem::forget(permit);
            true
        })
    });
    assert!(arriving.take(100).count() < 30);
    assert_ne!(breaker.state(), State::Closed);
    drop(calls);
}

#[test]
fn a_heartbeat_tells_a_hanging_upstream_from_a_pause() {
    let (clock, breaker, calls) = under_load();
    for _ in 0..60 {
        clock.advance(TICK);
        breaker.heartbeat();
    }
    calls.into_iter().for_each(|permit| _ = permit.timeout());
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn a_lone_slow_call_is_slow_however_few_there_are() {
    let clock = ManualClock::new();
    let breaker = rules(Breaker::builder().clock(clock.clone()))
        .min_calls(1)
        .build()
        .unwrap();
    for _ in 0..10 {
        clock.advance(Duration::from_secs(60));
        let permit = breaker.allow().unwrap();
        clock.advance(PAUSE);
        if permit.done(Report::from(Outcome::Success)) == Settled::Tripped {
            let cause = breaker.allow().unwrap_err().cause();
            assert!(
                matches!(cause, Cause::SlowRatio | Cause::TimeoutRatio),
                "{cause}"
            );
            return;
        }
    }
    assert_eq!(breaker.state(), State::Open);
}

/// A timer that goes by the breaker's clock.
fn timer(clock: &ManualClock) -> impl Fn(Duration) -> Pin<Box<dyn Future<Output = ()>>> {
    let clock = clock.clone();
    move |limit| {
        let clock = clock.clone();
        let end = clock.now() + limit.as_nanos() as u64;
        Box::pin(poll_fn(move |_| match clock.now() >= end {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }))
    }
}

type Call = cutout::OwnedPermit<ManualClock>;

/// The timeouts on record after a stream that never yields was polled, time went on, and its limit was
/// found to be over.
fn timeouts_of_a_stream(
    clock: &ManualClock,
    breaker: &Breaker<ManualClock>,
    call: Call,
    passes: Duration,
) -> u32 {
    let never = stream::pending::<Result<(), ()>>();
    let limits = Limits::new().first(LIMIT);
    let mut stream = GuardedStream::new(never, call).limits(limits, timer(clock));
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(stream.poll_next_unpin(cx).is_pending());
    clock.advance(passes);
    assert!(matches!(
        stream.poll_next_unpin(cx),
        Poll::Ready(Some(Err(elapsed))) if elapsed.limit() == LIMIT
    ));
    breaker.snapshot().counts().timeouts
}

/// A body that never has another frame.
struct Silent;

impl Body for Silent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }
}

/// The same of a body.
fn timeouts_of_a_body(
    clock: &ManualClock,
    breaker: &Breaker<ManualClock>,
    call: Call,
    passes: Duration,
) -> u32 {
    let limits = Limits::new().first(LIMIT);
    let mut body = GuardedBody::new(Silent, call).limits(limits, timer(clock));
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(Pin::new(&mut body).poll_frame(cx).is_pending());
    clock.advance(passes);
    assert!(matches!(
        Pin::new(&mut body).poll_frame(cx),
        Poll::Ready(Some(Err(BodyError::Elapsed(elapsed)))) if elapsed.limit() == LIMIT
    ));
    breaker.snapshot().counts().timeouts
}

#[test]
fn a_limit_that_is_heard_only_at_the_thaw_times_nothing_out() {
    for timeouts_of in [timeouts_of_a_stream, timeouts_of_a_body] {
        for (passes, timeouts) in [(LIMIT, 1), (LIMIT + LIMIT / 4, 1), (PAUSE, 0)] {
            // No rule judges by time: the breaker itself cannot tell a pause.
            let clock = ManualClock::new();
            let breaker = Breaker::builder().clock(clock.clone()).build().unwrap();
            let breaker = Arc::new(breaker);
            let call = breaker.allow_owned().unwrap();
            assert_eq!(timeouts_of(&clock, &breaker, call, passes), timeouts);
        }
        // Here it can, so a pause need not be long beside the limit.
        let (clock, breaker, mut calls) = under_load();
        let call = calls.pop().unwrap();
        assert_eq!(timeouts_of(&clock, &breaker, call, LIMIT + LIMIT / 4), 0);
    }
}

#[test]
fn each_wait_of_a_consumer_is_measured_by_itself() {
    let clock = ManualClock::new();
    let breaker = Breaker::builder().clock(clock.clone()).build().unwrap();
    let breaker = Arc::new(breaker);
    let arrived = Cell::new(false);
    let items = stream::poll_fn(|_| match arrived.take() {
        true => Poll::Ready(Some(Ok::<_, ()>(1))),
        false => Poll::Pending,
    });
    let items = GuardedStream::new(items, breaker.allow_owned().unwrap());
    let limits = Limits::new().first(LIMIT).idle(LIMIT);
    let mut items = items.limits(limits, timer(&clock));
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(items.poll_next_unpin(cx).is_pending());
    arrived.set(true);
    assert!(items.poll_next_unpin(cx).is_ready());
    // The consumer takes its time.
    clock.advance(PAUSE);
    assert!(items.poll_next_unpin(cx).is_pending());
    clock.advance(LIMIT);
    let elapsed = items.poll_next_unpin(cx);
    assert!(matches!(elapsed, Poll::Ready(Some(Err(_)))));
    assert_eq!(breaker.snapshot().counts().timeouts, 1);
}

/// Says which part this process plays; without it, none.
const PART: &str = "CUTOUT_TEST_PART";

/// Not a test of its own: what the two below run in a process that they can stop.
#[test]
fn load() {
    let Ok(part) = std::env::var(PART) else {
        return;
    };
    let breaker = Arc::new(rules(Breaker::builder()).totals(true).build().unwrap());
    let is_hanging = Arc::new(AtomicBool::new(false));
    let end = Instant::now() + Duration::from_secs(60);
    for _ in 0..24 {
        let (breaker, is_hanging) = (breaker.clone(), is_hanging.clone());
        thread::spawn(move || {
            while Instant::now() < end {
                let Ok(permit) = breaker.allow() else {
                    thread::sleep(Duration::from_millis(5));
                    continue;
                };
                let called = Instant::now();
                let hangs = is_hanging.load(Ordering::Relaxed);
                thread::sleep(Duration::from_millis(if hangs { 2000 } else { 50 }));
                // As a client's timeout would: it cannot tell why the time has passed.
                match called.elapsed() {
                    late if late > LIMIT => permit.timeout(),
                    _ => permit.success(),
                };
            }
        });
    }
    thread::sleep(Duration::from_secs(3));
    println!("steady");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    if part == "hanging" {
        is_hanging.store(true, Ordering::Relaxed);
        while breaker.state() == State::Closed && Instant::now() < end {
            thread::sleep(Duration::from_millis(5));
        }
    }
    let trips: u64 = breaker
        .totals()
        .unwrap()
        .transitions
        .iter()
        .map(|&(_, _, times)| times)
        .sum();
    println!("trips: {trips}");
}

struct Process(Child);

impl Process {
    fn start(part: &str) -> Self {
        let exe = std::env::current_exe().unwrap();
        let mut command = Command::new(exe);
        command
            .args(["--exact", "load", "--nocapture"])
            .env(PART, part);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(child.spawn().unwrap())
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill")
            .args([signal, &self.0.id().to_string()])
            .status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How often the breaker moved in a process that does this between being steady and the end.
fn trips(part: &str, meanwhile: impl FnOnce(&Process)) -> u64 {
    let mut process = Process::start(part);
    let mut lines = BufReader::new(process.0.stdout.take().unwrap()).lines();
    let mut until = |prefix: &str| loop {
        let line = lines.next().expect("the process goes on").unwrap();
        if let Some(index) = line.find(prefix) {
            return line[index + prefix.len()..].to_owned();
        }
    };
    until("steady");
    meanwhile(&process);
    drop(process.0.stdin.take());
    until("trips: ").parse().unwrap()
}

#[test]
fn a_process_that_is_stopped_for_three_seconds_opens_nothing_at_the_thaw() {
    let trips = trips("stopped", |process| {
        process.signal("-STOP");
        thread::sleep(PAUSE);
        process.signal("-CONT");
        // The thaw: each call in flight ends, and many more.
        thread::sleep(Duration::from_secs(1));
    });
    assert_eq!(trips, 0);
}

#[test]
fn a_process_whose_upstream_hangs_opens() {
    assert!(trips("hanging", |_| {}) > 0);
}
