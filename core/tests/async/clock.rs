//! `TokioClock` under paused time.

use std::time::Duration;

use cutout::adapters::tokio::TokioClock;
use cutout::{Clock, State};
use tokio::time::advance;

use crate::{WAIT, fragile};

#[tokio::test(start_paused = true)]
async fn it_stands_still_when_time_does_and_moves_when_it_is_moved() {
    let clock = TokioClock::new();
    let (now, unix) = (clock.now(), clock.unix_time());
    std::thread::sleep(Duration::from_millis(2));
    assert_eq!((clock.now(), clock.unix_time()), (now, unix));
    advance(WAIT).await;
    assert_eq!(clock.now(), now + WAIT.as_nanos() as u64);
    assert_eq!(clock.unix_time(), unix + WAIT);
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_over_at_its_deadline_and_no_sooner() {
    let breaker = fragile().build().unwrap();
    breaker.allow().unwrap().failure();
    advance(WAIT - Duration::from_micros(1)).await;
    assert_eq!(breaker.state(), State::Open);
    advance(Duration::from_micros(1)).await;
    assert_eq!(breaker.state(), State::HalfOpen);
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_restored_later_has_waited_by_paused_time_too() {
    let clock = TokioClock::new();
    let breaker = fragile().clock(clock).build().unwrap();
    breaker.allow().unwrap().failure();
    let snapshot = breaker.snapshot();
    advance(WAIT / 2).await;
    let restored = fragile().clock(clock).restore(snapshot).build().unwrap();
    let left = restored.allow().unwrap_err().retry_after();
    assert_eq!(left, Some(WAIT / 2));
}
