//! Configs for all and for one, names and events.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use cutout::registry::{RegistryBuilder, RegistryConfig, RegistryError};
use cutout::{Config, ManualClock, State};

use super::{builder, config, registry};

fn with_ratio(ratio: f64) -> Config {
    Config::default().with(|config| config.failure_ratio = Some(ratio))
}

fn all_with_ratio(ratio: f64) -> RegistryConfig {
    RegistryConfig {
        breaker: with_ratio(ratio),
        ..config(10)
    }
}

#[test]
fn a_keys_config_follows_the_one_for_all_or_is_its_own() {
    let clock = ManualClock::new();
    let registry = builder(&clock, 10)
        .config(all_with_ratio(0.5))
        .configure(|key, default| match key.starts_with("fragile") {
            true => default.with(|config| config.min_calls = Some(3)),
            false => default,
        })
        .build()
        .unwrap();
    let config_of = |key: &str| registry.get_or_create(key).unwrap().config();
    assert_eq!(config_of("a"), with_ratio(0.5));
    assert_eq!(
        config_of("fragile"),
        with_ratio(0.5).with(|config| config.min_calls = Some(3))
    );
    registry
        .reconfigure_key("b".into(), Some(with_ratio(0.9)))
        .unwrap();
    registry
        .reconfigure_key("a".into(), Some(with_ratio(0.8)))
        .unwrap();
    registry.reconfigure(all_with_ratio(0.1)).unwrap();
    assert_eq!(config_of("a"), with_ratio(0.8));
    assert_eq!(config_of("b"), with_ratio(0.9));
    assert_eq!(config_of("c"), with_ratio(0.1));
    assert_eq!(
        config_of("fragile"),
        with_ratio(0.1).with(|config| config.min_calls = Some(3))
    );
    registry.reconfigure_key("a".into(), None).unwrap();
    assert_eq!(config_of("a"), with_ratio(0.1));
}

#[test]
fn a_reconfigured_breaker_keeps_its_state_and_its_permits() {
    let registry = registry(&ManualClock::new(), 10);
    let permit = registry.get_or_create("a").unwrap().allow_owned().unwrap();
    registry
        .get_or_create("b")
        .unwrap()
        .allow()
        .unwrap()
        .failure();
    registry
        .reconfigure(RegistryConfig {
            breaker: Config::default(),
            ..config(10)
        })
        .unwrap();
    assert_eq!(registry.get("b").unwrap().state(), State::Open);
    permit.failure();
    assert_eq!(registry.get("a").unwrap().snapshot().counts().failures, 1);
}

#[test]
fn illegal_configs_are_refused_with_the_name_of_who_has_them() {
    let refused = RegistryBuilder::<String, _>::new(ManualClock::new(), String::clone)
        .config(all_with_ratio(2.0))
        .build()
        .unwrap_err();
    assert_eq!(refused.field(), "failure_ratio");

    let registry = builder(&ManualClock::new(), 10)
        .configure(|key, default| match &**key {
            "odd" => default.with(|config| config.min_calls = Some(999)),
            "picky" => default.with(|config| config.min_calls = Some(15)),
            _ => default,
        })
        .build()
        .unwrap();
    let RegistryError::KeyConfig { name, error } = registry.get_or_create("odd").unwrap_err()
    else {
        panic!("another error");
    };
    assert_eq!((&*name, error.field()), ("odd", "min_calls"));
    assert_eq!(registry.len(), 0);

    registry.get_or_create("picky").unwrap();
    registry.get_or_create("a").unwrap();
    let before = registry.config();
    assert!(matches!(
        registry.reconfigure(all_with_ratio(-1.0)),
        Err(RegistryError::Config(_))
    ));
    assert_eq!(registry.config(), before);
    // Legal for all but one, whose own part does not go with it.
    let narrow = Config::default().with(|config| {
        config.window = cutout::Window::count(12);
        config.min_calls = Some(5);
    });
    let error = registry
        .reconfigure(RegistryConfig {
            breaker: narrow,
            ..before
        })
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the config of `picky`: min_calls = 15 is not legal: it must be 1 to the window's size",
    );
    assert_eq!(registry.get("a").unwrap().config(), narrow);
    assert_ne!(
        registry.get("picky").unwrap().config().window,
        narrow.window
    );
}

#[test]
fn events_come_with_the_breakers_name() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&told);
    let registry = builder(&ManualClock::new(), 10)
        .listener(move |name, event| hears.lock().unwrap().push((name.to_owned(), event.to)))
        .prepare(|_, builder| builder.log(true).name("not this one"))
        .build()
        .unwrap();
    registry
        .get_or_create("a")
        .unwrap()
        .allow()
        .unwrap()
        .failure();
    registry.get_or_create("b").unwrap().disable("noise");
    assert_eq!(
        *told.lock().unwrap(),
        [
            ("a".to_owned(), State::Open),
            ("b".to_owned(), State::Disabled)
        ],
    );
    assert_eq!(registry.get("a").unwrap().log().len(), 1);
}

#[test]
fn closures_may_call_the_registry_and_may_panic() {
    type Registry = cutout::registry::Registry<String, ManualClock>;
    static REGISTRY: std::sync::OnceLock<Registry> = std::sync::OnceLock::new();
    static PANICS: AtomicBool = AtomicBool::new(false);
    let registry = REGISTRY.get_or_init(|| {
        builder(&ManualClock::new(), 10)
            .configure(|key, default| {
                assert!(!PANICS.load(Ordering::Relaxed), "as the test wants it");
                if key == "a" {
                    let registry = REGISTRY.get().unwrap();
                    registry.get_or_create("b").unwrap();
                    registry.sweep();
                    registry.config();
                }
                default
            })
            .build()
            .unwrap()
    });
    registry.get_or_create("a").unwrap();
    assert!(registry.get("b").is_some());
    PANICS.store(true, Ordering::Relaxed);
    let panics =
        |call: &(dyn Fn() + std::panic::RefUnwindSafe)| std::panic::catch_unwind(call).is_err();
    assert!(panics(&|| drop(REGISTRY.get().unwrap().get_or_create("c"))));
    assert!(panics(&|| drop(
        REGISTRY.get().unwrap().reconfigure(all_with_ratio(0.3))
    )));
    PANICS.store(false, Ordering::Relaxed);
    registry.get_or_create("c").unwrap();
    registry.reconfigure(all_with_ratio(0.4)).unwrap();
    assert!(
        registry
            .breakers()
            .iter()
            .all(|(_, breaker)| breaker.config() == with_ratio(0.4))
    );
}
