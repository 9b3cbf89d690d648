//! A throttle beside the breakers of a registry.

use std::sync::Arc;

use cutout::registry::{Registry, RegistryConfig, RegistryError};
use cutout::{AnyPermit, Cause, Gate, ManualClock, Outcome, State, Throttle, ThrottleConfig};

use super::{IDLE, builder, config, registry};

fn with(throttle: Option<ThrottleConfig>) -> RegistryConfig {
    RegistryConfig {
        throttle,
        ..config(10)
    }
}

fn throttled(clock: &ManualClock) -> Registry<String, ManualClock> {
    builder(clock, 10)
        .config(with(Some(ThrottleConfig::default())))
        .prepare_throttle(|_, builder| builder.seed(1))
        .build()
        .unwrap()
}

fn throttle(registry: &Registry<String, ManualClock>, key: &str) -> Arc<Throttle<ManualClock>> {
    registry.gate(key).unwrap().1.unwrap()
}

fn k(k: f64) -> ThrottleConfig {
    ThrottleConfig {
        k,
        ..ThrottleConfig::default()
    }
}

#[test]
fn a_gate_is_the_keys_breaker_and_the_throttle_beside_it() {
    let clock = ManualClock::new();
    let registry = throttled(&clock);
    let gate = registry.gate("a").unwrap();
    assert!(Arc::ptr_eq(&gate.0, &registry.get("a").unwrap()));
    assert!(Arc::ptr_eq(
        &throttle(&registry, "a"),
        &throttle(&registry, "a")
    ));
    assert!(!Arc::ptr_eq(
        &throttle(&registry, "a"),
        &throttle(&registry, "b")
    ));
    assert_eq!(throttle(&registry, "b").name(), "b");
    gate.admit().unwrap().done(Outcome::Failure.into());
    assert_eq!(gate.0.state(), State::Open);
    assert_eq!(gate.1.unwrap().share().failures, 1);
}

#[test]
fn a_throttle_may_stand_alone() {
    let clock = ManualClock::new();
    let registry = throttled(&clock);
    let throttle = throttle(&registry, "a");
    let mut refused = 0;
    for _ in 0..1000 {
        match throttle.admit() {
            Ok(permit) => drop(permit.failure()),
            Err(rejected) => {
                assert_eq!(
                    (rejected.cause(), rejected.breaker_name().as_deref()),
                    (Cause::Throttled, Some("a"))
                );
                refused += 1;
            }
        }
    }
    assert!(refused > 900, "{refused}");
    assert_eq!(registry.get("a").unwrap().state(), State::Closed);
}

#[test]
fn without_a_throttle_the_gate_is_the_breaker() {
    let registry = registry(&ManualClock::new(), 10);
    let gate = registry.gate("a").unwrap();
    assert!(gate.1.is_none());
    gate.admit().unwrap().done(Outcome::Failure.into());
    assert_eq!(gate.admit().unwrap_err().state(), State::Open);
    assert!(gate.refusal().is_some());
}

#[test]
fn who_holds_a_throttle_keeps_its_key() {
    let clock = ManualClock::new();
    let registry = throttled(&clock);
    let held = throttle(&registry, "held");
    let permit = throttle(&registry, "permit out").allow_owned().unwrap();
    registry.gate("idle").unwrap();
    registry.sweep();
    clock.advance(IDLE * 2);
    registry.sweep();
    assert_eq!(registry.len(), 2);
    assert!(Arc::ptr_eq(&held, &throttle(&registry, "held")));
    let gone = Arc::downgrade(&held);
    drop((held, permit));
    registry.sweep();
    clock.advance(IDLE);
    registry.sweep();
    clock.advance(IDLE);
    registry.sweep();
    assert_eq!(registry.len(), 0);
    assert!(gone.upgrade().is_none());
}

#[test]
fn each_key_may_have_a_throttle_of_its_own_or_none() {
    let registry = builder(&ManualClock::new(), 10)
        .config(with(Some(k(3.0))))
        .configure_throttle(|key, default| match key.as_str() {
            "none" => None,
            "own" => Some(k(1.5)),
            "illegal" => Some(k(0.5)),
            _ => default,
        })
        .build()
        .unwrap();
    assert!(registry.gate("none").unwrap().1.is_none());
    assert_eq!(throttle(&registry, "own").config().k, 1.5);
    assert_eq!(throttle(&registry, "other").config().k, 3.0);
    let Err(RegistryError::KeyConfig { name, error }) = registry.gate("illegal") else {
        panic!("it is illegal");
    };
    assert_eq!(
        (name.as_str(), error.field(), error.value()),
        ("illegal", "k", "0.5")
    );
    assert_eq!(registry.len(), 3);
}

#[test]
fn a_throttle_whose_config_changes_is_replaced_and_one_whose_does_not_stays() {
    let clock = ManualClock::new();
    let registry = throttled(&clock);
    let first = throttle(&registry, "a");
    registry
        .reconfigure(with(Some(ThrottleConfig::default())))
        .unwrap();
    assert!(Arc::ptr_eq(&first, &throttle(&registry, "a")));
    registry.reconfigure(with(Some(k(4.0)))).unwrap();
    let second = throttle(&registry, "a");
    assert_eq!(second.config().k, 4.0);
    assert_eq!(first.config().k, 2.0);
    registry.reconfigure(with(None)).unwrap();
    assert!(registry.gate("a").unwrap().1.is_none());
    registry.reconfigure(with(Some(k(4.0)))).unwrap();
    assert!(registry.gate("a").unwrap().1.is_some());
    let error = registry.reconfigure(with(Some(k(0.0)))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "k = 0 is not legal: it must be 1 or more, and finite"
    );
    assert_eq!(throttle(&registry, "a").config().k, 4.0);
}

#[test]
fn threads_that_ask_for_a_new_key_at_once_get_one_throttle() {
    let registry = throttled(&ManualClock::new());
    for round in 0..200 {
        let key = format!("{round}");
        let ask = || throttle(&registry, &key);
        let (one, other) = std::thread::scope(|scope| {
            let other = scope.spawn(ask);
            (ask(), other.join().unwrap())
        });
        assert!(Arc::ptr_eq(&one, &other));
        drop((one, other));
    }
}
