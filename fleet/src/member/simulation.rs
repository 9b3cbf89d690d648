//! A fleet in simulated time, by a seed: the members as they are, their breakers as they are, and a network and an upstream
//! that fail in every way. What must hold is checked at each step.
//!
//! `CUTOUT_FLEET_RUNS=10000 cargo test --release -p cutout-fleet --lib simulation` is the long form; `CUTOUT_FLEET_SEED=7` runs one.

mod replica;
mod world;

use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use world::World;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn whatever_fails_a_fleet_keeps_its_promises() {
    if let Some(seed) = number("CUTOUT_FLEET_SEED") {
        World::new(seed).run();
        return;
    }
    let runs = number("CUTOUT_FLEET_RUNS").unwrap_or(40);
    let (next, seen) = (AtomicU64::new(0), Mutex::new(world::Seen::default()));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let run = || {
            loop {
                // Relaxed: each seed is run once, in no order.
                let seed = next.fetch_add(1, Relaxed);
                if seed >= runs {
                    return;
                }
                match catch_unwind(|| World::new(seed).run()) {
                    Ok(run) => seen.lock().unwrap().add(&run),
                    Err(_) => panic!("seed {seed}: run it by CUTOUT_FLEET_SEED={seed}"),
                }
            }
        };
        (0..threads).for_each(|_| _ = scope.spawn(run));
    });
    let seen = seen.into_inner().unwrap();
    println!("{runs} runs: {seen:?}");
    // What a run is about must happen in some of them.
    assert!(seen.trips > runs, "{seen:?}");
    assert!(seen.takeovers > runs, "{seen:?}");
    assert!(seen.leased_probes > runs, "{seen:?}");
    assert!(seen.freed > runs / 4, "{seen:?}");
    assert!(seen.alone > runs / 10, "{seen:?}");
    assert!(seen.orders > runs / 10, "{seen:?}");
    assert!(seen.restarts > runs / 4, "{seen:?}");
}

#[test]
fn a_run_is_told_by_its_seed() {
    let runs = [World::new(3).run(), World::new(3).run()];
    assert_eq!(format!("{:?}", runs[0]), format!("{:?}", runs[1]));
    assert!(runs[0].lasted > Duration::from_secs(10));
}
