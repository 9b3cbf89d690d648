//! The moments between two steps of the registry, brought about by what it calls: its
//! breakers' clock, its closures, its keys.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use cutout::registry::{Registry, RegistryBuilder, RegistryConfig};
use cutout::{Clock, Config, ManualClock, State};

use super::{IDLE, builder, config};

type Hook = Box<dyn FnOnce() + Send>;

/// How long a thread waits for another that has gone wrong.
const LONG: Duration = Duration::from_secs(20);

/// A clock that runs a hook at one of the next readings.
#[derive(Clone, Default)]
struct Hooked {
    clock: ManualClock,
    hook: Arc<Mutex<Option<(u32, Hook)>>>,
}

impl Hooked {
    fn at_reading(&self, reading: u32, hook: impl FnOnce() + Send + 'static) {
        *self.hook.lock().unwrap() = Some((reading, Box::new(hook)));
    }
}

impl Clock for Hooked {
    fn now(&self) -> u64 {
        let mut hook = self.hook.lock().unwrap();
        let due = match &mut *hook {
            Some((1, _)) => hook.take(),
            Some((left, _)) => {
                *left -= 1;
                None
            }
            None => None,
        };
        drop(hook);
        if let Some((_, hook)) = due {
            hook();
        }
        self.clock.now()
    }
}

/// Forgets breakers that were open, once they are as idle as others.
fn forgetful() -> RegistryConfig {
    RegistryConfig {
        forget: Some(IDLE),
        ..config(10)
    }
}

/// The sweep has seen that a breaker may go, and before it takes it the breaker is used, opened and
/// given back.
#[test]
fn a_breaker_that_opens_between_look_and_eviction_is_kept() {
    static REGISTRY: OnceLock<Registry<String, Hooked>> = OnceLock::new();
    let clock = Hooked::default();
    let registry = REGISTRY.get_or_init(|| {
        let builder = RegistryBuilder::new(clock.clone(), String::clone);
        builder.config(forgetful()).build().unwrap()
    });
    registry
        .get_or_create("a")
        .unwrap()
        .allow()
        .unwrap()
        .failure();
    registry.sweep();
    clock.clock.advance(IDLE);
    // The sweep reads the clock for itself first, then for the state.
    clock.at_reading(2, || {
        let breaker = REGISTRY.get().unwrap().get("a").unwrap();
        breaker.allow().unwrap().failure();
    });
    assert_eq!(registry.sweep(), 0);
    let breaker = registry.get("a").expect("it opened in time");
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn a_config_that_changes_while_another_is_brought_to_the_breakers_reaches_them_all() {
    static REGISTRY: OnceLock<Registry<String, ManualClock>> = OnceLock::new();
    static INTERRUPTS: AtomicBool = AtomicBool::new(false);
    let with_calls = |min_calls| RegistryConfig {
        breaker: Config::default().with(|config| config.min_calls = Some(min_calls)),
        ..config(10)
    };
    let registry = REGISTRY.get_or_init(|| {
        builder(&ManualClock::new(), 10)
            .configure(move |_, default| {
                if INTERRUPTS.swap(false, Ordering::Relaxed) {
                    REGISTRY.get().unwrap().reconfigure(with_calls(7)).unwrap();
                }
                default
            })
            .build()
            .unwrap()
    });
    for key in ["a", "b", "c"] {
        registry.get_or_create(key).unwrap();
    }
    INTERRUPTS.store(true, Ordering::Relaxed);
    registry.reconfigure(with_calls(5)).unwrap();
    for (key, breaker) in registry.breakers() {
        assert_eq!(breaker.config().min_calls(), 7, "{key}");
    }
}

thread_local! {
    /// What the thread does the next time it clones a key, or finds one.
    static AT_CLONE: Cell<Option<Hook>> = const { Cell::new(None) };
    static AT_FOUND: Cell<Option<Hook>> = const { Cell::new(None) };
}

fn run(hook: &'static thread::LocalKey<Cell<Option<Hook>>>) {
    if let Some(hook) = hook.take() {
        hook();
    }
}

struct Key(u32);

impl Clone for Key {
    fn clone(&self) -> Self {
        run(&AT_CLONE);
        Self(self.0)
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        run(&AT_FOUND);
        self.0 == other.0
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// The sweep has taken a breaker that turns out to be in use after all, and is about to put it back. Another
/// thread finds the way to it dead.
#[test]
fn a_breaker_that_is_put_back_is_found_by_those_who_look_meanwhile() {
    static REGISTRY: OnceLock<Registry<Key, Hooked>> = OnceLock::new();
    let clock = Hooked::default();
    let registry = REGISTRY.get_or_init(|| {
        let builder = RegistryBuilder::new(clock.clone(), |key: &Key| key.0.to_string());
        builder.config(forgetful()).build().unwrap()
    });
    registry
        .get_or_create(&Key(1))
        .unwrap()
        .allow()
        .unwrap()
        .failure();
    registry.sweep();
    clock.clock.advance(IDLE);
    clock.at_reading(2, || drop(REGISTRY.get().unwrap().get(&Key(1))));
    let (taken, is_taken) = mpsc::channel();
    let (found, is_found) = mpsc::channel();
    let breaker = thread::scope(|scope| {
        scope.spawn(move || {
            AT_CLONE.set(Some(Box::new(move || {
                taken.send(()).unwrap();
                is_found.recv_timeout(LONG).unwrap();
            })));
            assert_eq!(registry.sweep(), 0);
            AT_CLONE.take();
        });
        let looks = scope.spawn(move || {
            is_taken
                .recv_timeout(LONG)
                .expect("it is taken and put back");
            AT_FOUND.set(Some(Box::new(move || found.send(()).unwrap())));
            registry.get(&Key(1))
        });
        looks.join().unwrap()
    });
    assert_eq!(breaker.expect("it was put back").state(), State::HalfOpen);
}
