//! What the series say of a breaker.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use cutout::{Breaker, Cause, Config, Cusum, ManualClock, Outcome, Score, SlowRule, State, Window};
use proptest::prelude::*;
use serde::Serialize;

use crate::page::Scraper;
use crate::{WAIT, fragile};

#[test]
fn each_state_has_its_number() {
    let clock = ManualClock::new();
    let breaker = fragile(&clock).build().unwrap();
    let state = || Scraper::new().observe(&breaker).page().value("state", "");
    assert_eq!(state(), 0.0);
    breaker.allow().unwrap().failure();
    assert_eq!(state(), 1.0);
    clock.advance(WAIT);
    let probe = breaker.allow().unwrap();
    assert_eq!(state(), 2.0);
    drop(probe);
    breaker.force_open(None, "");
    assert_eq!(state(), 3.0);
    breaker.disable("");
    assert_eq!(state(), 4.0);
    breaker.observe_only("");
    assert_eq!(state(), 5.0);
}

#[test]
fn a_wait_that_is_over_reads_as_half_open_before_any_call() {
    let clock = ManualClock::new();
    let breaker = fragile(&clock).build().unwrap();
    breaker.allow().unwrap().failure();
    clock.advance(WAIT);
    let scraper = Scraper::new();
    let page = scraper.observe(&breaker).page();
    assert_eq!(page.value("state", ""), 2.0);
    assert_eq!(page.value("wait_seconds", ""), 0.0);
    assert_eq!(breaker.generation(), 1, "and nothing has happened");
}

#[test]
fn the_wait_left_shrinks_and_without_an_end_is_infinite() {
    let clock = ManualClock::new();
    let breaker = fragile(&clock).build().unwrap();
    let wait = || {
        Scraper::new()
            .observe(&breaker)
            .page()
            .value("wait_seconds", "")
    };
    assert_eq!(wait(), 0.0);
    breaker.allow().unwrap().failure();
    assert_eq!(wait(), 10.0);
    clock.advance(Duration::from_millis(6500));
    assert_eq!(wait(), 3.5);
    breaker.force_open(None, "maintenance");
    assert_eq!(wait(), f64::INFINITY);
}

#[test]
fn calls_are_counted_by_kind_and_outcome() {
    let clock = ManualClock::new();
    let breaker = fragile(&clock).build().unwrap();
    breaker.allow().unwrap().success();
    breaker.allow().unwrap().answered();
    breaker.allow().unwrap().ignore();
    drop(breaker.allow().unwrap());
    let late = breaker.allow().unwrap();
    breaker.allow().unwrap().timeout();
    breaker.allow().unwrap_err();
    clock.advance(WAIT);
    let probe = breaker.allow().unwrap();
    let scraper = Scraper::new();
    assert_eq!(
        scraper
            .observe(&breaker)
            .page()
            .value("probes_in_flight", ""),
        1.0
    );
    probe.failure();
    late.failure();

    // Twice, which changes nothing.
    let page = scraper.observe(&breaker).observe(&breaker).page();
    let calls = |kind: &str, outcome: &str| {
        page.value(
            "calls_total",
            &format!("kind=\"{kind}\",outcome=\"{outcome}\""),
        )
    };
    for outcome in [
        "success",
        "answered",
        "failure",
        "timeout",
        "ignored",
        "abandoned",
    ] {
        assert_eq!(calls("normal", outcome), 1.0, "{outcome}");
    }
    assert_eq!(calls("probe", "failure"), 1.0);
    assert_eq!(page.sum("calls_total"), 7.0);
    assert_eq!(page.value("stale_total", ""), 1.0);
    assert_eq!(page.value("rejections_total", "state=\"open\""), 1.0);
    assert_eq!(page.sum("rejections_total"), 1.0);
    let transitions = |labels| page.value("transitions_total", labels);
    assert_eq!(
        transitions("to=\"open\",cause=\"consecutive_failures\""),
        1.0
    );
    assert_eq!(transitions("to=\"half_open\",cause=\"wait_elapsed\""), 1.0);
    assert_eq!(transitions("to=\"open\",cause=\"probe_failed\""), 1.0);
    assert_eq!(transitions("to=\"closed\",cause=\"probes_passed\""), 0.0);
}

#[test]
fn the_window_is_shown() {
    let clock = ManualClock::new();
    let breaker = fragile(&clock)
        .consecutive_failures(None)
        .window(Window::count(100))
        .min_calls(100)
        .slow(SlowRule {
            limit: WAIT,
            ratio: 1.0,
        })
        .build()
        .unwrap();
    breaker.allow().unwrap().done_after(Outcome::Success, WAIT);
    breaker.allow().unwrap().failure();
    breaker.allow().unwrap().timeout();
    breaker.allow().unwrap().success();
    let page = Scraper::new().observe(&breaker).page();
    let window = ["samples", "failures", "timeouts", "slow"]
        .map(|of| page.value(&format!("window_{of}"), ""));
    assert_eq!(window, [4.0, 2.0, 1.0, 1.0]);
}

#[test]
fn a_time_window_is_shown_too_and_empties_by_itself() {
    let clock = ManualClock::new();
    let breaker = fragile(&clock)
        .consecutive_failures(None)
        .window(Window::time(WAIT, 10))
        .min_calls(100)
        .build()
        .unwrap();
    breaker.allow().unwrap().success();
    breaker.allow().unwrap().failure();
    let scraper = Scraper::new();
    let page = scraper.observe(&breaker).page();
    assert_eq!(page.value("window_samples", ""), 2.0);
    assert_eq!(page.value("window_failures", ""), 1.0);
    clock.advance(WAIT * 2);
    let page = scraper.observe(&breaker).page();
    assert_eq!(page.value("window_samples", ""), 0.0);
}

#[test]
fn scores_are_shown_as_shares_of_their_limits_and_the_limit_that_opened() {
    let score = |limit| Score {
        bad: 10,
        good: 1,
        limit,
    };
    let scores = Cusum::of_failures(score(40))
        .and_slow(WAIT, score(20))
        .lasting(Duration::ZERO);
    let breaker = Breaker::builder()
        .clock(ManualClock::new())
        .name("search")
        .config(Config::cusum(scores))
        .build()
        .unwrap();
    breaker.allow().unwrap().failure();
    breaker.allow().unwrap().done_after(Outcome::Success, WAIT);
    let scraper = Scraper::new();
    let shown = |of: &str| scraper.observe(&breaker).page().value(of, "");
    assert_eq!(shown("window_failure_score"), 9.0 / 40.0);
    assert_eq!(shown("window_slow_score"), 10.0 / 20.0);
    assert_eq!(shown("window_samples"), 0.0);
    breaker.allow().unwrap().done_after(Outcome::Success, WAIT);
    assert_eq!(shown("trip_threshold"), 20.0);
    assert_eq!(shown("window_slow_score"), 0.0);
}

#[test]
fn listeners_that_panic_are_shown() {
    let breaker = fragile(&ManualClock::new())
        .listener(|_| std::panic::resume_unwind(Box::new("a bad listener")))
        .build()
        .unwrap();
    breaker.allow().unwrap().failure();
    let page = Scraper::new().observe(&breaker).page();
    assert_eq!(page.value("listener_panics_total", ""), 1.0);
}

#[test]
fn breakers_are_told_apart_by_name() {
    let clock = ManualClock::new();
    let [search, billing] =
        ["search", "a \"quoted\" one"].map(|name| fragile(&clock).name(name).build().unwrap());
    billing.allow().unwrap().failure();
    let scraper = Scraper::new();
    let page = scraper.round([&search, &billing]).page();
    assert_eq!(page.value("state", ""), 0.0);
    assert_eq!(page.of(r#"a \"quoted\" one"#, "state", ""), 1.0);
}

#[test]
fn a_breaker_that_does_not_count_shows_its_state_all_the_same() {
    let breaker = Breaker::builder().name("search").build().unwrap();
    let page = Scraper::new().observe(&breaker).page();
    assert_eq!(page.value("state", ""), 0.0);
    assert_eq!(page.sum("calls_total"), 0.0);
    assert!(!page.names().contains("cutout_breaker_calls_total"));
}

#[test]
fn names_units_and_docs_agree() {
    let scraper = Scraper::new();
    let breaker = fragile(&ManualClock::new()).build().unwrap();
    breaker.allow().unwrap().failure();
    let page = scraper.describe().observe(&breaker).page();
    let text = scraper.text();
    let docs = include_str!("../../src/adapters/metrics/mod.rs");
    for &name in &page.names() {
        let kind = if name.ends_with("_total") {
            "counter"
        } else {
            "gauge"
        };
        assert!(text.contains(&format!("# TYPE {name} {kind}")), "{name}");
        assert!(
            text.contains(&format!("# HELP {name} ")),
            "{name} is not described"
        );
        let row = |line: &str| line.contains(&format!("`{name}`")) && line.contains(kind);
        assert!(docs.lines().any(row), "{name} is not in the docs");
    }
    let documented = docs
        .lines()
        .filter(|line| line.starts_with("//! | `cutout_breaker"));
    assert_eq!(documented.count(), page.names().len());
}

#[test]
fn labels_are_the_names_that_serde_uses() {
    fn written(value: impl Serialize) -> String {
        serde_json::to_string(&value).unwrap().replace('"', "")
    }
    let states = [
        State::Closed,
        State::Open,
        State::HalfOpen,
        State::ForcedOpen,
        State::Disabled,
        State::ObserveOnly,
    ];
    for state in states {
        assert_eq!(written(state), state.label());
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
    ];
    for cause in causes {
        assert_eq!(written(cause), cause.label());
    }
}

#[test]
fn what_opened_a_breaker_is_shown_until_it_closes() {
    let clock = ManualClock::new();
    let breaker = fragile(&clock).build().unwrap();
    let scraper = Scraper::new();
    breaker.allow().unwrap().success();
    breaker.allow().unwrap().timeout();
    clock.advance(WAIT);
    let page = scraper.observe(&breaker).page();
    let cause = "cause=\"consecutive_failures\"";
    assert_eq!(page.value("trip", cause), 1.0);
    let shown = ["samples", "failures", "timeouts", "slow", "threshold"]
        .map(|of| page.value(&format!("trip_{of}"), ""));
    assert_eq!(shown, [2.0, 1.0, 1.0, 0.0, 1.0]);
    assert_eq!(page.value("trip_age_seconds", ""), WAIT.as_secs_f64());
    breaker.allow().unwrap().success();
    let page = scraper.observe(&breaker).page();
    assert_eq!(page.value("trip", cause), 0.0);
    assert_eq!(page.value("trip_samples", ""), 0.0);
}

#[test]
fn a_breaker_that_is_not_there_any_more_is_told_as_gone() {
    let clock = ManualClock::new();
    let scraper = Scraper::new();
    let kept = fragile(&clock).name("kept").build().unwrap();
    let breaker = fragile(&clock).build().unwrap();
    breaker.allow().unwrap().failure();
    let page = scraper.round([&kept, &breaker]).page();
    assert_eq!(page.value("state", ""), 1.0);
    assert_eq!(page.all("cutout_breakers{state=\"open\"}"), 1.0);
    drop(breaker);
    let page = scraper.round([&kept]).page();
    assert_eq!(page.value("state", ""), -1.0);
    let gauges = ["wait_seconds", "trip_samples", "trip_age_seconds"];
    assert_eq!(gauges.map(|of| page.value(of, "")), [0.0; 3]);
    assert_eq!(page.value("trip", "cause=\"consecutive_failures\""), 0.0);
    assert_eq!(page.of("kept", "state", ""), 0.0);
    assert_eq!(page.all("cutout_breakers{state=\"open\"}"), 0.0);
    // And comes back.
    let breaker = fragile(&clock).build().unwrap();
    let page = scraper.round([&kept, &breaker]).page();
    assert_eq!(page.value("state", ""), 0.0);
}

#[test]
fn counters_go_on_where_the_breaker_before_ended() {
    let clock = ManualClock::new();
    let scraper = Scraper::new();
    let successes =
        |page: &crate::page::Page| page.value("calls_total", "kind=\"normal\",outcome=\"success\"");
    let mut total = 0.0;
    for life in 1..=3 {
        let breaker = fragile(&clock).build().unwrap();
        for _ in 0..2 {
            for _ in 0..10 - life {
                breaker.allow().unwrap().success();
                total += 1.0;
            }
            let page = scraper.observe(&breaker).page();
            assert_eq!(successes(&page), total, "life {life}");
        }
    }
}

#[test]
fn names_beyond_the_bound_share_their_counters() {
    let clock = ManualClock::new();
    let scraper = Scraper::with_max_names(2);
    let mut series = 0;
    for key in 0..100 {
        let breaker = fragile(&clock).name(key.to_string()).build().unwrap();
        breaker.allow().unwrap().failure();
        let page = scraper.observe(&breaker).page();
        let calls = page.sum("calls_total");
        assert_eq!(calls, f64::from(key + 1), "no call is lost");
        if key == 2 {
            series = page.len();
        }
        if key > 2 {
            assert_eq!(page.len(), series, "no more series");
        }
    }
    let page = scraper.round::<ManualClock>([]).page();
    let others = page.of(
        "other",
        "calls_total",
        "kind=\"normal\",outcome=\"failure\"",
    );
    assert_eq!(others, 98.0);
    assert_eq!(page.of("1", "state", ""), -1.0);
}

proptest! {
    /// Whatever happens to a breaker, all its transitions are among the series.
    #[test]
    fn no_transition_is_without_a_series(steps in prop::collection::vec(0_u32..15, 0..200)) {
        let clock = ManualClock::new();
        let heard = Arc::new(AtomicU32::new(0));
        let breaker = {
            let heard = Arc::clone(&heard);
            fragile(&clock)
                .window(Window::count(4))
                .min_calls(2)
                .consecutive_failures(3)
                .timeout_ratio(0.3)
                .slow(SlowRule { limit: WAIT, ratio: 0.4 })
                .max_inconclusive(2)
                .listener(move |_| {
                    heard.fetch_add(1, Ordering::Relaxed);
                })
                .build()
                .unwrap()
        };
        let mut held = None;
        for step in steps {
            let settle = |outcome| breaker.allow().map(|permit| permit.done(outcome)).ok();
            match step {
                0 | 1 => drop(settle(Outcome::Success)),
                2 | 3 => drop(settle(Outcome::Failure)),
                4 => drop(settle(Outcome::Timeout)),
                5 => drop(settle(Outcome::Ignored)),
                6 => drop(breaker.allow().map(|permit| permit.done_after(Outcome::Success, WAIT))),
                7 => held = breaker.allow().ok(),
                8 => clock.advance(WAIT),
                9 => clock.advance(WAIT * 10),
                10 => breaker.observe_only("watch"),
                11 => breaker.close("enough"),
                13 => _ = breaker.resume("go on"),
                12 => breaker.force_open(is_even(breaker.generation()).then_some(WAIT), "stop"),
                _ => {
                    let count = 4 + breaker.generation() % 3;
                    let config = breaker.config().with(|config| config.window = Window::count(count));
                    breaker.reconfigure(config).unwrap();
                    if count == 5 {
                        breaker.disable("and off");
                    }
                }
            }
        }
        drop(held);
        let page = Scraper::new().observe(&breaker).page();
        let heard = f64::from(heard.load(Ordering::Relaxed));
        prop_assert_eq!(page.sum("transitions_total"), heard);
    }
}

const fn is_even(number: u32) -> bool {
    number.is_multiple_of(2)
}
