//! What must hold when many threads use one breaker at the same moment.
//! Barriers and a manual clock make the moments; no result hangs on how fast a thread runs.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use cutout::{
    Breaker, Builder, Clock, Config, Event, ManualClock, OpenWait, Outcome, Overdue, Permit,
    Settled, State, SystemClock, Window,
};

const WAIT: Duration = Duration::from_secs(10);

/// Opens at the first failure, for ten seconds.
fn opens_at_once(clock: &ManualClock) -> Builder<ManualClock> {
    Breaker::builder()
        .min_calls(1)
        .consecutive_failures(1)
        .open_wait(OpenWait::fixed(WAIT))
        .clock(clock.clone())
}

/// A window that takes in everything and never matches.
fn never_opens() -> Builder<SystemClock> {
    Breaker::builder().config(Config::default().with(|config| {
        config.window = Window::count(Window::MAX_COUNT);
        config.failure_ratio = None;
        config.consecutive_failures = Some(Window::MAX_COUNT);
    }))
}

/// So many rounds, and ten times as many in an optimized build.
const fn rounds(unoptimized: u32) -> u32 {
    if cfg!(debug_assertions) {
        unoptimized
    } else {
        unoptimized * 10
    }
}

/// Runs `call` on so many threads, all let go at the same moment, and gives what they returned.
fn at_once<T: Send>(threads: usize, call: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(threads);
    let awake = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (barrier, awake, call) = (&barrier, &awake, &call);
        let running: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn(move || {
                    // The barrier wakes them one by one, so they also wait for the last to be awake.
                    barrier.wait();
                    awake.fetch_add(1, Ordering::Relaxed);
                    while awake.load(Ordering::Relaxed) < threads {
                        thread::yield_now();
                    }
                    call(thread)
                })
            })
            .collect();
        let join = |thread: thread::ScopedJoinHandle<'_, T>| thread.join().unwrap();
        running.into_iter().map(join).collect()
    })
}

/// How many of so many threads that ask at the deadline are admitted. Their
/// permits stay unsettled until all have their answer.
fn admitted_at_the_deadline(threads: usize, max_probes: u32) -> usize {
    let clock = ManualClock::new();
    let breaker = opens_at_once(&clock)
        .max_probes(max_probes)
        .build()
        .unwrap();
    breaker.allow().unwrap().failure();
    clock.advance(WAIT);
    let answers = at_once(threads, |_| breaker.allow());
    let admitted: Vec<_> = answers.into_iter().flatten().collect();
    assert!(admitted.iter().all(Permit::is_probe));
    assert_eq!(breaker.generation(), 2, "one transition for all");
    admitted.len()
}

#[test]
fn at_the_deadline_exactly_the_quota_is_admitted() {
    for _ in 0..20 {
        assert_eq!(admitted_at_the_deadline(64, 3), 3);
    }
}

#[test]
fn at_the_deadline_exactly_one_of_a_hundred_is_admitted() {
    for _ in 0..20 {
        assert_eq!(admitted_at_the_deadline(100, 1), 1);
    }
}

#[test]
fn at_the_end_of_the_leases_exactly_the_quota_is_admitted_again() {
    let clock = ManualClock::new();
    let breaker = opens_at_once(&clock).max_probes(3).build().unwrap();
    breaker.allow().unwrap().failure();
    clock.advance(WAIT);
    for round in 0..20 {
        let answers = at_once(16, |_| breaker.allow());
        let admitted: Vec<_> = answers.into_iter().flatten().collect();
        assert_eq!(admitted.len(), 3);
        assert_eq!(breaker.generation(), 2 + round);
        admitted.into_iter().for_each(std::mem::forget);
        clock.advance(Duration::from_secs(60));
    }
}

#[test]
fn never_are_more_probes_out_than_the_quota() {
    for quota in 1..=3 {
        let clock = ManualClock::new();
        let breaker = opens_at_once(&clock)
            .max_probes(quota)
            .successes_to_close(255)
            .build()
            .unwrap();
        // By generation, since a stale probe is not out any more.
        let out: Vec<_> = (0..1_024).map(|_| AtomicU32::new(0)).collect();
        at_once(4, |_| {
            for _ in 0..rounds(30_000) {
                let Ok(permit) = breaker.allow() else {
                    continue;
                };
                if !permit.is_probe() {
                    if permit.failure() == Settled::Tripped {
                        clock.advance(WAIT);
                    }
                    continue;
                }
                let out = &out[permit.generation() as usize % out.len()];
                assert!(out.fetch_add(1, Ordering::Relaxed) < quota);
                std::hint::spin_loop();
                out.fetch_sub(1, Ordering::Relaxed);
                permit.success();
            }
        });
        assert!(breaker.generation() > 30, "many half-open periods");
    }
}

#[test]
fn failures_at_one_instant_all_count() {
    for _ in 0..100 {
        let breaker = Breaker::builder()
            .window(Window::count(10))
            .min_calls(10)
            .failure_ratio(1.0)
            .clock(ManualClock::new())
            .build()
            .unwrap();
        let mut settled = at_once(10, |_| breaker.allow().unwrap().failure());
        let tripped = settled.extract_if(.., |settled| *settled == Settled::Tripped);
        assert_eq!(tripped.count(), 1);
        assert_eq!(settled, [Settled::Recorded; 9]);
        assert_eq!(breaker.state(), State::Open);
    }
}

#[test]
fn of_failures_at_once_one_trips() {
    let breaker = opens_at_once(&ManualClock::new()).build().unwrap();
    let trips = at_once(4, |_| {
        let mut trips = 0;
        for _ in 0..rounds(30_000) {
            let settled = breaker.allow().map(|permit| permit.failure());
            if settled == Ok(Settled::Tripped) {
                trips += 1;
                breaker.close("next round");
            }
        }
        trips
    });
    let trips: u32 = trips.iter().sum();
    assert_eq!(
        breaker.generation(),
        2 * trips,
        "one for a trip, one for its close"
    );
}

#[test]
fn the_window_holds_each_settled_permit_once() {
    const THREADS: usize = 8;
    const PERMITS: usize = 4_000;
    let breaker = never_opens().build().unwrap();
    // Whoever takes a permit settles it; all race for the same ones.
    let permits: Vec<_> = (0..PERMITS)
        .map(|_| Mutex::new(breaker.allow().ok()))
        .collect();
    let settled = at_once(THREADS, |_| {
        let mut settled = [0; 4];
        for (index, permit) in permits.iter().enumerate() {
            let Some(permit) = permit.lock().unwrap().take() else {
                continue;
            };
            let kind = index % 4;
            match kind {
                0 => drop(permit.success()),
                1 => drop(permit.failure()),
                2 => drop(permit.timeout()),
                _ => drop(permit),
            }
            settled[kind] += 1;
        }
        settled
    });
    let total = |kind: usize| settled.iter().map(|of| of[kind]).sum::<u32>();
    assert_eq!((0..4).map(total).sum::<u32>(), PERMITS as u32);
    let counts = breaker.snapshot().counts();
    assert_eq!(counts.samples, total(0) + total(1) + total(2));
    assert_eq!(counts.failures, total(1) + total(2));
    assert_eq!(counts.timeouts, total(2));
}

#[test]
fn a_full_window_holds_the_last_outcomes_whatever_their_order() {
    const THREADS: u32 = 4;
    const CALLS: u32 = 5_000;
    for size in [1, 7, 120, 121, 1_000] {
        let breaker = Breaker::builder()
            .window(Window::count(size))
            .min_calls(size)
            .failure_ratio(None)
            .timeout_ratio(1.0)
            .build()
            .unwrap();
        // Of each thread every second outcome is a failure.
        at_once(THREADS as usize, |_| {
            for _ in 0..CALLS / 2 {
                breaker.allow().unwrap().success();
                breaker.allow().unwrap().failure();
            }
        });
        assert_eq!(breaker.snapshot().counts().samples, size);
        // From now on it is one thread's window, which must not remember anything else.
        for _ in 0..size {
            breaker.allow().unwrap().failure();
        }
        assert_eq!(breaker.snapshot().counts().failures, size);
        for _ in 0..size {
            breaker.allow().unwrap().success();
        }
        assert_eq!(breaker.snapshot().counts().failures, 0);
        assert_eq!(breaker.stale(), 0);
    }
}

/// A time window that takes in everything and never matches.
fn long(clock: &ManualClock) -> Builder<ManualClock> {
    Builder::new(clock.clone()).config(Config::default().with(|config| {
        config.window = Window::time(Duration::from_secs(60), 60);
        config.failure_ratio = None;
        config.consecutive_failures = Some((1 << 24) - 1);
    }))
}

#[test]
fn a_time_window_loses_no_outcome_of_a_bucket_and_counts_none_twice() {
    const THREADS: u32 = 8;
    let calls = rounds(10_000);
    let breaker = long(&ManualClock::new()).build().unwrap();
    at_once(THREADS as usize, |thread| {
        for call in 0..calls {
            let outcome = match (call + thread as u32) % 4 {
                0 => Outcome::Failure,
                1 => Outcome::Timeout,
                _ => Outcome::Success,
            };
            assert_eq!(breaker.allow().unwrap().done(outcome), Settled::Recorded);
        }
    });
    let counts = breaker.snapshot().counts();
    assert_eq!(counts.samples, THREADS * calls);
    assert_eq!(counts.failures, THREADS * calls / 2);
    assert_eq!(counts.timeouts, THREADS * calls / 4);
}

#[test]
fn an_outcome_is_counted_in_one_bucket_while_they_turn() {
    const THREADS: usize = 4;
    let clock = ManualClock::new();
    for _ in 0..rounds(20) {
        let breaker = long(&clock).build().unwrap();
        let settled = at_once(THREADS, |thread| {
            let mut settled = 0;
            for call in 0..50 {
                if thread == 0 {
                    clock.advance(Duration::from_secs(1));
                    continue;
                }
                let outcome = [Outcome::Success, Outcome::Failure][call % 2];
                assert_eq!(breaker.allow().unwrap().done(outcome), Settled::Recorded);
                settled += 1;
            }
            settled
        });
        let counts = breaker.snapshot().counts();
        assert_eq!(counts.samples, settled.iter().sum::<u32>());
    }
}

#[test]
fn a_time_window_trips_once_in_a_generation() {
    const THREADS: usize = 8;
    let clock = ManualClock::new();
    for _ in 0..rounds(200) {
        let breaker = Builder::new(clock.clone())
            .window(Window::time(WAIT, 10))
            .min_calls(16)
            .failure_ratio(0.5)
            .log(true)
            .build()
            .unwrap();
        let permits: Vec<_> = (0..THREADS)
            .map(|_| Mutex::new((0..4).map(|_| breaker.allow().unwrap()).collect::<Vec<_>>()))
            .collect();
        let tripped = at_once(THREADS, |thread| {
            let permits = std::mem::take(&mut *permits[thread].lock().unwrap());
            let settled = permits.into_iter().map(Permit::failure);
            settled
                .filter(|&settled| settled == Settled::Tripped)
                .count()
        });
        assert_eq!(tripped.iter().sum::<usize>(), 1);
        assert_eq!(breaker.log().len(), 1);
        assert_eq!(breaker.state(), State::Open);
    }
}

#[test]
fn a_call_that_may_hang_is_counted_once_whatever_the_moment() {
    const THREADS: usize = 4;
    const LIMIT: Duration = Duration::from_secs(1);
    let clock = ManualClock::new();
    for _ in 0..rounds(20) {
        let breaker = long(&clock)
            .overdue(Overdue::Timeout(LIMIT))
            .build()
            .unwrap();
        let answers = at_once(THREADS, |thread| {
            let (mut started, mut recorded, mut overdue) = (0, 0, 0);
            let mut in_flight = Vec::new();
            for call in 0..200 {
                if thread == 0 {
                    clock.advance(LIMIT / 8);
                    continue;
                }
                in_flight.push(breaker.allow().unwrap());
                started += 1;
                if call % 3 > 0 {
                    match in_flight.swap_remove(call % in_flight.len()).failure() {
                        Settled::Recorded => recorded += 1,
                        Settled::Overdue => overdue += 1,
                        settled => panic!("{settled:?}"),
                    }
                }
            }
            in_flight.into_iter().for_each(std::mem::forget);
            [started, recorded, overdue]
        });
        let total = |kind: usize| answers.iter().map(|answer| answer[kind]).sum::<u32>();
        assert!(total(1) + total(2) > 0);
        // Whatever still hangs is counted now, by one more call.
        clock.advance(LIMIT * 2);
        let last = breaker.allow().unwrap();
        assert_eq!(last.success(), Settled::Recorded);
        assert_eq!(breaker.snapshot().counts().samples, total(0) + 1);
    }
}

#[test]
fn stale_outcomes_from_many_threads_change_nothing() {
    let clock = ManualClock::new();
    let breaker = opens_at_once(&clock)
        .max_probes(2)
        .successes_to_close(2)
        .build()
        .unwrap();
    let late: Vec<Vec<_>> = (0..8)
        .map(|_| (0..100).map(|_| breaker.allow().unwrap()).collect())
        .collect();
    breaker.allow().unwrap().failure();
    clock.advance(WAIT);
    let probe = breaker.allow().unwrap();
    let before = breaker.snapshot();

    let late: Vec<_> = late.into_iter().map(Mutex::new).collect();
    at_once(late.len(), |thread| {
        let permits = std::mem::take(&mut *late[thread].lock().unwrap());
        for (index, permit) in permits.into_iter().enumerate() {
            let outcome = match index % 4 {
                0 => Outcome::Success,
                1 => Outcome::Failure,
                2 => Outcome::Timeout,
                _ => Outcome::Ignored,
            };
            assert_eq!(permit.done(outcome), Settled::Stale);
        }
    });
    assert_eq!(breaker.snapshot(), before);
    assert_eq!(breaker.stale(), 800);
    assert_eq!(probe.success(), Settled::Recorded);
}

#[test]
fn whoever_sees_open_sees_its_deadline_too() {
    let rounds = rounds(100_000);
    let clock = ManualClock::new();
    let breaker = opens_at_once(&clock).build().unwrap();
    let over = AtomicBool::new(false);
    let answers = at_once(2, |thread| {
        if thread == 0 {
            for _ in 0..rounds {
                breaker.allow().unwrap().failure();
                // The wait of the last round would be over by the next one.
                breaker.close("next round");
                clock.advance(WAIT);
            }
            over.store(true, Ordering::Release);
            return (0, 0);
        }
        let (mut admitted, mut rejected) = (0, 0);
        while !over.load(Ordering::Acquire) {
            match breaker.allow() {
                Ok(permit) => {
                    assert!(!permit.is_probe(), "admitted before the wait was over");
                    std::mem::forget(permit);
                    admitted += 1;
                }
                Err(early) => {
                    assert_eq!(early.state(), State::Open);
                    assert_ne!(early.retry_after(), Some(Duration::ZERO));
                    rejected += 1;
                }
            }
        }
        (admitted, rejected)
    });
    println!("admitted, rejected meanwhile: {:?}", answers[1]);
    assert_eq!(breaker.generation(), (2 * rounds) % (1 << 22));
}

#[test]
fn every_listener_sees_a_chain_with_each_transition_once() {
    const FLIPS: u32 = 20_000;
    const THREADS: u32 = 4;
    let clock = ManualClock::new();
    let heard: [_; 3] = std::array::from_fn(|_| Arc::new(Mutex::new(Vec::<Event>::new())));
    let listening = heard.iter().cloned();
    let breaker = listening
        .fold(opens_at_once(&clock).log(true), |builder, heard| {
            builder.listener(move |event| heard.lock().unwrap().push(event.clone()))
        })
        .build()
        .unwrap();

    at_once(THREADS as usize, |thread| {
        for flip in 0..FLIPS / THREADS {
            match (flip + thread as u32) % 4 {
                0 => breaker.close("flip"),
                1 => breaker.disable("flip"),
                2 => breaker.force_open(Some(WAIT), "flip"),
                _ => {
                    if let Ok(permit) = breaker.allow() {
                        permit.failure();
                    }
                    clock.advance(WAIT);
                }
            }
        }
    });

    let events = heard[0].lock().unwrap();
    assert!(events.len() >= 15_000, "{}", events.len());
    for (event, generation) in events.iter().zip(1..) {
        assert_eq!(event.generation, generation);
    }
    assert_eq!(events[0].from, State::Closed);
    for pair in events.windows(2) {
        assert_eq!(pair[1].from, pair[0].to, "{pair:?}");
    }
    let last = events.last().unwrap();
    assert_eq!(last.generation, breaker.generation());
    for other in &heard[1..] {
        assert_eq!(*other.lock().unwrap(), *events);
    }
    assert_eq!(breaker.log(), events[events.len() - 64..]);
}

/// A clock whose every reading is a microsecond later than the one before.
#[derive(Default)]
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> u64 {
        self.0.fetch_add(1_000, Ordering::Relaxed)
    }
}

#[test]
fn calls_from_many_threads_end_in_a_state_that_works() {
    let breaker = Breaker::builder()
        .window(Window::count(5))
        .min_calls(3)
        .open_wait(OpenWait::fixed(Duration::from_micros(10)))
        .probe_lease(Duration::from_micros(50))
        .max_probes(2)
        .successes_to_close(2)
        .clock(Ticking::default())
        .build()
        .unwrap();
    at_once(4, |thread| {
        for call in 0..20_000 {
            let Ok(permit) = breaker.allow() else {
                continue;
            };
            match (call + thread) % 7 {
                0 | 1 => drop(permit.failure()),
                2 => drop(permit.ignore()),
                3 if call % 5 == 0 => std::mem::forget(permit),
                3 => drop(permit),
                _ => drop(permit.success()),
            }
        }
    });
    // Lost probes and all: it closes again, as soon as calls succeed.
    for _ in 0..200 {
        if let Ok(permit) = breaker.allow() {
            permit.success();
        }
    }
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(breaker.snapshot().probes_out, 0);
}
