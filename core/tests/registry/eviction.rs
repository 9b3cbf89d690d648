//! What is evicted, what is not, and what happens when the registry is full.

use std::sync::Arc;
use std::time::Duration;

use cutout::registry::{RegistryConfig, RegistryError};
use cutout::{ManualClock, State};

use super::{IDLE, builder, config, registry};

#[test]
fn a_key_has_one_breaker() {
    let registry = registry(&ManualClock::new(), 10);
    assert!(registry.get("a").is_none());
    let first = registry.get_or_create("a").unwrap();
    assert!(Arc::ptr_eq(&first, &registry.get_or_create("a").unwrap()));
    assert!(Arc::ptr_eq(&first, &registry.get("a").unwrap()));
    assert!(!Arc::ptr_eq(&first, &registry.get_or_create("b").unwrap()));
    assert_eq!((first.name(), registry.len()), ("a", 2));
}

#[test]
fn an_idle_breaker_is_evicted_and_one_in_use_is_not() {
    let clock = ManualClock::new();
    let registry = registry(&clock, 10);
    for key in ["idle", "asked for", "held", "permit out"] {
        registry.get_or_create(key).unwrap();
    }
    let held = registry.get("held").unwrap();
    let permit = registry.get("permit out").unwrap().allow_owned().unwrap();
    assert_eq!(registry.sweep(), 0, "it has just been used");
    clock.advance(IDLE / 2);
    registry.get("asked for").unwrap();
    assert_eq!(registry.sweep(), 0);
    clock.advance(IDLE / 2);
    assert_eq!(registry.sweep(), 1);
    assert!(registry.get("idle").is_none());
    assert_eq!(registry.len(), 3);
    // Held until a moment ago: its idle time starts when it is seen to be let go.
    drop((held, permit));
    clock.advance(IDLE / 2);
    assert_eq!(registry.sweep(), 1, "the one that was asked for");
    clock.advance(IDLE - Duration::from_nanos(1));
    assert_eq!(registry.sweep(), 0);
    clock.advance(Duration::from_nanos(1));
    assert_eq!((registry.sweep(), registry.len()), (2, 0));
}

#[test]
fn only_closed_breakers_are_evicted() {
    let clock = ManualClock::new();
    let registry = registry(&clock, 10);
    let get = |key: &str| registry.get_or_create(key).unwrap();
    get("open").allow().unwrap().failure();
    get("forced").force_open(None, "maintenance");
    get("disabled").disable("noise");
    get("observed").observe_only("new");
    get("closed").allow().unwrap().success();
    registry.sweep();
    clock.advance(IDLE * 10);
    assert_eq!(registry.sweep(), 1);
    assert!(registry.get("closed").is_none());
    // Its wait is over, so it reads as half-open; what it has learned is kept all the same.
    assert_eq!(get("open").state(), State::HalfOpen);
    assert_eq!(registry.len(), 4);
}

#[test]
fn a_breaker_that_was_open_is_forgotten_when_the_config_says_so() {
    let clock = ManualClock::new();
    let config = RegistryConfig {
        forget: Some(IDLE * 5),
        ..config(10)
    };
    let registry = builder(&clock, 10).config(config).build().unwrap();
    registry
        .get_or_create("a")
        .unwrap()
        .allow()
        .unwrap()
        .failure();
    registry.sweep();
    clock.advance(IDLE * 5 - Duration::from_nanos(1));
    assert_eq!(registry.sweep(), 0);
    clock.advance(Duration::from_nanos(1));
    assert_eq!(registry.sweep(), 1);
    assert_eq!(registry.get_or_create("a").unwrap().state(), State::Closed);
}

#[test]
fn by_default_keys_that_opened_once_and_are_never_asked_for_again_go() {
    let clock = ManualClock::new();
    let defaults = RegistryConfig::default();
    let config = RegistryConfig {
        forget: defaults.forget,
        idle: defaults.idle,
        ..config(1000)
    };
    let registry = builder(&clock, 1000).config(config).build().unwrap();
    for key in 0..500 {
        let breaker = registry.get_or_create(&key.to_string()).unwrap();
        breaker.allow().unwrap().failure();
    }
    registry.sweep();
    clock.advance(defaults.forget.unwrap() - Duration::from_nanos(1));
    assert_eq!((registry.sweep(), registry.len()), (0, 500));
    clock.advance(Duration::from_nanos(1));
    assert_eq!((registry.sweep(), registry.len()), (500, 0));
}

#[test]
fn no_pressure_evicts_a_breaker_that_waits_and_any_may_evict_one_whose_wait_is_over() {
    let clock = ManualClock::new();
    let config = RegistryConfig {
        forget: Some(IDLE * 1000),
        ..config(3)
    };
    let registry = builder(&clock, 3).config(config).build().unwrap();
    let get = |key: &str| registry.get_or_create(key).map(|breaker| breaker.state());
    for key in ["a", "b", "c"] {
        let breaker = registry.get_or_create(key).unwrap();
        breaker.allow().unwrap().failure();
    }
    for _ in 0..10 {
        assert_eq!(get("d"), Err(RegistryError::Full { max_keys: 3 }));
    }
    let wait = registry.get("a").unwrap().snapshot().remaining.unwrap();
    clock.advance(wait - Duration::from_nanos(1));
    assert_eq!(get("d"), Err(RegistryError::Full { max_keys: 3 }));
    clock.advance(Duration::from_nanos(1));
    assert_eq!(get("d"), Ok(State::Closed));
}

#[test]
fn new_keys_evict_idle_ones_without_a_sweep() {
    let clock = ManualClock::new();
    let registry = registry(&clock, 1_000_000);
    for key in 0..100 {
        registry.get_or_create(&key.to_string()).unwrap();
    }
    clock.advance(IDLE);
    for key in 100..1000 {
        clock.advance(IDLE / 20);
        registry.get_or_create(&key.to_string()).unwrap();
    }
    assert!(registry.len() < 300, "{}", registry.len());
}

#[test]
fn a_full_registry_refuses_a_key_while_all_others_are_in_use() {
    let registry = registry(&ManualClock::new(), 3);
    let held: Vec<_> = ["a", "b", "c"]
        .map(|key| registry.get_or_create(key).unwrap())
        .into();
    for _ in 0..3 {
        let refused = registry.get_or_create("d").unwrap_err();
        assert_eq!(refused, RegistryError::Full { max_keys: 3 });
    }
    assert!(Arc::ptr_eq(&held[0], &registry.get_or_create("a").unwrap()));
    assert_eq!(registry.len(), 3);
}

#[test]
fn a_full_registry_replaces_a_key_that_is_not_in_use_and_never_an_open_one() {
    let clock = ManualClock::new();
    let registry = registry(&clock, 3);
    registry
        .get_or_create("open")
        .unwrap()
        .allow()
        .unwrap()
        .failure();
    for key in 0..100 {
        // The hand may have to come by once before.
        let key = key.to_string();
        let made = registry
            .get_or_create(&key)
            .or_else(|_| registry.get_or_create(&key));
        assert_eq!(made.unwrap().name(), key);
        assert!(registry.len() <= 3);
        assert_eq!(registry.get("open").unwrap().state(), State::Open);
    }
}

#[test]
fn looking_at_all_breakers_is_no_use_of_them() {
    let clock = ManualClock::new();
    let registry = registry(&clock, 10);
    for key in ["a", "b"] {
        registry.get_or_create(key).unwrap();
    }
    registry.sweep();
    clock.advance(IDLE);
    let mut seen = Vec::new();
    registry.for_each(|key, breaker| seen.push((key.clone(), breaker.state())));
    seen.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(seen, ["a", "b"].map(|key| (key.to_owned(), State::Closed)));
    assert_eq!(registry.breakers().len(), 2);
    assert_eq!(registry.sweep(), 2);
}
