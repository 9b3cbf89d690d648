//! The router's choice among eight targets, and the registry's lookup among 100,000 keys beside that
//! of the bare map: `cargo bench --bench choosing`.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;

use cutout::registry::{Registry, RegistryConfig};
use cutout::router::{Attempts, Policy, Router, RouterConfig, Target};
use cutout::{Breaker, ConfigError, Window};
use cutout_bench::cell::{self, Cell};

const KEYS: u64 = 100_000;

const AMONG: [(&str, u64); 2] = [("all", KEYS), ("64", 64)];

fn main() -> ExitCode {
    let mut cells = choices();
    cells.extend(lookups());
    let about = "The router among 8 targets, the registry among 100,000 keys, under criterion";
    cell::main("choosing", about, cells)
}

/// A breaker whose window is full of successes.
fn healthy() -> Result<Arc<Breaker>, ConfigError> {
    let builder = Breaker::builder().window(Window::count(100));
    let breaker = builder.consecutive_failures(1).build()?;
    fill(&breaker);
    Ok(Arc::new(breaker))
}

fn fill(breaker: &Breaker) {
    for _ in 0..100 {
        breaker.allow().expect("it is closed").success();
    }
}

/// A choice and the end of its call, for a request of its own.
fn choices() -> Vec<Cell> {
    const GROUP: &str = "choosing/8";
    let alone = Cell::new(GROUP, "breaker-alone", |group, name| {
        let breaker = healthy().expect("the config is legal");
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                black_box(&breaker)
                    .allow_owned()
                    .map(|permit| permit.success())
            });
        });
    });
    let cases = [
        ("priority", Policy::Priority, 0),
        ("priority-1-open", Policy::Priority, 1),
        ("priority-4-open", Policy::Priority, 4),
        ("round-robin", Policy::RoundRobin, 0),
        ("weighted", Policy::Weighted, 0),
        ("least-in-flight", Policy::LeastInFlight, 0),
        ("fastest", Policy::Fastest, 0),
        ("sticky", Policy::Sticky, 0),
    ];
    let cell = |(name, policy, open)| {
        Cell::new(GROUP, name, move |group, name| {
            let router = router(policy, open);
            let mut key = 0;
            group.bench_function(name, |bencher| {
                bencher.iter(|| {
                    key += 1;
                    let mut attempts = Attempts::for_hash(key);
                    let chosen = black_box(&router).choose(&mut attempts);
                    chosen.map(|choice| choice.success())
                });
            });
        })
    };
    [alone].into_iter().chain(cases.map(cell)).collect()
}

/// Eight targets of unequal weights, the first ones open.
fn router(policy: Policy, open: usize) -> Router<u32> {
    let target = |number: u32| {
        let breaker = healthy().expect("the config is legal");
        Target::new(number.to_string(), number, breaker).weight(1 + number % 3)
    };
    let config = RouterConfig {
        policy,
        ..RouterConfig::default()
    };
    let router = Router::new(config, (0..8).map(target)).expect("the queue is legal");
    for member in &router.members()[..open] {
        member.breaker().allow().expect("it is closed").failure();
    }
    router
}

/// A lookup and a call, of keys at random among all and among a few. Both are filled breaker by breaker, as keys
/// come in, so that they lie in memory in the same way.
fn lookups() -> impl Iterator<Item = Cell> {
    const GROUP: &str = "lookup/100000";
    let in_map = AMONG.map(|(among, keys)| {
        Cell::new(GROUP, format!("map-{among}"), move |group, name| {
            let map = papaya::HashMap::new();
            for key in 0..KEYS {
                map.pin()
                    .insert(key, healthy().expect("the config is legal"));
            }
            let mut draw = draw(keys);
            group.bench_function(name, |bencher| {
                bencher.iter(|| {
                    let breaker = map.pin().get(&draw()).map(Arc::clone)?;
                    breaker.allow().ok().map(|permit| permit.success())
                });
            });
        })
    });
    let in_registry = AMONG.map(|(among, keys)| {
        Cell::new(GROUP, format!("registry-{among}"), move |group, name| {
            let registry = registry();
            let mut draw = draw(keys);
            group.bench_function(name, |bencher| {
                bencher.iter(|| {
                    let breaker = registry.get_or_create(&draw()).ok()?;
                    breaker.allow().ok().map(|permit| permit.success())
                });
            });
        })
    });
    in_map.into_iter().chain(in_registry)
}

fn registry() -> Registry<u64> {
    let config = RegistryConfig {
        breaker: healthy().expect("the config is legal").config(),
        max_keys: KEYS as usize,
        ..RegistryConfig::default()
    };
    let registry = Registry::builder(|_: &u64| String::new()).config(config);
    let registry = registry.build().expect("the config is legal");
    for key in 0..KEYS {
        let breaker = registry.get_or_create(&key).expect("there is room");
        fill(&breaker);
    }
    registry
}

/// Keys below `keys`, in an order that no prefetcher follows.
fn draw(keys: u64) -> impl FnMut() -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % keys
    }
}
