//! Choices, outcomes and changes by many threads at once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use cutout::router::{Attempts, Policy, Role, Router, RouterConfig, Target};
use cutout::{Breaker, Config, ManualClock, OpenWait, Window};

use super::{Routes, WAIT, by, choose, count, router, successes, target, trip};

const THREADS: usize = 4;

/// What each of the threads returned, all let go at the same moment.
fn at_once<R: Send>(call: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let barrier = Barrier::new(THREADS);
    thread::scope(|scope| {
        let (barrier, call) = (&barrier, &call);
        let run = |thread| {
            scope.spawn(move || {
                barrier.wait();
                call(thread)
            })
        };
        let threads: Vec<_> = (0..THREADS).map(run).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

#[test]
fn a_half_open_target_gets_exactly_its_probe_while_the_other_carries_the_load() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::Priority), &["a", "b"]);
    for _ in 0..200 {
        trip(&router, "a");
        clock.advance(WAIT);
        let chosen = at_once(|_| choose(&router).unwrap());
        let probes: Vec<_> = chosen
            .iter()
            .filter(|choice| choice.name() == "a")
            .collect();
        assert_eq!(probes.len(), 1);
        assert!(probes[0].is_probe());
        for choice in chosen {
            choice.success();
        }
        assert_eq!(choose(&router).unwrap().name(), "a");
    }
}

#[test]
fn changes_made_at_once_are_all_made() {
    let clock = ManualClock::new();
    let router = router(&clock, by(Policy::RoundRobin), &["0"]);
    for _ in 0..50 {
        at_once(|thread| {
            for number in 0..10 {
                router
                    .add(target(&clock, &format!("{thread} {number}")))
                    .unwrap();
            }
        });
        assert_eq!(router.members().len(), THREADS * 10 + 1);
        at_once(|thread| {
            for number in 0..10 {
                router.remove(&format!("{thread} {number}")).unwrap();
            }
        });
        assert_eq!(router.members().len(), 1);
    }
}

#[test]
fn threads_share_turns_and_the_canary_gets_exactly_its_share() {
    let clock = ManualClock::new();
    let config = RouterConfig {
        canary_basis_points: 1000,
        ..by(Policy::RoundRobin)
    };
    let targets = ["a", "b", "c", "new"].map(|name| target(&clock, name));
    let [a, b, c, new] = targets;
    let router = Router::new(config, [a, b, c, new.role(Role::Canary)]).unwrap();
    const EACH: usize = 5_000;
    let names: Vec<_> = at_once(|_| successes(&router, EACH))
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(count(&names, "new"), THREADS * EACH / 10);
    // Threads that saw the same turn both took it, and the target's next one was put off twice: so
    // no target is ahead or behind by more than the choices that go on at a time.
    for name in ["a", "b", "c"] {
        let fair = THREADS * EACH * 9 / 10 / 3;
        assert!(
            count(&names, name).abs_diff(fair) <= THREADS,
            "{name}: {}",
            count(&names, name)
        );
    }
}

/// A router over breakers that record all and never open.
fn recording(names: &[&str]) -> Routes {
    let breaker = || {
        let config = Config::default().with(|config| {
            config.window = Window::count(Window::MAX_COUNT);
            config.failure_ratio = None;
            config.consecutive_failures = Some(Window::MAX_COUNT);
        });
        Arc::new(
            Breaker::builder()
                .config(config)
                .clock(ManualClock::new())
                .build()
                .unwrap(),
        )
    };
    let targets = names.iter().map(|name| Target::new(*name, (), breaker()));
    Router::new(by(Policy::LeastInFlight), targets).unwrap()
}

#[test]
fn every_call_is_charged_to_its_target_and_to_no_other_while_the_queue_changes() {
    let router = recording(&["a", "b", "c", "d"]);
    let all = router.members();
    let done = AtomicBool::new(false);
    let moves = AtomicUsize::new(0);
    let calls: Vec<Vec<String>> = thread::scope(|scope| {
        scope.spawn(|| {
            for turn in (0..4).cycle() {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                let name = ["a", "b", "c", "d"][turn];
                router.move_to(name, (turn + 2) % 4).unwrap();
                router.set_weight(name, turn as u32 + 1).unwrap();
                moves.fetch_add(1, Ordering::Relaxed);
            }
        });
        let calls = at_once(|_| {
            let mut called = Vec::new();
            for request in 0..400 {
                let mut attempts = Attempts::new();
                let first = called.len();
                for _ in 0..=request % 4 {
                    let choice = router.choose(&mut attempts).unwrap();
                    called.push(choice.name().to_owned());
                    choice.failure();
                }
                let mut tried = called[first..].to_vec();
                tried.sort();
                tried.dedup();
                assert_eq!(
                    tried.len(),
                    request % 4 + 1,
                    "one request, one target twice"
                );
            }
            called
        });
        done.store(true, Ordering::Relaxed);
        calls
    });
    let mut expected: HashMap<String, usize> = HashMap::new();
    for name in calls.into_iter().flatten() {
        *expected.entry(name).or_default() += 1;
    }
    for member in all {
        let charged = member.breaker().snapshot().counts().failures as usize;
        assert_eq!(charged, expected[member.name()], "{}", member.name());
        assert_eq!(member.in_flight(), 0);
    }
    assert!(moves.into_inner() > 0);
}

#[test]
fn no_permit_is_lost_when_targets_fail_recover_come_and_go() {
    const ROUNDS: usize = if cfg!(debug_assertions) {
        3_000
    } else {
        30_000
    };
    let clock = ManualClock::new();
    let names = ["a", "b", "c"];
    let router = router(&clock, by(Policy::RoundRobin), &names);
    let breaker = |_: &str| {
        let breaker = Breaker::builder()
            .config(Config::default().with(|config| {
                config.min_calls = Some(1);
                config.consecutive_failures = Some(1);
                config.max_probes = 2;
                config.probe_lease = None;
            }))
            .open_wait(OpenWait::fixed(Duration::from_nanos(1)))
            .clock(clock.clone());
        Arc::new(breaker.build().unwrap())
    };
    for name in names {
        router
            .add(Target::new(format!("{name}2"), (), breaker(name)))
            .unwrap();
    }
    let admitted = AtomicUsize::new(0);
    at_once(|thread| {
        for round in 0..ROUNDS {
            clock.advance(Duration::from_micros(1));
            let mut attempts = Attempts::new();
            while let Ok(choice) = router.choose(&mut attempts) {
                admitted.fetch_add(1, Ordering::Relaxed);
                match (round + thread + attempts.tried()) % 5 {
                    0 | 1 => drop(choice.success()),
                    2 => drop(choice.failure()),
                    3 => drop(choice),
                    _ => drop(choice.into_parts()),
                }
            }
            if round % 50 == 0 {
                let name = format!("{thread} {round}");
                router
                    .insert(0, Target::new(&*name, (), breaker(&name)))
                    .unwrap();
                router.remove(&name).unwrap();
            }
        }
    });
    assert!(admitted.into_inner() > ROUNDS);
    for member in router.members() {
        assert_eq!(member.in_flight(), 0, "{}", member.name());
        assert_eq!(
            member.breaker().snapshot().probes_out,
            0,
            "{}",
            member.name()
        );
    }
}
