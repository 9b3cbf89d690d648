//! Configs laid one over another: defaults, files, the environment, by `figment` and by `config`.

use std::collections::HashMap;
use std::time::Duration;

use cutout::{Breaker, Config, OpenWait, Overdue, SlowRule, Window};
use figment::providers::{Env, Format, Serialized, Toml};
use figment::{Figment, Jail};

const BASE: &str = r#"
    window = { count = 100 }
    min_calls = 20
    failure_ratio = 0.2
    slow = { limit = "2s", ratio = 0.8 }
    open_wait = "30s"
"#;

/// What each of the two makes of a file laid over the base.
fn laid_over(file: &str) -> [Result<Config, String>; 2] {
    let figment = Figment::new()
        .merge(Toml::string(BASE))
        .merge(Toml::string(file));
    let file_of = |text| config::File::from_str(text, config::FileFormat::Toml);
    let config = config::Config::builder()
        .add_source(file_of(BASE))
        .add_source(file_of(file));
    [
        figment.extract().map_err(|error| error.to_string()),
        config
            .build()
            .and_then(config::Config::try_deserialize)
            .map_err(|error| error.to_string()),
    ]
}

/// What each of the two makes of the base and of variables laid over it.
#[allow(clippy::result_large_err, reason = "the closure's error is figment's")]
fn with_environment(variables: &[(&str, &str)]) -> [Result<Config, String>; 2] {
    let mut by_figment = Err(String::new());
    Jail::expect_with(|jail| {
        for (name, value) in variables {
            jail.set_env(format!("APP_{name}"), value);
        }
        let figment = Figment::new().merge(Toml::string(BASE));
        let figment = figment.merge(Env::prefixed("APP_").split("__"));
        by_figment = figment.extract().map_err(|error| error.to_string());
        Ok(())
    });
    let named = variables
        .iter()
        .map(|(name, value)| (format!("APP_{name}"), (*value).to_string()));
    let environment = config::Environment::with_prefix("APP")
        .prefix_separator("_")
        .separator("__")
        .source(Some(named.collect::<HashMap<_, _>>()));
    let by_config = config::Config::builder()
        .add_source(config::File::from_str(BASE, config::FileFormat::Toml))
        .add_source(environment)
        .build()
        .and_then(config::Config::try_deserialize)
        .map_err(|error| error.to_string());
    [by_figment, by_config]
}

#[test]
fn a_window_of_another_kind_replaces_the_one_below() {
    let time = Window::time(Duration::from_secs(10), Window::BUCKETS);
    for read in laid_over(r#"window = "10s""#) {
        assert_eq!(read.unwrap().window, time);
    }
    for read in laid_over("window = 50") {
        assert_eq!(read.unwrap().window, Window::count(50));
    }
    // Two tables become one, and nobody knows which of the fields came last.
    for read in laid_over(r#"window = { time = "10s" }"#) {
        let error = read.unwrap_err();
        assert!(
            error.contains("write the window in one word, such as 100 or \"10s\""),
            "{error}"
        );
    }
}

#[test]
fn defaults_that_are_serialized_are_laid_under() {
    let file = "window = { time = '10s', buckets = 20 }\nconsecutive_failures = 3";
    let figment = Figment::from(Serialized::defaults(Config::default())).merge(Toml::string(file));
    let read: Config = figment.extract().unwrap();
    assert_eq!(read.window, Window::time(Duration::from_secs(10), 20));
    assert_eq!(read.consecutive_failures, Some(3));
    assert_eq!(read.probe_lease, Config::default().probe_lease);
}

#[test]
fn one_field_of_a_table_may_be_laid_over() {
    for read in laid_over("slow = { ratio = 0.5 }") {
        let slow = SlowRule {
            limit: Duration::from_secs(2),
            ratio: 0.5,
        };
        assert_eq!(read.unwrap().slow, Some(slow));
    }
    for read in laid_over("open_wait = { base = '1s', factor = 2.0, max = '1m' }\nslow = 'none'") {
        let read = read.unwrap();
        let (base, max) = (Duration::from_secs(1), Duration::from_secs(60));
        assert_eq!(read.open_wait, OpenWait::exponential(base, 2.0, max));
        assert_eq!(read.slow, None);
    }
}

#[test]
fn every_field_can_be_set_by_the_environment() {
    let variables = [
        ("WINDOW", "10s in 20"),
        ("MIN_CALLS", "5"),
        ("FAILURE_RATIO", "0.25"),
        ("TIMEOUT_RATIO", "0.1"),
        ("SLOW__LIMIT", "500ms"),
        ("SLOW__RATIO", "0.9"),
        ("OVERDUE", "slow"),
        ("CONSECUTIVE_FAILURES", "4"),
        ("OPEN_WAIT", "1m"),
        ("MAX_PROBES", "2"),
        ("SUCCESSES_TO_CLOSE", "3"),
        ("PROBE_LEASE", "none"),
        ("MAX_INCONCLUSIVE", "7"),
        ("ABANDONED", "failure"),
        ("PANICKED", "ignored"),
    ];
    for read in with_environment(&variables) {
        let config = read.unwrap();
        assert_eq!(config.window, Window::time(Duration::from_secs(10), 20));
        assert_eq!((config.min_calls(), config.failure_ratio), (5, Some(0.25)));
        assert_eq!(
            (config.timeout_ratio, config.consecutive_failures),
            (Some(0.1), Some(4))
        );
        let limit = Duration::from_millis(500);
        assert_eq!(config.slow, Some(SlowRule { limit, ratio: 0.9 }));
        assert_eq!(config.overdue, Some(Overdue::Slow));
        assert_eq!(config.open_wait, OpenWait::fixed(Duration::from_secs(60)));
        assert_eq!((config.max_probes, config.successes_to_close), (2, 3));
        assert_eq!((config.probe_lease, config.max_inconclusive), (None, 7));
        Breaker::new(config).unwrap();
    }
    for read in with_environment(&[("WINDOW", "50")]) {
        assert_eq!(read.unwrap().window, Window::count(50));
    }
    for read in with_environment(&[("WINDOW", "10s"), ("FAILURE_RATIO", "none")]) {
        let config = read.unwrap();
        assert_eq!(
            config.window,
            Window::time(Duration::from_secs(10), Window::BUCKETS)
        );
        assert_eq!(config.failure_ratio, None);
    }
}

#[test]
fn an_error_shows_what_is_legal() {
    for (name, value, shown) in [
        ("OPEN_WAIT", "30", "such as \"30s\""),
        ("OPEN_WAIT", "soon", "such as \"30s\""),
        ("PROBE_LEASE", "30", "such as \"30s\""),
        ("SLOW", "2s", "such as { limit = \"2s\", ratio = 0.8 }"),
        ("SLOW__LIMIT", "2", "such as \"30s\""),
        ("WINDOW", "often", "a time such as \"10s\""),
    ] {
        for read in with_environment(&[(name, value)]) {
            let error = read.unwrap_err();
            assert!(error.contains(shown), "{name}={value}: {error}");
        }
    }
}
