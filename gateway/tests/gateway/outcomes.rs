//! What a call says of its provider: one outcome, however many attempts and however it ends.

use std::time::Duration;

use cutout::State;
use cutout_gateway::demo::fake::{Fake, Mood};
use http::{Method, StatusCode};
use http_body_util::BodyExt;

use crate::rig::{Rig, SOON, chat, fake, provider, route, until};

async fn one(mood: Mood, more: &str) -> (Rig, Fake) {
    let a = fake(mood).await;
    let config = provider("a", &a.url(), more) + &route("m", &["a"], "");
    (Rig::start(&config).await, a)
}

const RETRIED: &str = "retry = { attempts = 3, base = \"1ms\", max = \"100ms\" }\n";

#[tokio::test]
async fn three_attempts_are_one_outcome() {
    let (rig, a) = one(Mood::Refusing(503, None), RETRIED).await;
    assert_eq!(rig.chat("m").await.status, StatusCode::BAD_GATEWAY);
    assert_eq!((a.calls(), rig.window("a").as_str()), (3, "f"));
    assert_eq!(rig.upstream("a").totals().retries, 2);
}

#[tokio::test]
async fn an_attempt_that_succeeds_makes_the_call_a_success() {
    let (rig, a) = one(Mood::Refusing(500, None), "retry = { base = \"50ms\" }").await;
    let healing = async {
        until("the first attempt", || a.calls() == 1).await;
        a.set(Mood::Well);
    };
    let (answer, ()) = tokio::join!(rig.chat("m"), healing);
    assert_eq!(
        (answer.status, rig.window("a").as_str()),
        (StatusCode::OK, "s")
    );
}

#[tokio::test]
async fn what_is_the_clients_fault_is_passed_on_not_retried_and_no_failure() {
    for status in [400, 413, 422] {
        let (rig, a) = one(Mood::Refusing(status, None), RETRIED).await;
        let answer = rig.chat("m").await;
        assert_eq!(answer.status.as_u16(), status);
        assert!(answer.text().contains("fake refusal"), "{}", answer.text());
        assert_eq!((a.calls(), rig.window("a").as_str()), (1, "s"), "{status}");
        // The provider lives; it is no success.
        let totals = rig.upstream("a").totals();
        assert_eq!((totals.answered, totals.successes), (1, 0));
    }
}

#[tokio::test]
async fn a_missing_model_opens_nothing_for_everyone() {
    for (scope, name, window) in [("provider", "a", "s"), ("model", "a/m", "f")] {
        let more = format!("scope = {scope:?}");
        let (rig, a) = one(Mood::Refusing(404, None), &more).await;
        assert_eq!(rig.chat("m").await.error(), "model_not_found");
        assert_eq!((a.calls(), rig.window(name).as_str()), (1, window));
    }
}

#[tokio::test]
async fn with_the_scope_of_a_model_one_model_opens_and_the_other_does_not() {
    let a = fake(Mood::Refusing(404, None)).await;
    let more = "scope = \"model\"\nbreaker = { consecutive_failures = 1 }";
    let config =
        provider("a", &a.url(), more) + &route("gone", &["a"], "") + &route("m", &["a"], "");
    let rig = Rig::start(&config).await;
    rig.chat("gone").await;
    assert_eq!(rig.snapshot("a/gone").state, State::Open);
    a.set(Mood::Well);
    assert_eq!(rig.chat("m").await.status, StatusCode::OK);
    assert_eq!(
        rig.chat("gone").await.status,
        StatusCode::SERVICE_UNAVAILABLE
    );
}

#[tokio::test]
async fn a_wait_that_the_provider_asks_for_is_the_open_wait_and_ends_the_retries() {
    let more = format!("{RETRIED}breaker = {{ consecutive_failures = 1, open_wait = \"1s\" }}");
    let (rig, a) = one(Mood::Refusing(429, Some(100)), &more).await;
    let answer = rig.chat("m").await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(
        (answer.error().as_str(), answer.header("retry-after")),
        ("rate_limit_exceeded", Some("100"))
    );
    // 100 s are more than the longest wait between attempts.
    assert_eq!(a.calls(), 1);
    let snapshot = rig.snapshot("a");
    assert_eq!(snapshot.state, State::Open);
    let left = snapshot.remaining.unwrap();
    assert!(
        left > Duration::from_secs(90) && left <= Duration::from_secs(100),
        "{left:?}"
    );
    let answer = rig.chat("m").await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((91..=100).contains(&wait), "{wait}");
}

#[tokio::test]
async fn a_short_wait_that_the_provider_asks_for_is_waited_between_attempts() {
    let (rig, a) = one(
        Mood::Refusing(429, Some(1)),
        "retry = { attempts = 2, base = \"1ms\", max = \"5s\" }",
    )
    .await;
    let since = std::time::Instant::now();
    rig.chat("m").await;
    assert_eq!(a.calls(), 2);
    assert!(since.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn limits_that_pass_are_timeouts() {
    for (mood, stream, limits) in [
        (Mood::Hanging, false, "whole = \"100ms\""),
        (Mood::Hanging, true, "first_byte = \"100ms\""),
        (Mood::Stalling, false, "idle = \"100ms\""),
        (Mood::Hanging, false, "total = \"100ms\""),
    ] {
        let (rig, a) = one(mood.clone(), &format!("limits = {{ {limits} }}\n{RETRIED}")).await;
        let answer = rig.post("/v1/chat/completions", chat("m", stream)).await;
        assert_eq!(
            answer.status,
            StatusCode::GATEWAY_TIMEOUT,
            "{mood:?} {limits}"
        );
        assert_eq!(answer.error(), "provider_timeout");
        // The time is spent: no second attempt.
        assert_eq!(
            (a.calls(), rig.window("a").as_str()),
            (1, "t"),
            "{mood:?} {limits}"
        );
        until("the provider is let go", || a.open() == 0).await;
    }
}

#[tokio::test]
async fn a_stream_that_drips_without_end_meets_the_total_limit() {
    let (rig, a) = one(
        Mood::Dripping(Duration::from_millis(5)),
        "limits = { total = \"200ms\" }",
    )
    .await;
    let answer = rig.stream("m").await;
    assert!(answer.text().contains("total limit"), "{}", answer.text());
    assert_eq!(rig.window("a"), "t");
    until("the provider is let go", || a.open() == 0).await;
}

#[tokio::test]
async fn a_stream_is_a_success_only_at_its_end() {
    let (rig, a) = one(Mood::Well, "").await;
    assert!(rig.stream("m").await.text().ends_with("[DONE]\n\n"));
    assert_eq!(rig.window("a"), "s");
    a.set(Mood::Dripping(Duration::from_millis(1)));
    let mut body = rig
        .open(rig.request(Method::POST, "/v1/chat/completions", chat("m", true)))
        .await
        .into_body();
    for _ in 0..20 {
        body.frame().await.unwrap().unwrap();
    }
    assert_eq!(
        (rig.window("a").as_str(), rig.upstream("a").in_flight()),
        ("s", 1)
    );
    // The client goes away in the middle: nothing is said of the provider, and it is let go.
    drop(body);
    until("the provider is let go", || a.open() == 0).await;
    until("the call has ended", || rig.upstream("a").in_flight() == 0).await;
    assert_eq!(
        (rig.window("a").as_str(), rig.upstream("a").totals().ignored),
        ("s", 1)
    );
}

#[tokio::test]
async fn a_client_that_leaves_a_silent_stream_frees_its_provider_at_once() {
    let (rig, a) = one(Mood::Stalling, "").await;
    let response = rig
        .open(rig.request(Method::POST, "/v1/chat/completions", chat("m", true)))
        .await;
    assert_eq!(a.open(), 1);
    drop(response);
    // Far sooner than the idle limit of 30 s.
    until("the provider is let go", || a.open() == 0).await;
    assert_eq!(
        (rig.window("a").as_str(), rig.upstream("a").totals().ignored),
        ("", 1)
    );
}

#[tokio::test]
async fn a_hundred_clients_that_go_away_leave_nothing_behind() {
    let (rig, a) = one(Mood::Hanging, "breaker = { consecutive_failures = 1 }").await;
    let mut asking = Vec::new();
    for turn in 0..100 {
        let request = rig.request(
            Method::POST,
            "/v1/chat/completions",
            chat("m", turn % 2 == 0),
        );
        let client = cutout_gateway::client::Client::new(SOON);
        asking.push(tokio::spawn(async move { client.send(request).await }));
    }
    until("all are in flight", || a.open() == 100).await;
    assert_eq!(rig.upstream("a").in_flight(), 100);
    for task in &asking {
        task.abort();
    }
    until("all are let go", || {
        a.open() == 0 && rig.upstream("a").in_flight() == 0
    })
    .await;
    assert_eq!(
        (rig.snapshot("a").state, rig.window("a").as_str()),
        (State::Closed, "")
    );
    assert_eq!(
        rig.gateway.fleet.load().providers["a"]
            .slots
            .available_permits(),
        256
    );
}

#[tokio::test]
async fn a_client_that_does_not_read_holds_its_provider_for_a_limited_time() {
    let a = fake(Mood::Dripping(Duration::ZERO)).await;
    let config = "[server]\nstall_timeout = \"200ms\"\n".to_owned()
        + &provider("a", &a.url(), "")
        + &route("m", &["a"], "");
    let rig = Rig::start(&config).await;
    let response = rig
        .open(rig.request(Method::POST, "/v1/chat/completions", chat("m", true)))
        .await;
    // It is kept and not read.
    until("the provider is let go", || a.calls() == 1 && a.open() == 0).await;
    assert_eq!(
        (rig.window("a").as_str(), rig.upstream("a").totals().ignored),
        ("", 1)
    );
    drop(response);
}
