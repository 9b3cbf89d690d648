//! The order in which targets are asked, and other routes that stand in.

use std::time::Duration;

use cutout_gateway::config::File;
use cutout_gateway::demo::fake::Mood;
use http::StatusCode;

use crate::raw::{Raw, Script};
use crate::rig::{Rig, fake, provider, route};

/// A route over `a` and `b` with this policy, and what it adds to each entry.
fn config(urls: [&str; 2], policy: &str, weights: [u32; 2]) -> String {
    let entries = ["a", "b"]
        .iter()
        .zip(weights)
        .map(|(name, weight)| format!("{{ provider = {name:?}, weight = {weight} }}"));
    let entries = entries.collect::<Vec<_>>().join(", ");
    let provider = |name, url| provider(name, url, "breaker = { min_calls = 20 }");
    provider("a", urls[0])
        + &provider("b", urls[1])
        + &format!("[[route]]\nmodel = \"m\"\npolicy = {policy:?}\nqueue = [{entries}]\n")
}

#[tokio::test]
async fn each_policy_has_its_shares() {
    for (policy, weights, shares) in [
        ("priority", [1, 1], [40, 0]),
        ("round-robin", [3, 1], [20, 20]),
        ("weighted", [3, 1], [30, 10]),
        ("least-loaded", [1, 1], [20, 20]),
    ] {
        let (a, b) = (fake(Mood::Well).await, fake(Mood::Well).await);
        let rig = Rig::start(&config([&a.url(), &b.url()], policy, weights)).await;
        for _ in 0..40 {
            assert_eq!(rig.chat("m").await.status, StatusCode::OK);
        }
        assert_eq!([a.calls(), b.calls()], shares, "{policy}");
        // Whoever fails is not the end of it.
        a.set(Mood::Refusing(500, None));
        for _ in 0..4 {
            assert_eq!(
                rig.chat("m").await.header("x-cutout-provider"),
                Some("b"),
                "{policy}"
            );
        }
    }
}

#[tokio::test]
async fn the_fastest_is_left_when_it_becomes_slow() {
    let (a, b) = (fake(Mood::Well).await, fake(Mood::Well).await);
    let rig = Rig::start(&config([&a.url(), &b.url()], "fastest", [1, 1])).await;
    for _ in 0..20 {
        rig.chat("m").await;
    }
    assert!(a.calls() > 0 && b.calls() > 0);
    a.set(Mood::Slow(Duration::from_secs(1)));
    let before = a.calls();
    for _ in 0..50 {
        rig.chat("m").await;
    }
    assert!(a.calls() - before <= 1, "{}", a.calls() - before);
}

#[tokio::test]
async fn a_long_answer_of_a_fast_target_does_not_count_as_slow() {
    let dripping = Mood::Dripping(Duration::from_millis(2));
    let (a, b) = (
        fake(dripping).await,
        fake(Mood::Slow(Duration::from_millis(150))).await,
    );
    let providers = config([&a.url(), &b.url()], "fastest", [1, 1]);
    let rig =
        Rig::start(&providers.replace("breaker =", "limits = { total = \"500ms\" }\nbreaker ="))
            .await;
    // Both are known after two; what takes longest is the stream that began at once.
    for _ in 0..2 {
        rig.stream("m").await;
    }
    let before = b.calls();
    for _ in 0..2 {
        rig.stream("m").await;
    }
    assert_eq!(b.calls(), before);
}

#[tokio::test]
async fn another_route_stands_in_by_cause() {
    let (a, b) = (Raw::start(Script::well()).await, fake(Mood::Well).await);
    let fallback = |field: &str| format!("fallback = {{ {field} = \"big\" }}");
    let too_long = r#"{"error":{"code":"context_length_exceeded","message":"too long"}}"#;
    let refused = r#"{"error":{"code":"content_filter","message":"no"}}"#;
    for (field, script, stands_in) in [
        ("context_too_long", Script::json(400, too_long), true),
        ("context_too_long", Script::json(200, too_long), true),
        ("context_too_long", Script::json(400, refused), false),
        ("content_refused", Script::json(400, refused), true),
        ("content_refused", Script::json(503, "{}"), false),
        ("all_down", Script::json(503, "{}"), true),
        ("all_down", Script::json(400, too_long), false),
    ] {
        a.set(script.clone());
        let big = "[[route]]\nmodel = \"big\"\nqueue = [{ provider = \"b\", model = \"large\" }]\n";
        let config = provider("a", &a.url(), "")
            + &provider("b", &b.url(), "")
            + &route("m", &["a"], &fallback(field))
            + big;
        let rig = Rig::start(&config).await;
        let answer = rig.chat("m").await;
        assert_eq!(
            answer.status == StatusCode::OK,
            stands_in,
            "{field} {script:?}: {}",
            answer.text()
        );
        assert_eq!(
            answer.header("x-cutout-fallback"),
            stands_in.then_some("big"),
            "{field}"
        );
        if stands_in {
            assert_eq!(answer.json()["model"], "large");
            assert!(answer.header("x-cutout-tried").unwrap().starts_with("a="));
            let stream = rig.stream("m").await;
            assert!(
                stream.text().ends_with("data: [DONE]\n\n"),
                "{}",
                stream.text()
            );
        }
    }
}

#[test]
fn fallbacks_that_lead_nowhere_or_back_are_refused() {
    let providers =
        provider("a", "http://a", "") + &provider("c", "http://c", "dialect = \"anthropic\"");
    let to = |field: &str, route: &str| format!("fallback = {{ {field} = {route:?} }}");
    for (m, n, field, says) in [
        (
            to("all_down", "none"),
            String::new(),
            "route[0].fallback.all_down",
            "there is no route",
        ),
        (
            to("all_down", "m"),
            String::new(),
            "route[0].fallback.all_down",
            "leads back",
        ),
        (
            to("context_too_long", "n"),
            to("content_refused", "m"),
            "route[0].fallback.context_too_long",
            "leads back",
        ),
        (
            to("all_down", "o"),
            String::new(),
            "route[0].fallback.all_down",
            "another dialect",
        ),
    ] {
        let config = providers.clone()
            + &route("m", &["a"], &m)
            + &route("n", &["a"], &n)
            + &route("o", &["c"], "");
        let problem = File::parse(config).unwrap_err();
        assert_eq!(problem.field, field, "{problem}");
        assert!(problem.message.contains(says), "{problem}");
    }
    let weight =
        providers + "[[route]]\nmodel = \"m\"\nqueue = [{ provider = \"a\", weight = 0 }]\n";
    assert_eq!(
        File::parse(weight).unwrap_err().field,
        "route[0].queue[0].weight"
    );
}
