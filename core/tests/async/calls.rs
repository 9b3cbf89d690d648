//! `call_async`: every way to end is accounted for.

use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cutout::{CallError, Outcome, State};
use tokio::time::advance;

use crate::{WAIT, counts, fragile, sturdy};

#[tokio::test]
async fn ok_is_a_success_and_err_a_failure() {
    let breaker = sturdy().build().unwrap();
    let answer = breaker.call_async(async || Ok::<_, ()>("answer")).await;
    assert_eq!(answer, Ok("answer"));
    // A closure that returns a future will do as well.
    let answer = breaker.call_async(|| ready(Err::<(), _>("down"))).await;
    assert_eq!(answer, Err(CallError::Inner("down")));
    assert_eq!(
        (counts(&breaker).samples, counts(&breaker).failures),
        (2, 1)
    );
}

#[tokio::test]
async fn the_classifier_decides() {
    let breaker = sturdy().build().unwrap();
    for (outcome, samples) in [(Outcome::Ignored, 0), (Outcome::Timeout, 1)] {
        let answer = breaker
            .call_async_with(async || Err::<(), _>(404), |_| outcome)
            .await;
        assert_eq!(answer, Err(CallError::Inner(404)));
        assert_eq!(counts(&breaker).samples, samples);
    }
    assert_eq!(counts(&breaker).timeouts, 1);
}

#[tokio::test]
async fn a_rejected_call_is_not_made() {
    let breaker = fragile().build().unwrap();
    breaker.force_open(None, "maintenance");
    let answer = breaker
        .call_async(|| -> std::future::Ready<Result<(), ()>> { panic!("it is made") })
        .await;
    assert!(
        matches!(answer, Err(CallError::Rejected(rejected)) if rejected.state() == State::ForcedOpen)
    );
}

#[tokio::test]
async fn a_call_that_is_not_polled_asks_for_nothing() {
    let breaker = fragile().build().unwrap();
    breaker.force_open(Some(WAIT), "a drill");
    let call = breaker.call_async(async || Ok::<_, ()>(()));
    breaker.close("over");
    assert_eq!(call.await, Ok(()));
}

#[tokio::test]
async fn a_hundred_cancelled_calls_record_nothing() {
    let breaker = Arc::new(fragile().build().unwrap());
    let started = Arc::new(AtomicU32::new(0));
    let calls: Vec<_> = (0..100)
        .map(|_| {
            let (breaker, started) = (Arc::clone(&breaker), Arc::clone(&started));
            tokio::spawn(async move {
                let call = async || {
                    started.fetch_add(1, Ordering::Relaxed);
                    pending::<Result<(), ()>>().await
                };
                breaker.call_async(call).await
            })
        })
        .collect();
    // Until all are in flight.
    while started.load(Ordering::Relaxed) < 100 {
        tokio::task::yield_now().await;
    }
    for call in calls {
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
    }
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(counts(&breaker).samples, 0);
}

#[tokio::test]
async fn cancelled_calls_are_failures_if_the_policy_says_so() {
    let breaker = fragile().abandoned(Outcome::Failure).build().unwrap();
    let call = breaker.call_async(pending::<Result<(), ()>>);
    assert!(tokio::time::timeout(WAIT / 100, call).await.is_err());
    assert_eq!(breaker.state(), State::Open);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_probe_frees_its_slot() {
    let breaker = fragile().build().unwrap();
    breaker.allow().unwrap().failure();
    advance(WAIT).await;
    let probe = breaker.call_async(pending::<Result<(), ()>>);
    assert!(tokio::time::timeout(WAIT, probe).await.is_err());
    assert_eq!(breaker.call_async(async || Ok::<_, ()>(())).await, Ok(()));
    assert_eq!(breaker.state(), State::Closed);
}

#[tokio::test]
async fn a_panic_counts_by_its_own_policy() {
    for (panicked, state) in [
        (Outcome::Failure, State::Open),
        (Outcome::Ignored, State::Closed),
    ] {
        let breaker = Arc::new(fragile().panicked(panicked).build().unwrap());
        let call = {
            let breaker = Arc::clone(&breaker);
            tokio::spawn(async move {
                let call = async || -> Result<(), ()> {
                    std::panic::resume_unwind(Box::new("a bad call"));
                };
                breaker.call_async(call).await
            })
        };
        assert!(call.await.unwrap_err().is_panic());
        assert_eq!(breaker.state(), state);
    }
}
