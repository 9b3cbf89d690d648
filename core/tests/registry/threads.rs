//! Lookups, evictions and changes by many threads at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use cutout::registry::RegistryConfig;
use cutout::{ManualClock, State};

use super::{builder, config, registry};

#[test]
fn threads_that_ask_for_a_new_key_at_once_get_the_same_breaker() {
    let registry = registry(&ManualClock::new(), 1000);
    let barrier = Barrier::new(4);
    for key in 0..200 {
        let key = key.to_string();
        let breakers: Vec<_> = thread::scope(|scope| {
            let ask = || {
                barrier.wait();
                registry.get_or_create(&key).unwrap()
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(
            breakers
                .iter()
                .all(|breaker| Arc::ptr_eq(breaker, &breakers[0]))
        );
    }
    assert_eq!(registry.len(), 200);
}

/// Everything is idle at once, and a thread sweeps all the time. Another asks for a breaker, opens it
/// and lets go of it: from then on the key must be found open.
#[test]
fn no_breaker_is_evicted_with_a_permit_out_or_open() {
    const ROUNDS: usize = if cfg!(debug_assertions) {
        20_000
    } else {
        200_000
    };
    let clock = ManualClock::new();
    let idle = RegistryConfig {
        idle: Some(Duration::from_nanos(1)),
        ..config(1000)
    };
    let registry = builder(&clock, 1000).config(idle).build().unwrap();
    let (done, evictions) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                clock.advance(Duration::from_nanos(1));
                evictions.fetch_add(registry.sweep(), Ordering::Relaxed);
            }
        });
        let users: Vec<_> = (0..2)
            .map(|thread| {
                let registry = &registry;
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let key = format!("{thread} {}", round % 3);
                        let breaker = registry.get_or_create(&key).unwrap();
                        let permit = breaker.allow_owned().unwrap();
                        drop(breaker);
                        // Only the permit holds it now.
                        let same = registry.get(&*key).expect("a permit is out");
                        permit.failure();
                        drop(same);
                        let open = registry.get(&*key).expect("it is open");
                        assert_eq!(open.state(), State::Open);
                        open.close("again");
                    }
                })
            })
            .collect();
        let ends: Vec<_> = users.into_iter().map(|user| user.join()).collect();
        done.store(true, Ordering::Relaxed);
        ends.into_iter().for_each(|end| end.unwrap());
    });
    assert!(evictions.into_inner() > 0, "nothing was tried");
}

#[test]
fn when_all_changes_have_returned_all_breakers_have_the_last_config() {
    let clock = ManualClock::new();
    let registry = registry(&clock, 10_000);
    let with_lease = |seconds| RegistryConfig {
        breaker: config(1)
            .breaker
            .with(|config| config.probe_lease = Some(Duration::from_secs(seconds))),
        ..config(10_000)
    };
    for round in 0..20 {
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..30 {
                        let key = next.fetch_add(1, Ordering::Relaxed) + round * 1000;
                        registry.get_or_create(&key.to_string()).unwrap();
                    }
                });
            }
            for thread in 1..=2 {
                let (registry, with_lease) = (&registry, &with_lease);
                scope.spawn(move || {
                    for seconds in 1..10 {
                        registry
                            .reconfigure(with_lease(thread * 100 + seconds))
                            .unwrap();
                    }
                });
            }
        });
        let last = registry.config().breaker;
        for (key, breaker) in registry.breakers() {
            assert_eq!(breaker.config(), last, "{key}");
        }
    }
}
