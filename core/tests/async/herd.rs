//! `WaitingRoom` under a crowd: nobody is forgotten, and nobody is woken for nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use cutout::adapters::tokio::{TokioClock, WaitingRoom};
use cutout::{Breaker, Clock, Config, OpenWait, State};

use crate::{WAIT, fragile};

/// Tokio's clock, counting how often it is read: once whenever an open breaker is asked.
#[derive(Clone)]
struct Counting {
    clock: TokioClock,
    reads: Arc<AtomicU32>,
}

impl Clock for Counting {
    fn now(&self) -> u64 {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.clock.now()
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_wait_wakes_the_one_who_gets_in_and_one_more() {
    const CROWD: u32 = 1000;
    let reads = Arc::new(AtomicU32::new(0));
    let clock = Counting {
        clock: TokioClock::new(),
        reads: Arc::clone(&reads),
    };
    let room = Arc::new(WaitingRoom::build(fragile().clock(clock)).unwrap());
    room.breaker().allow().unwrap().failure();
    let waiters: Vec<_> = (0..CROWD)
        .map(|_| {
            let room = Arc::clone(&room);
            tokio::spawn(async move { room.allow_within(WAIT * 2).await.is_ok() })
        })
        .collect();
    tokio::time::sleep(WAIT - Duration::from_millis(1)).await;
    let before = reads.load(Ordering::Relaxed);
    assert!(before >= CROWD, "all have asked once");

    // The probe that the first one gets is dropped as its task ends: the next one gets
    // in, and so on, each after one question; `max_inconclusive` ends it.
    tokio::time::sleep(Duration::from_millis(2)).await;
    let asked = reads.load(Ordering::Relaxed) - before;
    let admitted = Config::default().max_inconclusive;
    assert!(
        asked <= 6 * admitted,
        "{asked} reads for {admitted} admissions"
    );
    assert_eq!(room.breaker().state(), State::Open);
    for waiter in waiters {
        waiter.abort();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_wake_up_is_lost_among_threads() {
    const TASKS: u64 = 64;
    const CALLS: u64 = 200;
    // Nothing but the slots can wake: no lease, and waits that are over at once.
    let room = WaitingRoom::build(
        Breaker::builder()
            .consecutive_failures(1)
            .open_wait(OpenWait::fixed(Duration::from_nanos(1)))
            .probe_lease(None)
            .max_probes(2)
            .successes_to_close(200)
            .max_inconclusive(255),
    );
    let room = Arc::new(room.unwrap());
    room.breaker().allow().unwrap().failure();
    let made = Arc::new(AtomicU64::new(0));
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let (room, made) = (Arc::clone(&room), Arc::clone(&made));
            tokio::spawn(async move {
                for call in 0..CALLS {
                    let permit = room.allow_within(Duration::from_secs(60)).await.unwrap();
                    tokio::task::yield_now().await;
                    match (task + call) % 7 {
                        0 => permit.failure(),
                        1 | 2 => permit.ignore(),
                        _ => permit.success(),
                    };
                    made.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(made.load(Ordering::Relaxed), TASKS * CALLS);
}
