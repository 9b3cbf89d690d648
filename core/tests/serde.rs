//! Configs, snapshots and events as text and as bytes.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cutout::registry::RegistryConfig;
use cutout::verdict::Verdict;
use cutout::{
    Breaker, Cause, Config, Cusum, Event, ManualClock, OpenWait, Outcome, Overdue, Score, SlowRule,
    Snapshot, Stages, State, ThrottleConfig, Window,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A config that differs from the default in every field.
fn unlike_the_default() -> Config {
    Config::default().with(|config| {
        config.window = Window::count(4096);
        config.min_calls = Some(11);
        config.failure_ratio = None;
        config.timeout_ratio = Some(0.57);
        config.slow = Some(SlowRule {
            limit: Duration::from_micros(1_500_001),
            ratio: 1.0,
        });
        config.overdue = Some(Overdue::Timeout(Duration::from_secs(30)));
        config.consecutive_failures = Some(7);
        config.failures = Some(9);
        config.open_wait =
            OpenWait::exponential(Duration::from_nanos(1), 1.5, Duration::MAX).jitter_percent(100);
        config.max_probes = 255;
        config.successes_to_close = 3;
        config.probe_lease = None;
        config.ramp = Some(Duration::from_millis(2500));
        config.max_inconclusive = 2;
        config.abandoned = Outcome::Failure;
        config.abandoned_after = Some(Duration::from_secs(90));
        config.panicked = Outcome::Timeout;
        config.stages = Some(Stages {
            first: 3,
            growth: 5,
            until: 101,
            failure_ratio: 0.57,
        });
    })
}

/// What becomes of a value that is written and read again, in each format.
fn through_all_formats<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value, "{text}");
    let text = toml::to_string(value).unwrap();
    assert_eq!(&toml::from_str::<T>(&text).unwrap(), value, "{text}");
    let bytes = postcard::to_allocvec(value).unwrap();
    assert_eq!(&postcard::from_bytes::<T>(&bytes).unwrap(), value);
}

#[test]
fn a_config_is_read_back_as_it_was_written() {
    for config in [
        Config::default(),
        Config::high_traffic(),
        Config::low_traffic(),
        unlike_the_default(),
        Config::default().with(|config| {
            config.window = Window::time(Duration::MAX, 60);
            config.overdue = Some(Overdue::Slow);
        }),
        Config::cusum(scores()),
    ] {
        through_all_formats(&config);
    }
}

const SCORE: Score = Score {
    bad: 10,
    good: 1,
    limit: 55,
};

/// Scores that differ from the default in every field.
fn scores() -> Cusum {
    let slow = Score {
        bad: 7,
        good: 2,
        limit: 4095,
    };
    Cusum::of_failures(SCORE)
        .and_slow(Duration::from_secs(2), slow)
        .lasting(Duration::ZERO)
        .max_age(None)
        .head_start_percent(50)
}

#[test]
fn a_window_of_scores_is_written_by_their_numbers_or_by_what_they_shall_do() {
    let numbers = "window = { cusum = { failures = { bad = 10, good = 1, limit = 55 } } }";
    let rates = "window = { cusum = { failures = { p0 = 0.01, p1 = 0.3, calls = 1e9 } } }";
    let wanted = Config::for_rates(0.01, 0.3, 1e9).unwrap();
    assert_eq!(wanted, Config::cusum(Cusum::of_failures(SCORE)));
    for text in [numbers, rates] {
        assert_eq!(toml::from_str::<Config>(text).unwrap(), wanted, "{text}");
    }
    let rates = json!({ "cusum": {
        "slow": { "limit": "2s", "score": { "p0": 0.01, "p1": 0.3, "calls": 1_000_000_000 } },
        "lasting": "1s",
        "max_age": "none",
    } });
    let window = serde_json::from_value::<Window>(rates).unwrap();
    let slow = Cusum::of_slow(Duration::from_secs(2), SCORE);
    let slow = slow.lasting(Duration::from_secs(1)).max_age(None);
    assert_eq!(window, Window::Cusum(slow));
    assert_eq!(
        serde_json::to_value(window).unwrap()["cusum"]["slow"]["score"],
        json!({ "bad": 10, "good": 1, "limit": 55 }),
        "what was found is what is written"
    );
}

#[test]
fn a_score_that_cannot_be_is_refused_by_the_name_of_its_field() {
    let read = |score: &str| {
        let text = format!("window = {{ cusum = {{ failures = {score} }} }}");
        let error = toml::from_str::<Config>(&text).unwrap_err();
        error.message().to_owned()
    };
    for (score, told) in [
        (
            "{ p0 = 0.3, p1 = 0.01, calls = 1e9 }",
            "p0: 0.3 is not legal: it must be less than p1",
        ),
        (
            "{ p0 = 0.3, p1 = 0.3, calls = 1e9 }",
            "p0: 0.3 is not legal: it must be less than p1",
        ),
        (
            "{ p0 = 0, p1 = 0.3, calls = 1e9 }",
            "p0: 0.0 is not legal: it must be above 0",
        ),
        (
            "{ p0 = nan, p1 = 0.3, calls = 1e9 }",
            "p0: NaN is not legal: it must be above 0",
        ),
        (
            "{ p0 = 0.01, p1 = 1, calls = 1e9 }",
            "p1: 1.0 is not legal: it must be above 0 and below 1",
        ),
        (
            "{ p0 = 0.01, p1 = 0.3, calls = 0 }",
            "calls: 0.0 is not legal: it must be 1 or more",
        ),
        (
            "{ p0 = 0.1, p1 = 0.3, calls = 1e300 }",
            "calls: 1e300 is not legal: it must be fewer, or p1 further above p0",
        ),
        ("{ p0 = 0.01, p1 = 0.3 }", "missing field `calls`"),
        ("{ bad = 10, good = 1 }", "missing field `limit`"),
        ("{}", "missing field `bad`"),
        (
            "{ bad = 10, good = 1, limit = 55, p0 = 0.01 }",
            "give either `bad`, `good` and `limit`, or",
        ),
        ("{ bad = -1, good = 1, limit = 55 }", "bad: "),
        ("{ p0 = 0.01, p2 = 0.3, calls = 1e9 }", "unknown field `p2`"),
        (
            "55",
            "{ bad = 10, good = 1, limit = 55 } or { p0 = 0.01, p1 = 0.3, calls = 1e9 }",
        ),
    ] {
        let error = read(score);
        let place = "window: cusum: failures: ";
        assert!(
            error.starts_with(place) && error.contains(told),
            "{score}: {error}"
        );
    }
}

#[test]
fn a_window_is_a_count_or_a_time() {
    let read = |window: Value| serde_json::from_value::<Window>(window);
    let minute = Duration::from_secs(60);
    let usual = Window::time(minute, Window::BUCKETS);
    for (written, window) in [
        (json!(7), Window::count(7)),
        (json!("7"), Window::count(7)),
        (json!("1m"), usual),
        (json!("1m in 6"), Window::time(minute, 6)),
        (json!({ "count": 7 }), Window::count(7)),
        (
            json!({ "time": "1m", "buckets": 6 }),
            Window::time(minute, 6),
        ),
        (json!({ "time": "1m" }), usual),
    ] {
        assert_eq!(read(written).unwrap(), window);
    }
    for (window, written) in [
        (Window::count(7), json!(7)),
        (Window::time(minute, 6), json!("60s in 6")),
    ] {
        assert_eq!(serde_json::to_value(window).unwrap(), written);
    }
    for both in [
        json!({ "count": 7, "time": "1m" }),
        json!({ "count": 7, "buckets": 6 }),
    ] {
        let error = read(both).unwrap_err().to_string();
        assert!(
            error.starts_with("give either `count`, or `time`"),
            "{error}"
        );
    }
    for wrong in [
        json!("30 s in"),
        json!("ten"),
        json!(-1),
        json!(0.5),
        json!("1m in -1"),
    ] {
        let error = read(wrong).unwrap_err().to_string();
        assert!(
            error.contains("such as 100, a time such as \"10s\""),
            "{error}"
        );
    }
}

#[test]
fn a_config_is_written_for_people() {
    let written = serde_json::to_value(unlike_the_default()).unwrap();
    let expected = json!({
        "window": 4096,
        "min_calls": 11,
        "failure_ratio": "none",
        "timeout_ratio": 0.57,
        "slow": { "limit": "1s 500ms 1us", "ratio": 1.0 },
        "overdue": "30s",
        "consecutive_failures": 7,
        "failures": 9,
        "open_wait": {
            "base": "1ns",
            "factor": 1.5,
            "max": "18446744073709551615s 999ms 999us 999ns",
            "jitter_percent": 100,
        },
        "max_probes": 255,
        "successes_to_close": 3,
        "probe_lease": "none",
        "ramp": "2s 500ms",
        "max_inconclusive": 2,
        "abandoned": "failure",
        "abandoned_after": "90s",
        "panicked": "timeout",
        "stages": { "first": 3, "growth": 5, "until": 101, "failure_ratio": 0.57 },
    });
    assert_eq!(written, expected);
}

#[test]
fn a_field_that_is_left_out_is_that_of_the_default() {
    assert_eq!(toml::from_str::<Config>("").unwrap(), Config::default());
    let Value::Object(fields) = serde_json::to_value(unlike_the_default()).unwrap() else {
        panic!("a config is written as a map");
    };
    for (name, value) in fields {
        let config: Config = serde_json::from_value(json!({ name.clone(): value })).unwrap();
        assert_ne!(config, Config::default(), "{name}");
        let Value::Object(read) = serde_json::to_value(config).unwrap() else {
            panic!("a config is written as a map");
        };
        let Value::Object(default) = serde_json::to_value(Config::default()).unwrap() else {
            panic!("a config is written as a map");
        };
        let changed = read
            .iter()
            .filter(|(name, value)| default[*name] != **value);
        assert_eq!(changed.map(|(name, _)| name).collect::<Vec<_>>(), [&name]);
    }
}

#[test]
fn an_optional_field_is_switched_off_by_none_and_by_null() {
    let text = r#"failure_ratio = "none""#;
    assert_eq!(toml::from_str::<Config>(text).unwrap().failure_ratio, None);
    let null = json!({ "failure_ratio": null, "probe_lease": null });
    let config: Config = serde_json::from_value(null).unwrap();
    assert_eq!((config.failure_ratio, config.probe_lease), (None, None));
}

#[test]
fn an_open_wait_may_be_one_duration() {
    let config: Config = toml::from_str(r#"open_wait = "1m 30s""#).unwrap();
    assert_eq!(config.open_wait, OpenWait::fixed(Duration::from_secs(90)));
}

#[test]
fn a_ratio_may_be_a_whole_number() {
    let config: Config = toml::from_str("failure_ratio = 1").unwrap();
    assert_eq!(config.failure_ratio, Some(1.0));
}

/// What is wrong with a config.
fn refusal(config: Value) -> String {
    let as_json = serde_json::from_value::<Config>(config.clone()).unwrap_err();
    let as_toml = toml::Value::try_from(config).map(|config| config.try_into::<Config>());
    if let Ok(as_toml) = as_toml {
        assert!(as_toml.is_err(), "refused as JSON, but not as TOML");
    }
    as_json.to_string()
}

#[test]
fn every_error_names_its_field() {
    for name in [
        "window",
        "min_calls",
        "failure_ratio",
        "timeout_ratio",
        "slow",
        "consecutive_failures",
        "open_wait",
        "max_probes",
        "successes_to_close",
        "stages",
        "probe_lease",
        "ramp",
        "max_inconclusive",
        "abandoned",
        "panicked",
    ] {
        for wrong in [
            json!("wrong"),
            json!(-1),
            json!(true),
            json!([[]]),
            json!({ "no": 1 }),
        ] {
            let is_ratio_below_zero = name.ends_with("_ratio") && wrong == json!(-1);
            if !is_ratio_below_zero {
                let error = refusal(json!({ name: wrong }));
                assert!(error.starts_with(&format!("{name}: ")), "{error}");
            }
        }
    }
    for (config, beginning) in [
        (
            json!({ "slow": { "limit": "2 weeks", "ratio": 1 } }),
            "slow: limit: \"2 weeks\" is not a duration: write numbers with their units",
        ),
        (
            json!({ "slow": { "limit": "2s" } }),
            "slow: missing field `ratio`",
        ),
        (
            json!({ "open_wait": { "base": "1s", "factor": 2.0 } }),
            "open_wait: missing field `max`",
        ),
        (
            json!({ "open_wait": { "base": 1, "factor": 2.0, "max": "1s" } }),
            "open_wait: base: invalid type: integer `1`, expected a duration with its unit",
        ),
        (
            json!({ "probe_lease": 60 }),
            "probe_lease: invalid type: integer `60`",
        ),
        (
            json!({ "window": { "count": 4_294_967_296_u64 } }),
            "window: count: ",
        ),
        (json!({ "window": {} }), "window: missing field `count`"),
        (
            json!({ "abandoned": "succes" }),
            "abandoned: unknown variant `succes`, expected one of `success`",
        ),
        (
            json!({ "failur_ratio": 0.5 }),
            "unknown field `failur_ratio`, expected one of `window`, `min_calls`, `failure_ratio`",
        ),
    ] {
        let error = refusal(config);
        assert!(error.starts_with(beginning), "{error}");
    }
    let twice = serde_json::from_str::<Config>(r#"{ "min_calls": 1, "min_calls": 2 }"#);
    let error = twice.unwrap_err().to_string();
    assert!(error.starts_with("duplicate field `min_calls`"), "{error}");
    assert!(error.contains("line 1"), "where it is stays known: {error}");
}

#[test]
fn bytes_that_end_too_early_are_refused() {
    let bytes = postcard::to_allocvec(&unlike_the_default()).unwrap();
    for end in 0..bytes.len() {
        assert!(
            postcard::from_bytes::<Config>(&bytes[..end]).is_err(),
            "{end}"
        );
    }
}

#[test]
fn an_illegal_value_is_read_and_refused_when_a_breaker_is_built() {
    let config: Config = toml::from_str("failure_ratio = 1.5").unwrap();
    assert_eq!(Breaker::new(config).unwrap_err().field(), "failure_ratio");
}

const WAIT: Duration = Duration::from_secs(10);

/// A breaker once in every state, with what of it is written.
fn in_every_state(mut seen: impl FnMut(&Breaker<ManualClock>)) -> Vec<Event> {
    let clock = ManualClock::new();
    clock.set_unix_time(Duration::from_nanos(1_764_500_000_123_456_789));
    let events = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&events);
    let breaker = Breaker::builder()
        .consecutive_failures(2)
        .slow(SlowRule {
            limit: WAIT,
            ratio: 1.0,
        })
        .open_wait(OpenWait::fixed(WAIT))
        .listener(move |event| heard.lock().unwrap().push(event.clone()))
        .clock(clock.clone())
        .build()
        .unwrap();
    seen(&breaker);
    breaker.allow().unwrap().done_after(Outcome::Success, WAIT);
    breaker.allow().unwrap().timeout();
    seen(&breaker);
    breaker.allow().unwrap().failure();
    seen(&breaker);
    clock.advance(WAIT);
    let probe = breaker.allow().unwrap();
    seen(&breaker);
    probe.failure();
    seen(&breaker);
    breaker.force_open(Some(WAIT), "drill");
    seen(&breaker);
    breaker.disable("drill");
    seen(&breaker);
    breaker.observe_only("drill");
    breaker.allow().unwrap().failure();
    seen(&breaker);
    let events = events.lock().unwrap();
    events.clone()
}

#[test]
fn a_snapshot_of_every_state_is_read_back_as_it_was_written() {
    let mut states = Vec::new();
    in_every_state(|breaker| {
        let snapshot = breaker.snapshot();
        states.push(snapshot.state);
        through_all_formats(&snapshot);
    });
    for state in [
        State::Closed,
        State::Open,
        State::HalfOpen,
        State::ForcedOpen,
        State::Disabled,
        State::ObserveOnly,
    ] {
        assert!(states.contains(&state), "{state}");
    }
}

#[test]
fn a_snapshot_that_was_written_restores_a_breaker() {
    in_every_state(|breaker| {
        let snapshot = breaker.snapshot();
        let text = serde_json::to_string(&snapshot).unwrap();
        let restored = |snapshot| {
            Breaker::builder()
                .config(breaker.config())
                .clock(ManualClock::new())
                .restore(snapshot)
                .build()
                .unwrap()
                .snapshot()
        };
        let read = serde_json::from_str(&text).unwrap();
        assert_eq!(restored(read), restored(snapshot));
    });
}

#[test]
fn a_snapshot_of_a_later_release_with_more_fields_is_read() {
    in_every_state(|breaker| {
        let snapshot = breaker.snapshot();
        let mut written = serde_json::to_value(&snapshot).unwrap();
        written["canary"] = json!({ "share": 0.1, "since": ["12:00", null] });
        written["version"] = json!(1);
        for sample in written["samples"].as_array_mut().unwrap() {
            sample["label"] = json!("connect");
        }
        let read: Snapshot = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(read, snapshot);
        // One of a release that wrote no version.
        written.as_object_mut().unwrap().remove("version");
        let read: Snapshot = serde_json::from_value(written).unwrap();
        assert_eq!(read, snapshot);
    });
}

#[test]
fn a_snapshot_that_must_not_be_read_says_so_by_its_version() {
    in_every_state(|breaker| {
        let mut written = serde_json::to_value(breaker.snapshot()).unwrap();
        assert_eq!(written["version"], json!(1));
        written["version"] = json!(2);
        let error = serde_json::from_value::<Snapshot>(written).unwrap_err();
        assert_eq!(
            error.to_string(),
            "version: 2 is not legal: this release reads a Snapshot of version 1 at most; let the release \
             read it that wrote it, or do without it"
        );
        let mut bytes = postcard::to_allocvec(&breaker.snapshot()).unwrap();
        assert_eq!(bytes[0], 1, "the version is the first field");
        bytes[0] = 2;
        assert!(postcard::from_bytes::<Snapshot>(&bytes).is_err());
    });
}

#[test]
fn events_are_read_back_as_they_were_written() {
    let events = in_every_state(|_| ());
    assert!(events.iter().any(|event| event.reason.is_some()));
    events.iter().for_each(through_all_formats);
    let trip = json!({
        "generation": 1,
        "from": "closed",
        "to": "open",
        "cause": "consecutive_failures",
        "reason": null,
        "at": "0s",
        "counts": { "samples": 3, "failures": 2, "timeouts": 1, "slow": 1 },
        "threshold": { "failures": 2 },
        "label": null,
    });
    assert_eq!(serde_json::to_value(&events[0]).unwrap(), trip);
}

#[test]
fn every_cause_is_read_back_as_it_was_written() {
    /// A table, which is what TOML can hold.
    fn written(cause: Cause) -> String {
        let value = serde_json::to_value(cause).unwrap();
        value.as_str().unwrap().to_owned()
    }
    let causes = [
        Cause::ConsecutiveFailures,
        Cause::FailureRatio,
        Cause::TimeoutRatio,
        Cause::SlowRatio,
        Cause::ProbeFailed,
        Cause::ProbeTimedOut,
        Cause::ProbeSlow,
        Cause::ProbesInconclusive,
        Cause::ProbesPassed,
        Cause::WaitElapsed,
        Cause::LeaseLost,
        Cause::Operator,
        Cause::Reconfigured,
        Cause::Outlier,
        Cause::Peers,
        Cause::Ramping,
        Cause::Throttled,
    ];
    for cause in causes {
        let same = causes
            .iter()
            .filter(|other| written(**other) == written(cause));
        assert_eq!(same.count(), 1, "{cause:?}");
        let bytes = postcard::to_allocvec(&cause).unwrap();
        assert_eq!(postcard::from_bytes::<Cause>(&bytes).unwrap(), cause);
        let text = serde_json::to_string(&cause).unwrap();
        assert_eq!(serde_json::from_str::<Cause>(&text).unwrap(), cause);
    }
}

#[test]
fn the_config_of_a_registry_is_written_like_that_of_a_breaker() {
    let config = RegistryConfig {
        breaker: unlike_the_default(),
        throttle: Some(ThrottleConfig {
            k: 3.0,
            ..ThrottleConfig::default()
        }),
        max_keys: 7,
        idle: None,
        forget: Some(Duration::from_secs(86_400)),
    };
    through_all_formats(&config);
    let text = "forget = \"1d\"\nidle = \"none\"\n[breaker]\nmin_calls = 5\n";
    let read: RegistryConfig = toml::from_str(text).unwrap();
    assert_eq!((read.forget, read.idle), (config.forget, None));
    assert_eq!(read.breaker.min_calls(), 5);
    assert_eq!(read.max_keys, RegistryConfig::default().max_keys);
    let error = toml::from_str::<RegistryConfig>("[breaker]\nslow = 1").unwrap_err();
    assert!(error.message().starts_with("breaker: slow: "), "{error}");
}

#[test]
fn a_verdict_is_read_back_as_it_was_written() {
    let table: BTreeMap<String, Verdict> = [
        ("404", Verdict::FAILURE),
        ("409", Verdict::IGNORED.again()),
        ("504", Verdict::TIMEOUT.again()),
        ("rate_limit_error", Verdict::RETRY),
    ]
    .map(|(code, verdict)| (code.to_owned(), verdict))
    .into();
    through_all_formats(&table);
    let written = json!({
        "404": "failure",
        "409": { "outcome": "ignored", "retry": true, "waits": false },
        "504": { "outcome": "timeout", "retry": true, "waits": true },
        "rate_limit_error": "retry",
    });
    assert_eq!(serde_json::to_value(&table).unwrap(), written);
}

#[test]
fn a_verdict_whose_parts_are_left_out_says_what_its_outcome_says() {
    let read = |value: Value| serde_json::from_value::<Verdict>(value);
    for (written, verdict) in [
        (json!({ "outcome": "failure" }), Verdict::FAILURE),
        (
            json!({ "outcome": "failure", "retry": true }),
            Verdict::RETRY,
        ),
        (
            json!({ "outcome": "answered", "waits": true }),
            Verdict::ANSWERED.waiting(),
        ),
        (
            json!({ "outcome": "timeout", "waits": false }),
            Verdict {
                waits: false,
                ..Verdict::TIMEOUT
            },
        ),
    ] {
        assert_eq!(read(written).unwrap(), verdict);
    }
    for (wrong, told) in [
        (
            json!("fail"),
            "`fail`: a verdict is one of success, answered",
        ),
        (
            json!(404),
            "expected the name of a verdict such as \"failure\"",
        ),
        (
            json!({ "outcome": "retry" }),
            "outcome: unknown variant `retry`",
        ),
        (
            json!({ "outcome": "failure", "again": true }),
            "unknown field `again`",
        ),
        (json!({ "retry": true }), "missing field `outcome`"),
    ] {
        let error = read(wrong).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn the_config_of_a_throttle_is_written_in_words() {
    let config = ThrottleConfig {
        length: Duration::from_secs(120),
        k: 1.5,
        ..ThrottleConfig::default()
    };
    through_all_formats(&config);
    let written = "length = \"2m\"\nk = 1.5";
    assert_eq!(toml::from_str::<ThrottleConfig>(written).unwrap(), config);
    let error = toml::from_str::<ThrottleConfig>("multiplier = 2").unwrap_err();
    assert!(error.message().contains("multiplier"), "{error}");
    let error = toml::from_str::<ThrottleConfig>("length = 10").unwrap_err();
    assert!(error.message().starts_with("length: "), "{error}");
    let read: RegistryConfig = toml::from_str("throttle = { k = 1.5, length = '2m' }").unwrap();
    assert_eq!(read.throttle, Some(config));
    let none: RegistryConfig = toml::from_str("throttle = 'none'").unwrap();
    assert_eq!(none.throttle, None);
}
