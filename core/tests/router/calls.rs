//! Calls that go from target to target.

use std::sync::Mutex;

use cutout::router::{Attempts, InFlight, Policy, RouteError, Router, Step, Target};
use cutout::{ManualClock, Outcome, State};

use super::{WAIT, breaker, by, trip};

/// A router over targets whose payload is the answer of a call to them.
fn answering(answers: &[Result<u32, u32>]) -> Router<Result<u32, u32>, ManualClock> {
    let clock = ManualClock::new();
    let target = |(position, &answer): (usize, &Result<u32, u32>)| {
        Target::new(position.to_string(), answer, breaker(&clock, WAIT))
    };
    Router::new(by(Policy::Priority), answers.iter().enumerate().map(target)).unwrap()
}

fn call(router: &Router<Result<u32, u32>, ManualClock>) -> Result<u32, RouteError<u32>> {
    router.call(&mut Attempts::new(), |answer| *answer, judge)
}

/// Errors below ten are the request's own.
fn judge(result: &Result<u32, u32>) -> Step {
    match result {
        Err(..10) => Step::stop(Outcome::Ignored),
        other => Step::of(other),
    }
}

fn states<T>(router: &Router<T, ManualClock>) -> Vec<State> {
    router
        .members()
        .iter()
        .map(|member| member.breaker().state())
        .collect()
}

#[test]
fn a_call_moves_on_until_a_target_answers() {
    let router = answering(&[Err(10), Err(11), Ok(1), Ok(2)]);
    assert_eq!(call(&router), Ok(1));
    assert_eq!(
        states(&router),
        [State::Open, State::Open, State::Closed, State::Closed]
    );
    assert_eq!(call(&router), Ok(1));
}

#[test]
fn the_caller_decides_which_failures_end_the_request() {
    let router = answering(&[Err(9), Ok(1)]);
    assert_eq!(call(&router), Err(RouteError::Inner(9)));
    assert_eq!(states(&router), [State::Closed; 2]);
}

#[test]
fn the_last_error_is_told_when_no_target_is_left_and_the_rejection_when_none_was_called() {
    let router = answering(&[Err(10), Err(11)]);
    trip_first(&router);
    assert_eq!(call(&router), Err(RouteError::Inner(11)));
    let Err(RouteError::NoTarget(none)) = call(&router) else {
        panic!("a call was made")
    };
    assert_eq!(none.retry_after(), Some(WAIT));
}

fn trip_first(router: &Router<Result<u32, u32>, ManualClock>) {
    router.members()[0].breaker().allow().unwrap().failure();
}

#[test]
fn an_awaited_call_does_the_same_and_can_be_spawned() {
    fn is_send(_: &impl Send) {}
    let router = answering(&[Err(10), Ok(1)]);
    let asked = Mutex::new(Vec::new());
    let request = async {
        let mut attempts = Attempts::new();
        let call = async |target: InFlight<Result<u32, u32>, ManualClock>| {
            asked.lock().unwrap().push(*target.payload());
            std::future::ready(()).await;
            *target.payload()
        };
        router.call_async(&mut attempts, call, judge).await
    };
    is_send(&request);
    assert_eq!(futures_executor::block_on(request), Ok(1));
    assert_eq!(*asked.lock().unwrap(), [Err(10), Ok(1)]);
    assert_eq!(states(&router), [State::Open, State::Closed]);
}

#[test]
fn a_cancelled_call_frees_its_probe_and_is_not_in_flight() {
    let clock = ManualClock::new();
    let router = super::router(&clock, by(Policy::Priority), &["a"]);
    trip(&router, "a");
    clock.advance(WAIT);
    let mut attempts = Attempts::new();
    let call = async |_target| std::future::pending::<Result<(), ()>>().await;
    let mut request = Box::pin(router.call_async(&mut attempts, call, Step::of));
    let poll = futures_executor::block_on(futures_util::future::poll_immediate(&mut request));
    assert_eq!(poll, None);
    let member = &router.members()[0];
    assert_eq!(
        (member.in_flight(), member.breaker().is_available()),
        (1, false)
    );
    drop(request);
    assert_eq!(
        (member.in_flight(), member.breaker().is_available()),
        (0, true)
    );
}
