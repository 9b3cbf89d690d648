//! A year of keys through a registry and the metrics of its breakers, on a simulated clock.
//!
//! By default a day of 10,000 keys through a registry of 1,000, after a day to get going. `CUTOUT_YEAR=1` makes it
//! a year of 100,000 keys a day through a registry of 10,000.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::env;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cutout::adapters::metrics::Observer;
use cutout::registry::{RegistryBuilder, RegistryConfig};
use cutout::{Builder, ManualClock, OpenWait, State};
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, Key, KeyName, Metadata, Recorder, SharedString,
    Unit,
};

/// The system's allocator, which knows how much is held.
struct Counting;

static HELD: AtomicI64 = AtomicI64::new(0);

// SAFETY: it passes every call on to the system's allocator, as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as i64, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as i64, Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A recorder that keeps each series for ever, as exporters do.
#[derive(Default)]
struct Page {
    series: Mutex<HashMap<Key, Arc<Value>>>,
}

#[derive(Default)]
struct Value(AtomicU64);

impl CounterFn for Value {
    fn increment(&self, more: u64) {
        self.0.fetch_add(more, Relaxed);
    }

    fn absolute(&self, value: u64) {
        self.0.fetch_max(value, Relaxed);
    }
}

impl GaugeFn for Value {
    fn increment(&self, _: f64) {
        unreachable!("gauges are set");
    }

    fn decrement(&self, _: f64) {
        unreachable!("gauges are set");
    }

    fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Relaxed);
    }
}

impl Page {
    fn value(&self, key: &Key) -> Arc<Value> {
        let mut series = self.series.lock().unwrap();
        if let Some(value) = series.get(key) {
            return Arc::clone(value);
        }
        Arc::clone(series.entry(key.clone()).or_default())
    }

    fn len(&self) -> usize {
        self.series.lock().unwrap().len()
    }

    /// The sum of all series of a counter.
    fn total(&self, name: &str) -> u64 {
        let series = self.series.lock().unwrap();
        let of_name = series.iter().filter(|(key, _)| key.name() == name);
        of_name.map(|(_, value)| value.0.load(Relaxed)).sum()
    }
}

impl Recorder for Page {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.value(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.value(key))
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

const DAY: Duration = Duration::from_secs(86_400);
const WAIT: Duration = Duration::from_secs(30);

struct Scale {
    days: u32,
    keys_a_day: u32,
    max_keys: usize,
}

fn scale() -> Scale {
    if env::var_os("CUTOUT_YEAR").is_some() {
        return Scale {
            days: 365,
            keys_a_day: 100_000,
            max_keys: 10_000,
        };
    }
    Scale {
        days: 2,
        keys_a_day: 10_000,
        max_keys: 1_000,
    }
}

/// One key in a hundred is of a host that fails.
const fn is_ill(key: u32) -> bool {
    key % 100 == 37
}

#[test]
fn keys_and_series_live_and_go_for_as_long_as_it_takes() {
    let Scale {
        days,
        keys_a_day,
        max_keys,
    } = scale();
    let clock = ManualClock::new();
    let mut config = RegistryConfig {
        max_keys,
        ..RegistryConfig::default()
    };
    config.breaker.min_calls = Some(3);
    config.breaker.window = cutout::Window::count(5);
    config.breaker.open_wait = OpenWait::fixed(WAIT);
    let registry = RegistryBuilder::new(clock.clone(), |key: &u32| format!("host {key}"))
        .config(config)
        .prepare(|_, builder: Builder<ManualClock>| builder.totals(true))
        .build()
        .unwrap();
    let page = Page::default();
    let observer = Observer::with_max_names(50);
    let counters = [
        "cutout_breaker_calls_total",
        "cutout_breaker_rejections_total",
        "cutout_breaker_transitions_total",
    ];
    let step = DAY / keys_a_day;
    // A key is called when it comes, and again a few times in the minutes after.
    let mut due: VecDeque<(u32, u32)> = VecDeque::new();
    // Until when an open verdict holds.
    let open_until: RefCell<HashMap<u32, u64>> = RefCell::default();
    let admitted = Cell::new(0_u64);
    let (mut series, mut held, mut keys, mut totals) = (0, 0, 0, [0; 3]);
    let mut seen_full = 0_u64;

    let call = |key: u32, now: u64, full: &mut u64| {
        let Ok(breaker) = registry.get_or_create(&key) else {
            *full += 1;
            return;
        };
        if open_until
            .borrow()
            .get(&key)
            .is_some_and(|&until| now < until)
        {
            assert_eq!(
                breaker.state(),
                State::Open,
                "{key} was forgotten in its wait"
            );
        }
        match breaker.allow() {
            Ok(permit) => {
                admitted.set(admitted.get() + 1);
                let settled = match is_ill(key) {
                    true => permit.failure(),
                    false => permit.success(),
                };
                if matches!(
                    settled,
                    cutout::Settled::Tripped | cutout::Settled::Reopened
                ) {
                    let until = now + WAIT.as_nanos() as u64;
                    open_until.borrow_mut().insert(key, until);
                }
            }
            Err(rejected) => assert!(is_ill(key), "{key} is well: {rejected}"),
        }
    };

    for day in 0..days {
        for of_day in 0..keys_a_day {
            let number = day * keys_a_day + of_day;
            clock.advance(step);
            let now = cutout::Clock::now(&clock);
            for _ in 0..4 {
                call(number, now, &mut seen_full);
            }
            due.push_back((number + 20, number));
            while due.front().is_some_and(|&(when, _)| when <= number) {
                let (_, key) = due.pop_front().unwrap();
                call(key, now, &mut seen_full);
            }
            // A round in less than the hour for which a key is idle before it goes.
            if number % (keys_a_day / 50) == 0 {
                metrics::with_local_recorder(&page, || {
                    observer.round(|round| registry.for_each(|_, breaker| round.show(breaker)));
                });
                for (total, name) in totals.iter_mut().zip(counters) {
                    let next = page.total(name);
                    assert!(next >= *total, "{name} fell from {total} to {next}");
                    *total = next;
                }
                let recent: HashSet<u32> = due.iter().map(|&(_, key)| key).collect();
                open_until
                    .borrow_mut()
                    .retain(|key, _| recent.contains(key));
            }
        }
        assert!(registry.len() <= max_keys);
        assert_eq!(seen_full, 0, "there is room for every key");
        // What the first day filled stays as it is, and what keys take is as much for each: how many there are goes up and down, since a
        // breaker goes when the hand comes by a second time.
        if day == 0 {
            (series, held, keys) = (page.len(), HELD.load(Relaxed), registry.len());
            // 50 names and the others, and the breakers by state.
            assert!(series <= 51 * 80 + 6, "{series} series");
        } else {
            assert!(
                page.len() <= series + 20,
                "{} series after {series}",
                page.len()
            );
            let (now, len) = (HELD.load(Relaxed), registry.len());
            let legal = held / keys as i64 * len.max(keys) as i64;
            assert!(
                now < legal + legal / 10 + (64 << 10),
                "{now} bytes held for {len} keys, {held} for {keys} after a day"
            );
        }
    }
    // What a breaker counts after its last round is not told; none counts after it, since each is
    // idle for an hour before it goes.
    metrics::with_local_recorder(&page, || {
        observer.round(|round| registry.for_each(|_, breaker| round.show(breaker)));
    });
    assert_eq!(page.total(counters[0]), admitted.get());
    assert!(totals[1] > 0 && totals[2] > 0);
}
