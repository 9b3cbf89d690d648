//! Places, permits and attempts in either order: the guide's page on retries, claim by claim.

use std::cell::Cell;
use std::time::Duration;

use backon::{ConstantBuilder, Retryable};
use cutout::{CallError, State};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

use crate::{WAIT, counts, fragile, sturdy};

const PAUSE: Duration = Duration::from_millis(100);

/// Three attempts in all.
fn twice_more() -> ConstantBuilder {
    ConstantBuilder::default()
        .with_delay(PAUSE)
        .with_max_times(2)
}

/// An upstream that fails so many times, then answers.
struct Upstream {
    failures_left: Cell<u32>,
    calls: Cell<u32>,
}

impl Upstream {
    fn failing(times: u32) -> Self {
        Self {
            failures_left: Cell::new(times),
            calls: Cell::new(0),
        }
    }

    async fn call(&self) -> Result<(), &'static str> {
        self.calls.set(self.calls.get() + 1);
        match self.failures_left.get() {
            0 => Ok(()),
            left => {
                self.failures_left.set(left - 1);
                Err("down")
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn inside_three_failed_attempts_are_one_failure() {
    let breaker = sturdy().build().unwrap();
    let upstream = Upstream::failing(9);
    let answer = breaker
        .call_async(|| (|| upstream.call()).retry(twice_more()))
        .await;
    assert_eq!(answer, Err(CallError::Inner("down")));
    assert_eq!(upstream.calls.get(), 3);
    assert_eq!(
        (counts(&breaker).samples, counts(&breaker).failures),
        (1, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn inside_a_call_that_comes_right_is_one_success() {
    let breaker = sturdy().build().unwrap();
    let upstream = Upstream::failing(2);
    let answer = breaker
        .call_async(|| (|| upstream.call()).retry(twice_more()))
        .await;
    assert_eq!(answer, Ok(()));
    assert_eq!(
        (counts(&breaker).samples, counts(&breaker).failures),
        (1, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn inside_a_rejection_costs_no_attempt_and_no_time() {
    let breaker = fragile().build().unwrap();
    breaker.force_open(None, "maintenance");
    let upstream = Upstream::failing(0);
    let start = Instant::now();
    let answer = breaker
        .call_async(|| (|| upstream.call()).retry(twice_more()))
        .await;
    assert!(matches!(answer, Err(CallError::Rejected(_))));
    assert_eq!((upstream.calls.get(), start.elapsed()), (0, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn inside_a_probe_keeps_its_slot_between_attempts() {
    let breaker = fragile().build().unwrap();
    breaker.allow().unwrap().failure();
    sleep(WAIT).await;
    let upstream = Upstream::failing(1);
    let probe = breaker.call_async(|| (|| upstream.call()).retry(twice_more()));
    let other = async {
        sleep(PAUSE / 2).await;
        breaker.allow().map(|permit| permit.ignore())
    };
    let (probe, other) = tokio::join!(probe, other);
    assert_eq!(probe, Ok(()));
    assert_eq!(other.unwrap_err().state(), State::HalfOpen);
    assert_eq!(breaker.state(), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn outside_each_attempt_counts() {
    let breaker = sturdy().build().unwrap();
    let upstream = Upstream::failing(2);
    let attempt = || breaker.call_async(|| upstream.call());
    assert_eq!(attempt.retry(twice_more()).await, Ok(()));
    assert_eq!(
        (counts(&breaker).samples, counts(&breaker).failures),
        (3, 2)
    );
}

#[tokio::test(start_paused = true)]
async fn outside_the_attempts_end_when_the_breaker_opens() {
    let breaker = fragile().build().unwrap();
    let upstream = Upstream::failing(9);
    let attempt = || breaker.call_async(|| upstream.call());
    let start = Instant::now();
    let answer = attempt
        .retry(twice_more().with_max_times(9))
        .when(|error| matches!(error, CallError::Inner(_)))
        .await;
    assert!(matches!(answer, Err(CallError::Rejected(_))));
    // The first opened it, the second was rejected and not tried again.
    assert_eq!((upstream.calls.get(), start.elapsed()), (1, PAUSE));
}

#[tokio::test(start_paused = true)]
async fn a_place_taken_first_costs_a_probe_nothing() {
    let (places, breaker) = (Semaphore::new(1), fragile().build().unwrap());
    breaker.allow().unwrap().failure();
    sleep(WAIT).await;
    let taken = places.acquire().await.unwrap();
    // It queues for the place, and holds no slot meanwhile.
    let queueing = async {
        let _place = places.acquire().await.unwrap();
        breaker.call_async(async || Ok::<_, ()>(())).await
    };
    assert!(timeout(PAUSE, queueing).await.is_err());
    assert_eq!(breaker.snapshot().probes_out, 0);
    drop(taken);
    assert!(breaker.allow().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_permit_taken_first_waits_in_the_queue_with_its_slot() {
    let (places, breaker) = (Semaphore::new(1), fragile().build().unwrap());
    breaker.allow().unwrap().failure();
    sleep(WAIT).await;
    let _taken = places.acquire().await.unwrap();
    let probe = breaker.call_async(async || {
        let _place = places.acquire().await.map_err(|_| ())?;
        Ok::<_, ()>(())
    });
    let other = async {
        sleep(PAUSE).await;
        breaker.allow().map(|permit| permit.ignore())
    };
    let (probe, other) = tokio::join!(timeout(PAUSE * 2, probe), other);
    assert!(probe.is_err());
    assert_eq!(other.unwrap_err().state(), State::HalfOpen);
}
