//! Illegal values, and that every legal one matters.

use super::*;

#[test]
fn an_illegal_value_is_refused_with_its_name_and_range() {
    const RATIO: &str = "finite, above 0 and at most 1";
    let legal = Config::default();
    let wait = legal.open_wait;
    let slow = SlowRule {
        limit: Duration::from_secs(1),
        ratio: 0.5,
    };
    let mut rows: Vec<(Config, &str, String, &str)> = Vec::new();
    let mut row = |config, field, value: &dyn ToString, range| {
        rows.push((config, field, value.to_string(), range));
    };

    for ratio in [f64::NAN, -1.0, -0.0, 0.0, 1.000_000_1, f64::INFINITY] {
        let failure_ratio = Some(ratio);
        row(
            legal.with(|config| config.failure_ratio = failure_ratio),
            "failure_ratio",
            &ratio,
            RATIO,
        );
        let timeout_ratio = Some(ratio);
        row(
            legal.with(|config| config.timeout_ratio = timeout_ratio),
            "timeout_ratio",
            &ratio,
            RATIO,
        );
        let slow = Some(SlowRule { ratio, ..slow });
        row(
            legal.with(|config| config.slow = slow),
            "slow.ratio",
            &ratio,
            RATIO,
        );
    }
    for size in [0, 4097, 5000, u32::MAX] {
        let window = Window::count(size);
        row(
            legal.with(|config| config.window = window),
            "window",
            &size,
            "a count of 1 to 4096",
        );
    }
    for min_calls in [0, 21, u32::MAX] {
        row(
            legal.with(|config| config.min_calls = Some(min_calls)),
            "min_calls",
            &min_calls,
            "1 to the window's size",
        );
    }
    for run in [0, 21, u32::MAX] {
        let consecutive_failures = Some(run);
        let range = "1 to the window's size, or none";
        row(
            legal.with(|config| config.consecutive_failures = consecutive_failures),
            "consecutive_failures",
            &run,
            range,
        );
        let failures = Some(run);
        let config = legal.with(|config| config.failures = failures);
        row(config, "failures", &run, range);
    }
    for count in [0, 256, u32::MAX] {
        let range = "1 to 255";
        row(
            legal.with(|config| config.max_probes = count),
            "max_probes",
            &count,
            range,
        );
        row(
            legal.with(|config| config.successes_to_close = count),
            "successes_to_close",
            &count,
            range,
        );
        row(
            legal.with(|config| config.max_inconclusive = count),
            "max_inconclusive",
            &count,
            range,
        );
    }
    let none = legal.with(|config| config.failure_ratio = None);
    let rules = "at least one of consecutive_failures, failures, failure_ratio, timeout_ratio, slow, or a window of scores";
    row(none, "rules", &"none", rules);
    let limit = Some(SlowRule {
        limit: Duration::ZERO,
        ..slow
    });
    row(
        legal.with(|config| config.slow = limit),
        "slow.limit",
        &"0ns",
        "above zero",
    );
    row(
        legal.with(|config| config.abandoned_after = Some(Duration::ZERO)),
        "abandoned_after",
        &"0ns",
        "above zero",
    );
    let probe_lease = Some(Duration::ZERO);
    row(
        legal.with(|config| config.probe_lease = probe_lease),
        "probe_lease",
        &"0ns",
        "above zero",
    );
    row(
        legal.with(|config| config.ramp = Some(Duration::ZERO)),
        "ramp",
        &"0ns",
        "above zero",
    );
    let with = |open_wait| legal.with(|config| config.open_wait = open_wait);
    let zero = OpenWait::fixed(Duration::ZERO);
    row(with(zero), "open_wait.base", &"0ns", "above zero");
    for factor in [f64::NAN, -2.0, 0.5, f64::INFINITY] {
        let range = "finite and at least 1";
        row(
            with(OpenWait { factor, ..wait }),
            "open_wait.factor",
            &factor,
            range,
        );
    }
    let stages = Stages::default();
    for (stages, field, value, range) in [
        (
            Stages { first: 0, ..stages },
            "first",
            0.0,
            "1 to stages.until",
        ),
        (
            Stages {
                first: 65,
                ..stages
            },
            "first",
            65.0,
            "1 to stages.until",
        ),
        (
            Stages {
                growth: 0,
                ..stages
            },
            "growth",
            0.0,
            "2 to 128",
        ),
        (
            Stages {
                growth: 1,
                ..stages
            },
            "growth",
            1.0,
            "2 to 128",
        ),
        (
            Stages {
                growth: 129,
                ..stages
            },
            "growth",
            129.0,
            "2 to 128",
        ),
        (Stages { until: 0, ..stages }, "until", 0.0, "1 to 128"),
        (
            Stages {
                until: 256,
                ..stages
            },
            "until",
            256.0,
            "1 to 128",
        ),
        (
            Stages {
                failure_ratio: 0.0,
                ..stages
            },
            "failure_ratio",
            0.0,
            RATIO,
        ),
        (
            Stages {
                failure_ratio: 1.1,
                ..stages
            },
            "failure_ratio",
            1.1,
            RATIO,
        ),
        (
            Stages {
                failure_ratio: f64::NAN,
                ..stages
            },
            "failure_ratio",
            f64::NAN,
            RATIO,
        ),
        (
            Stages {
                first: 63,
                until: 128,
                ..stages
            },
            "",
            317.0,
            "at most 255 outcomes of all stages together",
        ),
    ] {
        let field = match field {
            "" => "stages",
            "first" => "stages.first",
            "growth" => "stages.growth",
            "until" => "stages.until",
            _ => "stages.failure_ratio",
        };
        row(
            legal.with(|config| config.stages = Some(stages)),
            field,
            &value,
            range,
        );
    }
    let max = Duration::from_secs(1);
    row(
        with(OpenWait { max, ..wait }),
        "open_wait.max",
        &"1s",
        "at least open_wait.base",
    );
    row(
        with(wait.jitter_percent(101)),
        "open_wait.jitter_percent",
        &101,
        "0 to 100",
    );

    let live = Breaker::new(legal).unwrap();
    for (config, field, value, range) in rows {
        let refused = Breaker::new(config).unwrap_err();
        assert_eq!(refused.field(), field);
        assert_eq!(refused.value(), value, "{field}");
        assert_eq!(refused.legal(), range, "{field}");
        assert_eq!(live.reconfigure(config), Err(refused), "reconfigure alike");
    }
    assert_eq!(live.config(), legal);
}

#[test]
fn every_field_changes_what_happens() {
    // A new field is named here, and has a row below.
    let Config {
        window: _,
        min_calls: _,
        failure_ratio: _,
        timeout_ratio: _,
        slow: None | Some(SlowRule { limit: _, ratio: _ }),
        overdue: _,
        consecutive_failures: _,
        failures: _,
        open_wait:
            OpenWait {
                base: _,
                factor: _,
                max: _,
                jitter_percent: _,
            },
        max_probes: _,
        successes_to_close: _,
        stages:
            None
            | Some(Stages {
                first: _,
                growth: _,
                until: _,
                failure_ratio: _,
            }),
        probe_lease: _,
        ramp: _,
        max_inconclusive: _,
        abandoned: _,
        abandoned_after: _,
        panicked: _,
        ..
    } = Config::default();
    let fields = serde_json::to_value(Config::default()).unwrap();
    assert_eq!(fields.as_object().unwrap().len(), 18);

    let rows = [
        ("W=10 M=5 R=0.6", "W=5 M=5 R=0.6", "s*5 f f f"),
        ("M=1", "M=2", "f"),
        ("R=0.5", "R=0.9", "s f"),
        ("TR=none", "TR=0.5", "s t"),
        ("SLOW=1s/1", "SLOW=2s/1", "s~1s"),
        ("SLOW=1s/1", "SLOW=1s/0.5", "s s~1s"),
        ("R=none C=2", "R=none C=3", "f f"),
        ("W=10s/5", "W=20s/5", "M=2 f +10s f"),
        ("W=20s/2", "W=20s/4", "M=2 +9s f +12s f"),
        ("HUNG=none", "HUNG=5s", "a1 +6s s"),
        ("HUNG=4s", "HUNG=5s", "a1 +5s s"),
        ("SLOW=9s/1 HUNG=5s", "SLOW=9s/1 HUNG=slow", "R=1 a1 +6s a"),
        ("O=10s*1..40s", "O=11s*1..40s", "f +10s a"),
        ("O=10s*1..40s", "O=10s*2..40s", "f +10s f +10s a"),
        ("O=10s*2..10s", "O=10s*2..20s", "f +10s f +10s a"),
        ("J=0", "J=50", "f +9999ms a"),
        ("H=1", "H=2", "f +10s a a"),
        ("S=1", "S=2", "f +10s s"),
        ("L=5s", "L=6s", "f +10s a +5s a"),
        ("L=none", "L=6s", "f +10s a +6s a"),
        ("I=1", "I=2", "f +10s i"),
        ("G=none", "G=1*2..4/0.5", "f +10s s"),
        ("G=1*2..4/0.5", "G=2*2..4/0.5", "f +10s a a"),
        ("G=1*2..4/0.5", "G=1*3..4/0.5", "f +10s s a a a"),
        ("G=1*2..2/0.5", "G=1*2..4/0.5", "f +10s s*3"),
        ("G=2*2..4/0.5", "G=2*2..4/1", "f +10s f"),
        ("D=i", "D=f", "d"),
        ("D=i", "D=n", "f +10s d"),
        ("DA=none", "DA=5s", "a1 +5s d(1)"),
        ("R=none F=2", "R=none F=3", "f s f"),
        ("P=i", "P=f", "p"),
    ];
    for (one, other, steps) in rows {
        let [one, other] = [one, other].map(|settings| format!("{settings}: {steps}"));
        assert_ne!(replay(&one), replay(&other), "{one} | {other}");
    }
}

#[test]
fn what_was_not_said_of_min_calls_follows_the_window() {
    let small = Breaker::builder().window(Window::count(5)).build().unwrap();
    assert_eq!(small.config().min_calls, None);
    assert_eq!(small.config().min_calls(), 5);
    for _ in 0..4 {
        small.allow().unwrap().failure();
    }
    assert_eq!(small.state(), State::Closed);
    small.allow().unwrap().failure();
    assert_eq!(small.state(), State::Open);

    // It follows on, up to where it began; and a time window holds as many.
    let wider = small
        .config()
        .with(|config| config.window = Window::count(100));
    assert_eq!(wider.min_calls(), 10);
    let smaller = wider.with(|config| config.window = Window::count(3));
    small.reconfigure(smaller).unwrap();
    assert_eq!(small.config().min_calls(), 3);
    let by_time = smaller.with(|config| config.window = Window::time(Duration::from_secs(10), 10));
    assert_eq!(by_time.min_calls(), 10);

    let said = smaller.with(|config| config.min_calls = Some(5));
    assert_eq!(said.validate().unwrap_err().field(), "min_calls");
}
