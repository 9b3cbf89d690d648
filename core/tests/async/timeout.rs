//! `call_timeout`: what takes too long is a timeout.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use cutout::adapters::tokio::{TimedCallError, TokioClock};
use cutout::{Cause, Outcome, State, Throttle};
use tokio::time::{Instant, sleep};

use crate::{WAIT, counts, fragile, sturdy};

const LIMIT: Duration = Duration::from_secs(2);

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_settles_as_a_timeout_and_is_dropped() {
    let breaker = sturdy().build().unwrap();
    let witness = Arc::new(());
    let held = Arc::clone(&witness);
    let start = Instant::now();
    let answer = breaker
        .call_timeout(LIMIT, async move || {
            let result = pending::<Result<(), ()>>().await;
            drop(held);
            result
        })
        .await;
    assert_eq!(answer, Err(TimedCallError::TimedOut(LIMIT)));
    assert_eq!(start.elapsed(), LIMIT);
    assert_eq!(counts(&breaker).timeouts, 1);
    assert_eq!(Arc::strong_count(&witness), 1, "the call is gone");
}

#[tokio::test(start_paused = true)]
async fn a_call_in_time_is_what_it_says() {
    let breaker = sturdy().build().unwrap();
    let in_time = async || {
        sleep(LIMIT - Duration::from_millis(1)).await;
        Err::<(), _>("down")
    };
    let answer = breaker.call_timeout(LIMIT, in_time).await;
    assert_eq!(answer, Err(TimedCallError::Inner("down")));
    let answer = breaker
        .call_timeout_with(LIMIT, in_time, |_| Outcome::Ignored)
        .await;
    assert_eq!(answer, Err(TimedCallError::Inner("down")));
    let counts = counts(&breaker);
    assert_eq!(
        (counts.samples, counts.failures, counts.timeouts),
        (1, 1, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn timeouts_open_the_breaker_and_a_hanging_probe_opens_it_again() {
    let breaker = fragile().build().unwrap();
    let hang = || breaker.call_timeout(LIMIT, pending::<Result<(), ()>>);
    assert_eq!(hang().await, Err(TimedCallError::TimedOut(LIMIT)));
    assert!(
        matches!(hang().await, Err(TimedCallError::Rejected(rejected)) if rejected.retry_after() == Some(WAIT))
    );
    sleep(WAIT).await;
    assert_eq!(hang().await, Err(TimedCallError::TimedOut(LIMIT)));
    assert_eq!(breaker.state(), State::Open);
}

#[tokio::test(start_paused = true)]
async fn dropped_before_its_limit_a_call_is_abandoned() {
    let breaker = fragile().build().unwrap();
    let call = breaker.call_timeout(LIMIT, pending::<Result<(), ()>>);
    assert!(tokio::time::timeout(LIMIT / 2, call).await.is_err());
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(counts(&breaker).samples, 0);
}

#[tokio::test(start_paused = true)]
async fn limits_of_nothing_and_of_all_time_are_legal() {
    let breaker = sturdy().build().unwrap();
    let answer = breaker
        .call_timeout(Duration::ZERO, pending::<Result<(), ()>>)
        .await;
    assert_eq!(answer, Err(TimedCallError::TimedOut(Duration::ZERO)));
    let answer = breaker
        .call_timeout(Duration::MAX, async || Ok::<_, ()>(7))
        .await;
    assert_eq!(answer, Ok(7));
}

#[tokio::test(start_paused = true)]
async fn a_throttle_counts_a_call_that_takes_too_long_and_then_refuses_a_share() {
    const SHORT: Duration = Duration::from_millis(20);
    let throttle = Throttle::builder()
        .clock(TokioClock::new())
        .seed(1)
        .build()
        .unwrap();
    let in_time = async || Ok::<_, ()>(());
    assert_eq!(throttle.call_timeout(SHORT, in_time).await, Ok(()));
    let (mut timed_out, mut refused) = (0, 0);
    for _ in 0..50 {
        match throttle
            .call_timeout(SHORT, pending::<Result<(), ()>>)
            .await
        {
            Err(TimedCallError::TimedOut(SHORT)) => timed_out += 1,
            Err(TimedCallError::Rejected(rejected)) => {
                assert_eq!(rejected.cause(), Cause::Throttled);
                refused += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    let share = throttle.share();
    assert_eq!((share.accepts, share.failures), (1, timed_out));
    assert_eq!(share.requests, 1 + timed_out + refused);
    assert!(refused > 5, "{refused}");
    let own = throttle.call_timeout_with(SHORT, in_time, |_| Outcome::Ignored);
    let _ = own.await;
    assert_eq!(throttle.share().accepts, 1);
}
