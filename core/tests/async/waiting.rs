//! `WaitingRoom`: what ends a wait, and when.

use std::sync::Arc;
use std::time::Duration;

use cutout::adapters::tokio::{TokioClock, WaitingRoom};
use cutout::{Builder, Clock, OpenWait, OwnedPermit, Rejected, Settled, State};
use tokio::task::JoinHandle;
use tokio::time::{Instant, advance, sleep};

use crate::{LEASE, WAIT, fragile};

type Room = WaitingRoom<TokioClock>;
type Waiter = JoinHandle<(Result<OwnedPermit<TokioClock>, Rejected>, Duration)>;

const LONG: Duration = Duration::from_secs(3600);

/// A room before an open breaker.
fn open(builder: Builder<TokioClock>) -> Arc<Room> {
    let room = WaitingRoom::build(builder).unwrap();
    assert_eq!(room.breaker().allow().unwrap().failure(), Settled::Tripped);
    Arc::new(room)
}

/// A task that waits; it answers with what it got and how long that took.
fn waiter(room: &Arc<Room>, wait: Duration) -> Waiter {
    let room = Arc::clone(room);
    tokio::spawn(async move {
        let start = Instant::now();
        let answer = room.allow_within(wait).await;
        (answer, start.elapsed())
    })
}

/// A room before a half-open breaker whose probes are all out.
async fn probed(builder: Builder<TokioClock>) -> (Arc<Room>, Vec<OwnedPermit<TokioClock>>) {
    let room = open(builder);
    advance(WAIT).await;
    let probes = std::iter::from_fn(|| room.breaker().allow_owned().ok()).collect();
    (room, probes)
}

/// A waiter that sleeps already.
async fn asleep(room: &Arc<Room>, wait: Duration) -> Waiter {
    let waiter = waiter(room, wait);
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert!(!waiter.is_finished());
    waiter
}

#[tokio::test(start_paused = true)]
async fn closed_admits_at_once() {
    let room = Arc::new(WaitingRoom::build(fragile()).unwrap());
    let (permit, waited) = waiter(&room, Duration::ZERO).await.unwrap();
    assert_eq!(permit.unwrap().success(), Settled::Recorded);
    assert_eq!(waited, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_waiter_sleeps_until_the_open_wait_is_over() {
    let room = open(fragile());
    let (permit, waited) = waiter(&room, LONG).await.unwrap();
    assert!(permit.unwrap().is_probe());
    assert_eq!(waited, WAIT);
}

#[tokio::test(start_paused = true)]
async fn who_cannot_be_admitted_in_time_is_rejected_at_once() {
    let room = open(fragile());
    let (answer, waited) = waiter(&room, WAIT - Duration::from_millis(1))
        .await
        .unwrap();
    assert_eq!(answer.unwrap_err().retry_after(), Some(WAIT));
    assert_eq!(waited, Duration::ZERO);
    let (answer, _) = waiter(&room, WAIT).await.unwrap();
    assert!(answer.is_ok(), "it just can");
}

/// A clock with recent readings that are as old as they may be.
struct Old(TokioClock);

impl Clock for Old {
    fn now(&self) -> u64 {
        self.0.now()
    }

    fn recent(&self) -> Option<u64> {
        Some(self.now().saturating_sub(50_000_000))
    }
}

#[tokio::test(start_paused = true)]
async fn who_just_can_be_admitted_in_time_is_so_by_a_clock_with_old_readings() {
    let room = WaitingRoom::build(fragile().clock(Old(TokioClock::new()))).unwrap();
    advance(WAIT).await;
    room.breaker().allow().unwrap().failure();
    let told = room.breaker().allow().unwrap_err().retry_after().unwrap();
    assert_eq!(told, WAIT + Duration::from_millis(50));
    let start = Instant::now();
    assert!(room.allow_within(WAIT).await.unwrap().is_probe());
    assert_eq!(start.elapsed(), WAIT);
}

#[tokio::test(start_paused = true)]
async fn waits_without_end_saturate() {
    let room = open(fragile().open_wait(OpenWait::fixed(Duration::MAX)));
    let (answer, _) = waiter(&room, LONG).await.unwrap();
    assert_eq!(answer.unwrap_err().retry_after(), Some(Duration::MAX));
    let waiting = waiter(&room, Duration::MAX).await.unwrap();
    assert!(waiting.0.is_err());
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_a_wait_that_no_clock_can_tell() {
    let (room, probes) = probed(fragile().probe_lease(None)).await;
    let (answer, waited) = waiter(&room, WAIT).await.unwrap();
    assert_eq!(answer.unwrap_err().state(), State::HalfOpen);
    assert_eq!(waited, WAIT);
    drop(probes);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_the_wait_of_those_in_the_queue_too() {
    let (room, probes) = probed(fragile().probe_lease(None)).await;
    let lookout = asleep(&room, LONG).await;
    let (answer, waited) = waiter(&room, WAIT).await.unwrap();
    assert!(answer.is_err());
    assert_eq!(waited, WAIT);
    lookout.abort();
    drop(probes);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_closes_lets_all_in() {
    let (room, mut probes) = probed(fragile()).await;
    let waiters = [
        asleep(&room, LONG).await,
        asleep(&room, LONG).await,
        asleep(&room, LONG).await,
    ];
    assert_eq!(probes.pop().unwrap().success(), Settled::Closed);
    for waiter in waiters {
        let (permit, waited) = waiter.await.unwrap();
        assert_eq!(permit.unwrap().success(), Settled::Recorded);
        assert_eq!(waited, Duration::ZERO);
    }
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_fails_makes_them_wait_for_the_next_wait() {
    let (room, mut probes) = probed(fragile()).await;
    let waiter = asleep(&room, LONG).await;
    assert_eq!(probes.pop().unwrap().failure(), Settled::Reopened);
    let (permit, waited) = waiter.await.unwrap();
    assert!(permit.unwrap().is_probe());
    assert_eq!(waited, WAIT);
}

#[tokio::test(start_paused = true)]
async fn a_slot_that_is_freed_without_a_transition_wakes_the_next() {
    type End = fn(OwnedPermit<TokioClock>);
    let ends: [End; 3] = [
        |probe| assert_eq!(probe.ignore(), Settled::Ignored),
        |probe| assert_eq!(probe.success(), Settled::Recorded),
        drop,
    ];
    for end in ends {
        let (room, mut probes) = probed(fragile().successes_to_close(2)).await;
        let waiters = [asleep(&room, LONG).await, asleep(&room, WAIT).await];
        end(probes.pop().unwrap());
        let [first, second] = waiters;
        let (permit, waited) = first.await.unwrap();
        let permit = permit.unwrap();
        assert!(permit.is_probe());
        assert_eq!(waited, Duration::ZERO);
        // There was one slot for two.
        let (answer, waited) = second.await.unwrap();
        assert_eq!(answer.unwrap_err().state(), State::HalfOpen);
        assert_eq!(waited, WAIT);
        drop(permit);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_lease_ends_a_wait() {
    let (room, probes) = probed(fragile()).await;
    let (permit, waited) = waiter(&room, LONG).await.unwrap();
    assert!(permit.unwrap().is_probe());
    assert_eq!(waited, LEASE);
    assert_eq!(
        probes.into_iter().map(OwnedPermit::success).next(),
        Some(Settled::Closed)
    );
}

#[tokio::test(start_paused = true)]
async fn a_larger_quota_ends_a_wait() {
    let (room, probes) = probed(fragile()).await;
    let waiter = asleep(&room, LONG).await;
    let config = room.breaker().config().with(|config| config.max_probes = 2);
    room.breaker().reconfigure(config).unwrap();
    let (permit, waited) = waiter.await.unwrap();
    assert!(permit.unwrap().is_probe());
    assert_eq!(waited, Duration::ZERO);
    drop(probes);
}

#[tokio::test(start_paused = true)]
async fn an_operator_ends_a_wait() {
    let room = open(fragile());
    room.breaker().force_open(None, "maintenance");
    let waiters = [asleep(&room, LONG).await, asleep(&room, LONG).await];
    sleep(WAIT).await;
    room.breaker().close("done");
    for waiter in waiters {
        let (permit, waited) = waiter.await.unwrap();
        assert!(!permit.unwrap().is_probe());
        assert_eq!(waited, WAIT);
    }
}

#[tokio::test(start_paused = true)]
async fn a_forced_opening_for_a_time_is_waited_out() {
    let room = Arc::new(WaitingRoom::build(fragile()).unwrap());
    room.breaker().force_open(Some(WAIT * 2), "a drill");
    let (permit, waited) = waiter(&room, LONG).await.unwrap();
    assert!(permit.unwrap().is_probe());
    assert_eq!(waited, WAIT * 2);
}

#[tokio::test(start_paused = true)]
async fn those_who_wait_are_admitted_in_the_order_they_came() {
    let (room, mut probes) = probed(fragile().successes_to_close(9)).await;
    let mut waiters = Vec::new();
    for _ in 0..5 {
        waiters.push(asleep(&room, LONG).await);
    }
    for waiter in waiters {
        assert!(
            probes
                .pop()
                .is_some_and(|probe| probe.ignore() == Settled::Ignored)
        );
        probes.push(waiter.await.unwrap().0.unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn a_lookout_that_is_cancelled_makes_way() {
    let (room, mut probes) = probed(fragile()).await;
    let lookout = asleep(&room, LONG).await;
    let next = asleep(&room, LONG).await;
    // It is woken, and cancelled before it can run.
    assert_eq!(probes.pop().unwrap().ignore(), Settled::Ignored);
    lookout.abort();
    let (permit, waited) = next.await.unwrap();
    assert!(permit.unwrap().is_probe());
    assert_eq!(waited, Duration::ZERO);
    assert!(lookout.await.unwrap_err().is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn whoever_leaves_the_queue_takes_no_slot_along() {
    let (room, mut probes) = probed(fragile()).await;
    let waiters = [asleep(&room, LONG).await, asleep(&room, LONG).await];
    for waiter in waiters {
        waiter.abort();
        assert!(waiter.await.unwrap_err().is_cancelled());
    }
    assert_eq!(probes.pop().unwrap().ignore(), Settled::Ignored);
    assert!(room.breaker().allow().is_ok());
}
