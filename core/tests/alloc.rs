//! What a breaker allocates: itself, once.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use cutout::adapters::body::GuardedBody;
use cutout::adapters::stream::GuardedStream;
use cutout::adapters::tower::BreakerLayer;
use cutout::registry::Registry;
use cutout::router::{Attempts, Policy, Role, Router, RouterConfig, Target};
use cutout::{
    Breaker, Builder, Config, ManualClock, OpenWait, Outcome, Overdue, Report, Settled, SlowRule,
    State, SystemClock, Window,
};
use futures_util::{FutureExt, StreamExt, stream};
use http_body_util::Empty;
use tower::{Layer, Service};

/// The system's allocator, counting per thread, since tests run beside each other.
struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<i64> = const { Cell::new(0) };
}

fn count(bytes: i64) {
    // A thread that is going away has no counters any more.
    let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
    let _ = BYTES.try_with(|held| held.set(held.get() + bytes));
}

// SAFETY: it passes every call on to the system's allocator, as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many allocations and deallocations `call` makes.
fn calls(call: impl FnOnce()) -> u64 {
    let before = CALLS.get();
    call();
    CALLS.get() - before
}

/// How many bytes `call` leaves allocated.
fn bytes_left(call: impl FnOnce()) -> i64 {
    let before = BYTES.get();
    call();
    BYTES.get() - before
}

const WAIT: Duration = Duration::from_secs(10);
const LEASE: Duration = Duration::from_secs(5);

fn builder(clock: &ManualClock) -> Builder<ManualClock> {
    Breaker::builder()
        .window(Window::count(100))
        .min_calls(100)
        .failure_ratio(1.0)
        .open_wait(OpenWait::fixed(WAIT))
        .probe_lease(LEASE)
        .max_probes(2)
        .successes_to_close(2)
        .clock(clock.clone())
}

/// Once through all states and back to an empty closed one: eight transitions.
fn cycle(breaker: &Breaker<ManualClock>, clock: &ManualClock) {
    let call = |outcome: Outcome| breaker.allow().unwrap().done(outcome);
    // Closed: filling up, healthy, mixed.
    for _ in 0..250 {
        call(Outcome::Success);
    }
    for _ in 0..99 {
        call(Outcome::Failure);
        call(Outcome::Ignored);
    }
    let old = breaker.allow().unwrap();
    assert_eq!(call(Outcome::Timeout), Settled::Tripped);
    assert_eq!(old.success(), Settled::Stale);
    assert!(breaker.allow().is_err());
    // Half-open: a failed probe.
    clock.advance(WAIT);
    assert_eq!(call(Outcome::Failure), Settled::Reopened);
    clock.advance(WAIT);
    // Half-open: slots taken, one given back, both lost, reclaimed.
    let [first, second] = [(), ()].map(|()| breaker.allow().unwrap());
    assert!(breaker.allow().is_err());
    drop(first);
    std::mem::forget(breaker.allow());
    clock.advance(LEASE);
    let reclaimed = breaker.allow().unwrap();
    // Its lease is lost, and it has its say.
    drop(second);
    assert_eq!(reclaimed.success(), Settled::Recorded);
    // An outcome with a wait of its own, then back to closed.
    let asked = Report::from(Outcome::Timeout).retry_after(WAIT * 2);
    assert_eq!(breaker.allow().unwrap().done(asked), Settled::Reopened);
    clock.advance(WAIT * 2);
    assert_eq!(call(Outcome::Success), Settled::Recorded);
    assert_eq!(call(Outcome::Success), Settled::Closed);
}

#[test]
fn no_call_allocates_in_any_state() {
    let clock = ManualClock::new();
    let breaker = builder(&clock).build().unwrap();
    assert_eq!(calls(|| cycle(&breaker, &clock)), 0);
}

#[test]
fn no_call_allocates_in_a_window_that_is_too_large_for_the_first_line() {
    let clock = ManualClock::new();
    let breaker = builder(&clock).window(Window::count(4096)).build().unwrap();
    let each = [Outcome::Success, Outcome::Failure, Outcome::Timeout];
    let settle_all = || {
        for outcome in each.into_iter().cycle().take(10_000) {
            breaker.allow().unwrap().done(outcome);
        }
    };
    assert_eq!(calls(settle_all), 0);
}

#[test]
fn no_rejection_of_a_named_breaker_and_no_label_that_opens_nothing_allocates() {
    let clock = ManualClock::new();
    let breaker = builder(&clock).name("search").build().unwrap();
    let labelled = Report::from(Outcome::Failure).label("connection refused");
    let calls_made = calls(|| {
        for _ in 0..50 {
            breaker.allow().unwrap().success();
            breaker.allow().unwrap().done(labelled);
        }
    });
    assert_eq!(calls_made, 0);
    breaker.force_open(None, "maintenance");
    assert_eq!(calls(|| assert!(breaker.allow().is_err())), 0);
}

#[test]
fn the_first_label_that_is_kept_makes_room_for_the_others() {
    let clock = ManualClock::new();
    let breaker = builder(&clock).consecutive_failures(1).build().unwrap();
    let trip = || {
        let labelled = Report::from(Outcome::Failure).label("connection refused");
        assert_eq!(breaker.allow().unwrap().done(labelled), Settled::Tripped);
    };
    // Room for what an operator says is made the first time too.
    breaker.disable("drill");
    breaker.close("drill");
    assert_eq!(calls(trip), 1);
    breaker.close("drill");
    assert_eq!(calls(trip), 0);
}

#[test]
fn the_first_rejection_of_an_error_type_allocates_and_no_other_does() {
    /// Of this test alone: what is left of a type is there for the whole process.
    struct OfThisTest;

    let clock = ManualClock::new();
    let breaker = builder(&clock).build().unwrap();
    breaker.force_open(None, "drill");
    let reject = || assert!(breaker.call(|| Err::<(), _>(OfThisTest)).is_err());
    assert_eq!(calls(reject), 1);
    assert_eq!(calls(reject), 0);
    let another = builder(&clock).build().unwrap();
    another.force_open(None, "drill");
    let nested = || {
        let call = || breaker.call(|| Err::<(), _>(OfThisTest));
        assert!(another.call(call).is_err());
    };
    assert_eq!(calls(nested), 1, "an error type of its own");
    assert_eq!(calls(nested), 0);
}

#[test]
fn no_call_allocates_with_a_slow_rule() {
    let clock = ManualClock::new();
    let slow = SlowRule {
        limit: Duration::from_secs(1),
        ratio: 0.5,
    };
    let breaker = builder(&clock).slow(slow).build().unwrap();
    assert_eq!(calls(|| cycle(&breaker, &clock)), 0);
}

#[test]
fn no_call_allocates_with_a_time_window_or_with_overdue_calls() {
    let clock = ManualClock::new();
    let breaker = builder(&clock)
        .window(Window::time(Duration::from_secs(10), 10))
        .min_calls(1_000)
        .overdue(Overdue::Timeout(Duration::from_secs(1)))
        .build()
        .unwrap();
    let settle_all = || {
        for outcome in [Outcome::Success, Outcome::Failure]
            .into_iter()
            .cycle()
            .take(400)
        {
            let hangs = breaker.allow().unwrap();
            breaker.allow().unwrap().done(outcome);
            clock.advance(Duration::from_millis(300));
            hangs.done(outcome);
        }
        std::mem::forget(breaker.allow());
        clock.advance(Duration::from_secs(3));
        breaker.allow().unwrap().success();
    };
    assert_eq!(calls(settle_all), 0);
}

#[test]
fn no_call_allocates_in_an_operators_state() {
    let clock = ManualClock::new();
    let breaker = builder(&clock).consecutive_failures(2).build().unwrap();
    breaker.disable("drill");
    let settle = || assert_eq!(breaker.allow().unwrap().failure(), Settled::Ignored);
    assert_eq!(calls(settle), 0);
    breaker.observe_only("drill");
    let would_trip = || {
        breaker.allow().unwrap().failure();
        assert_eq!(breaker.allow().unwrap().failure(), Settled::WouldTrip);
    };
    assert_eq!(calls(would_trip), 0);
    breaker.force_open(None, "drill");
    assert_eq!(calls(|| assert!(breaker.allow().is_err())), 0);
}

#[test]
fn an_owned_permit_allocates_nothing() {
    let breaker = Arc::new(builder(&ManualClock::new()).build().unwrap());
    let settle = || assert_eq!(breaker.allow_owned().unwrap().success(), Settled::Recorded);
    assert_eq!(calls(settle), 0);
}

#[test]
fn the_layer_and_the_wrappers_of_streams_and_bodies_allocate_nothing() {
    let breaker = Arc::new(builder(&ManualClock::new()).build().unwrap());
    let answer = tower::service_fn(|()| std::future::ready(Ok::<_, u8>(())));
    let mut service = BreakerLayer::new(breaker.clone()).layer(answer);
    let call = || assert_eq!(service.call(()).now_or_never(), Some(Ok(())));
    assert_eq!(calls(call), 0);
    let read = || {
        let items = stream::iter([Ok(1), Err(2)]);
        let items = GuardedStream::new(items, breaker.allow_owned().unwrap());
        assert_eq!(items.count().now_or_never(), Some(2));
        let body = Empty::<&[u8]>::new();
        assert!(GuardedBody::new(body, breaker.allow_owned().unwrap()).is_settled());
    };
    assert_eq!(calls(read), 0);
    breaker.force_open(None, "drill");
    let mut reject = || assert!(service.call(()).now_or_never().unwrap().is_err());
    // The first in a process makes its type of error known to breakers around this one.
    reject();
    assert_eq!(calls(reject), 0);
}

#[test]
fn reading_the_state_allocates_nothing() {
    let breaker = builder(&ManualClock::new()).build().unwrap();
    let read = || {
        assert_eq!(breaker.state(), State::Closed);
        assert!(breaker.is_available());
        assert_eq!(breaker.generation(), 0);
    };
    assert_eq!(calls(read), 0);
}

#[test]
fn transitions_allocate_nothing_with_a_listener_and_a_log() {
    let clock = ManualClock::new();
    let breaker = builder(&clock).listener(|_| ()).log(true).build().unwrap();
    assert_eq!(calls(|| cycle(&breaker, &clock)), 0, "the first time");
    for _ in 0..20 {
        assert_eq!(calls(|| cycle(&breaker, &clock)), 0, "a log that is full");
    }
}

#[test]
fn transitions_allocate_nothing_while_fewer_than_64_wait_for_a_listener() {
    let breaker = Arc::new(OnceLock::<Breaker<ManualClock>>::new());
    let heard = Arc::new(AtomicU32::new(0));
    let reason: Arc<str> = "drill".into();
    let built = {
        let (breaker, heard, reason) = (breaker.clone(), heard.clone(), reason.clone());
        builder(&ManualClock::new())
            .listener(move |_| {
                if heard.fetch_add(1, Ordering::Relaxed) == 1 {
                    for _ in 0..63 {
                        breaker.get().unwrap().disable(reason.clone());
                    }
                }
            })
            .build()
            .unwrap()
    };
    let breaker = breaker.get_or_init(|| built);
    // The first reason makes room for all.
    breaker.disable(reason.clone());
    assert_eq!(calls(|| breaker.close(reason)), 0);
    assert_eq!(heard.load(Ordering::Relaxed), 65);
}

#[test]
fn ten_thousand_cycles_leave_no_byte() {
    let clock = ManualClock::new();
    let breaker = || builder(&clock).log(true).listener(|_| ()).build().unwrap();
    let left = bytes_left(|| {
        let breaker = breaker();
        let growth = bytes_left(|| {
            for _ in 0..10_000 {
                breaker.force_open(Some(WAIT), "drill");
                clock.advance(WAIT);
                for _ in 0..2 {
                    breaker.allow().unwrap().success();
                }
                assert_eq!(breaker.state(), State::Closed);
            }
        });
        // What is held in between is the log: its last reasons, its queue.
        assert!(growth < 16 << 10, "{growth} bytes held after 10 000 cycles");
    });
    assert_eq!(left, 0);
}

#[test]
fn a_thousand_reconfigurations_leave_no_byte() {
    let left = bytes_left(|| {
        let breaker = Breaker::new(Config::default()).unwrap();
        let reconfigure = |size| {
            let window = Window::count(size);
            let config = Config::default().with(|config| config.window = window);
            breaker.reconfigure(config).unwrap();
        };
        for size in [4096, 20, 121] {
            reconfigure(size);
        }
        let growth = bytes_left(|| (0..1_000).for_each(|round| reconfigure(20 + round)));
        assert_eq!(growth, 0, "a breaker does not grow with each config");
    });
    assert_eq!(left, 0);
}

/// How many bytes a breaker takes, its heap included.
fn size_of_breaker(config: Config) -> i64 {
    let mut heap = 0;
    let left = bytes_left(|| {
        let mut breaker = None;
        heap = bytes_left(|| breaker = Some(Breaker::new(config).unwrap()));
        assert!(breaker.is_some());
    });
    assert_eq!(left, 0);
    let inline = size_of::<Breaker<SystemClock>>() as i64;
    println!("{inline} bytes inline, {heap} on the heap");
    inline + heap
}

#[test]
fn a_breaker_with_a_window_of_100_takes_at_most_512_bytes() {
    let size = size_of_breaker(Config::default().with(|config| config.window = Window::count(100)));
    assert!(size <= 512, "{size} bytes");
}

#[test]
fn a_breaker_with_a_time_window_takes_what_the_guide_says() {
    let threads = std::thread::available_parallelism().unwrap().get();
    let shards = threads.next_power_of_two().min(16) as i64;
    for (buckets, rounded) in [(10, 16), (60, 64)] {
        let size = size_of_breaker(
            Config::default()
                .with(|config| config.window = Window::time(Duration::from_secs(10), buckets)),
        );
        let said = 512 + 384 + 64 * rounded + 128 * (rounded / 16) * shards;
        assert!(size <= said, "{size} bytes, {said} said");
    }
    let overdue = size_of_breaker(
        Config::default()
            .with(|config| config.overdue = Some(Overdue::Timeout(Duration::from_secs(1)))),
    );
    assert!(overdue <= 512 + 440, "{overdue} bytes");
}

#[test]
fn choosing_a_target_allocates_nothing_by_any_policy() {
    let clock = ManualClock::new();
    let target = |name: u8| {
        let breaker = Arc::new(builder(&clock).build().unwrap());
        Target::new(name.to_string(), (), breaker)
    };
    for policy in [
        Policy::Priority,
        Policy::RoundRobin,
        Policy::Weighted,
        Policy::LeastInFlight,
        Policy::Fastest,
        Policy::Sticky,
    ] {
        let config = RouterConfig {
            policy,
            canary_basis_points: 2000,
            max_shed: Some(2),
            ramp: Some(WAIT),
        };
        let canary = target(8).role(Role::Canary);
        let router = Router::new(config, (0..8).map(target).chain([canary])).unwrap();
        for open in [0, 3, 6] {
            router.members()[open].breaker().force_open(None, "test");
        }
        // The first choice on a thread makes its part of the snapshot's accounting.
        router.choose(&mut Attempts::new()).unwrap().success();
        let choose = || {
            for key in 0..100 {
                let mut attempts = Attempts::for_hash(key);
                while let Ok(choice) = router.choose(&mut attempts) {
                    choice.success();
                }
            }
        };
        assert_eq!(calls(choose), 0, "{policy:?}");
    }
}

#[test]
fn looking_up_a_breaker_allocates_nothing_and_a_dropped_registry_leaves_no_byte() {
    // The map makes its part of the threads' accounting once.
    let registry = || {
        Registry::builder(|key: &u32| key.to_string())
            .build()
            .unwrap()
    };
    registry().get_or_create(&0).unwrap();
    let left = bytes_left(|| {
        let registry = registry();
        for key in 0..100 {
            registry.get_or_create(&key).unwrap();
        }
        let look_up = || {
            for key in 0..100 {
                assert!(registry.get(&key).is_some());
                registry
                    .get_or_create(&key)
                    .unwrap()
                    .allow()
                    .unwrap()
                    .success();
            }
        };
        assert_eq!(calls(look_up), 0);
    });
    assert_eq!(left, 0);
}
