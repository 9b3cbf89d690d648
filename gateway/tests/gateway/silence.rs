//! Providers that say nothing, and clients that wait for them, or do not.

use std::time::Duration;

use cutout::State;
use cutout_gateway::client::Client;
use http::{Method, StatusCode};
use http_body_util::BodyExt;

use crate::raw::{HELLO, ROLE, Raw, Script};
use crate::rig::{Rig, SOON, chat, provider, route, until};

/// Sends a request and leaves after a time.
async fn leaving(rig: &Rig, stream: bool, after: Duration) {
    let request = rig.request(Method::POST, "/v1/chat/completions", chat("m", stream));
    let client = Client::new(SOON);
    let asked = async {
        let answer = client.send(request).await.unwrap();
        answer.into_body().collect().await
    };
    let _ = tokio::time::timeout(after, asked).await;
}

const PATIENCE: Duration = Duration::from_millis(300);

async fn two(a: Script, more: &str) -> (Rig, Raw, Raw) {
    let (a, b) = (Raw::start(a).await, Raw::start(Script::well()).await);
    let config = provider("a", &a.url(), more) + &provider("b", &b.url(), "");
    let rig = Rig::start(&(config + &route("m", &["a", "b"], ""))).await;
    (rig, a, b)
}

#[tokio::test]
async fn clients_that_leave_a_provider_that_hangs_open_its_breaker() {
    let (rig, a, b) = two(
        Script::hang(),
        "breaker = { min_calls = 5 }\nlimits = { silence = \"100ms\" }",
    )
    .await;
    for turn in 0..5 {
        leaving(&rig, turn % 2 == 0, PATIENCE).await;
        until("it is let go", || rig.upstream("a").in_flight() == 0).await;
    }
    assert_eq!(
        (rig.upstream("a").totals().timeouts, rig.snapshot("a").state),
        (5, State::Open)
    );
    let label = rig.snapshot("a").evidence.trip.unwrap().label.unwrap();
    assert!(label.starts_with("left after a silence of 0."), "{label}");
    assert_eq!(rig.chat("m").await.header("x-cutout-provider"), Some("b"));
    assert_eq!((a.calls(), b.calls()), (5, 1));
}

#[tokio::test]
async fn by_default_a_silence_of_a_second_is_long() {
    let (rig, _a, b) = two(Script::hang(), "breaker = { consecutive_failures = 1 }").await;
    leaving(&rig, false, Duration::from_millis(1200)).await;
    until("it is let go", || rig.upstream("a").in_flight() == 0).await;
    rig.chat("m").await;
    assert_eq!(b.calls(), 1);
}

#[tokio::test]
async fn a_client_that_leaves_early_is_nobodys_fault() {
    let touchy = "breaker = { consecutive_failures = 1 }\nlimits = { silence = \"20s\" }";
    let (rig, _a, _b) = two(Script::hang(), touchy).await;
    leaving(&rig, false, PATIENCE).await;
    until("it is let go", || rig.upstream("a").in_flight() == 0).await;
    assert_eq!(rig.window("a"), "");
    // Nor one that leaves a silence that is usual with this provider.
    let touchy = "breaker = { consecutive_failures = 1 }\nlimits = { silence = \"1ms\" }";
    let (rig, a, _b) = two(Script::well().after(Duration::from_millis(600)), touchy).await;
    assert_eq!(rig.chat("m").await.status, StatusCode::OK);
    leaving(&rig, false, PATIENCE).await;
    until("it is let go", || rig.upstream("a").in_flight() == 0).await;
    assert_eq!((a.calls(), rig.window("a").as_str()), (2, "s"));
}

#[tokio::test]
async fn a_silence_while_others_are_answered_is_no_evidence() {
    let touchy = "breaker = { consecutive_failures = 1 }\nlimits = { silence = \"1ms\" }";
    let (rig, a, _b) = two(Script::hang(), touchy).await;
    a.play([Script::hang(), Script::well()]);
    let alone = async {
        leaving(&rig, true, Duration::from_secs(2)).await;
    };
    let others = async {
        until("the first is in flight", || a.calls() == 1).await;
        assert_eq!(rig.chat("m").await.header("x-cutout-provider"), Some("a"));
    };
    tokio::join!(alone, others);
    until("it is let go", || rig.upstream("a").in_flight() == 0).await;
    assert_eq!(rig.window("a"), "s");
}

#[tokio::test]
async fn a_client_that_leaves_the_second_attempt_does_not_undo_the_first() {
    let more = "breaker = { consecutive_failures = 1 }\nretry = { attempts = 2, base = \"1ms\" }";
    let a = Raw::start(Script::hang()).await;
    a.play([Script::json(500, "{}"), Script::hang()]);
    let rig = Rig::start(&(provider("a", &a.url(), more) + &route("m", &["a"], ""))).await;
    let asking = leaving(&rig, false, SOON);
    tokio::select! {
        () = asking => panic!("it waits"),
        () = until("the second attempt", || a.calls() == 2) => {}
    }
    until("it is let go", || rig.upstream("a").in_flight() == 0).await;
    assert_eq!(rig.failures("a"), 1);
}

#[tokio::test]
async fn a_silent_call_counts_while_it_is_in_flight() {
    // Half of its limit.
    for (stream, limits) in [
        (true, "first_byte = \"100s\", overdue = 0.001"),
        (false, "whole = \"100s\", overdue = 0.001"),
    ] {
        let more = format!("breaker = {{ min_calls = 5 }}\nlimits = {{ {limits} }}");
        let (rig, a, b) = two(Script::hang(), &more).await;
        let asking: Vec<_> = (0..5)
            .map(|_| {
                let request = rig.request(Method::POST, "/v1/chat/completions", chat("m", stream));
                let client = Client::new(SOON);
                tokio::spawn(async move { client.send(request).await })
            })
            .collect();
        until("all have counted", || {
            rig.snapshot("a").state == State::Open
        })
        .await;
        // They are still waited for.
        assert_eq!((rig.upstream("a").totals().timeouts, a.open()), (5, 5));
        assert_eq!(rig.chat("m").await.header("x-cutout-provider"), Some("b"));
        for task in asking {
            task.abort();
        }
        until("all are let go", || rig.upstream("a").in_flight() == 0).await;
        assert_eq!(rig.upstream("a").totals().timeouts, 5, "once each");
        drop(b);
    }
}

#[tokio::test]
async fn a_stream_that_speaks_is_never_overdue() {
    let script = Script::stream(&[ROLE, HELLO]).then_hang();
    let more = "breaker = { consecutive_failures = 1 }\nlimits = { first_byte = \"10s\", overdue = 0.001 }";
    let (rig, _a, _b) = two(script, more).await;
    leaving(&rig, true, PATIENCE).await;
    until("it is let go", || rig.upstream("a").in_flight() == 0).await;
    assert_eq!(rig.window("a"), "");
}

#[tokio::test]
async fn a_whole_answer_may_take_longer_than_the_first_event_of_a_stream() {
    let limits = "limits = { first_byte = \"100ms\", whole = \"10s\" }";
    let (rig, a, b) = two(Script::well().after(Duration::from_millis(400)), limits).await;
    assert_eq!(rig.chat("m").await.header("x-cutout-provider"), Some("a"));
    assert_eq!(
        (a.calls(), b.calls(), rig.window("a").as_str()),
        (1, 0, "s")
    );
    b.set(Script::streaming());
    assert_eq!(rig.stream("m").await.header("x-cutout-provider"), Some("b"));
    assert_eq!(rig.window("a"), "st");
}

#[tokio::test]
async fn a_route_has_a_deadline_for_everything() {
    let (a, b) = (
        Raw::start(Script::hang()).await,
        Raw::start(Script::hang()).await,
    );
    let limits = "limits = { whole = \"300ms\", first_byte = \"300ms\" }";
    let config = provider("a", &a.url(), limits) + &provider("b", &b.url(), "");
    let rig = Rig::start(&(config + &route("m", &["a", "b"], "deadline = \"600ms\""))).await;
    for stream in [false, true] {
        let answer = rig.post("/v1/chat/completions", chat("m", stream)).await;
        assert_eq!(
            (answer.status, answer.error().as_str()),
            (StatusCode::GATEWAY_TIMEOUT, "deadline")
        );
        assert_eq!(answer.header("x-should-retry"), Some("false"));
        until("both are let go", || a.open() + b.open() == 0).await;
    }
    // A stream that has begun ends with it too.
    a.set(Script::stream(&[HELLO]).then_hang());
    let answer = rig.stream("m").await;
    assert!(
        answer.text().starts_with(HELLO) && answer.text().contains("deadline"),
        "{}",
        answer.text()
    );
}
