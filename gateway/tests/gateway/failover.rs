//! From provider to provider: who is asked, who is passed over, and what is told when none is left.

use std::time::Duration;

use cutout::State;
use cutout_gateway::demo::fake::{Fake, Mood};
use http::{HeaderValue, Method, StatusCode};

use crate::rig::{Answer, Rig, chat, fake, provider, route, until};

const TOUCHY: &str = "breaker = { consecutive_failures = 1, open_wait = \"100s\" }";

async fn two(a: Mood, b: Mood, more: &str, of_route: &str) -> (Rig, Fake, Fake) {
    let (a, b) = (fake(a).await, fake(b).await);
    let config = provider("a", &a.url(), more) + &provider("b", &b.url(), more);
    let rig = Rig::start(&(config + &route("m", &["a", "b"], of_route))).await;
    (rig, a, b)
}

#[tokio::test]
async fn what_fails_moves_on_and_what_is_open_is_passed_over() {
    let (rig, a, b) = two(Mood::Refusing(500, None), Mood::Well, TOUCHY, "").await;
    for stream in [false, true, false] {
        let answer = rig.post("/v1/chat/completions", chat("m", stream)).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.header("x-cutout-provider"), Some("b"));
        assert!(answer.header("x-cutout-tried").unwrap().starts_with("a="));
    }
    assert_eq!((a.calls(), b.calls()), (1, 3));
    assert_eq!(rig.snapshot("a").state, State::Open);
    assert_eq!(rig.upstream("a").totals().rejected, 2);
    assert_eq!(rig.window("b"), "sss");
}

#[tokio::test]
async fn a_key_that_is_refused_or_a_model_that_is_missing_moves_on_too() {
    for status in [401, 403, 404, 415, 429] {
        let (rig, _a, _b) = two(Mood::Refusing(status, None), Mood::Well, "", "").await;
        let answer = rig.chat("m").await;
        assert_eq!(answer.header("x-cutout-provider"), Some("b"), "{answer:?}");
    }
}

#[tokio::test]
async fn a_request_that_is_at_fault_itself_does_not_move_on() {
    for status in [400, 413, 422] {
        let (rig, a, b) = two(Mood::Refusing(status, None), Mood::Well, "", "").await;
        let answer = rig.chat("m").await;
        assert_eq!(
            (answer.status.as_u16(), answer.error().as_str()),
            (status, "refused_by_provider")
        );
        assert_eq!((a.calls(), b.calls()), (1, 0));
    }
}

#[tokio::test]
async fn once_the_first_event_is_out_nothing_moves_on() {
    let (rig, a, b) = two(Mood::Cutting, Mood::Well, "", "").await;
    let answer = rig.stream("m").await;
    assert!(answer.text().contains("\"error\""));
    assert!(!answer.text().contains("[DONE]"));
    assert_eq!((a.calls(), b.calls()), (1, 0));
    a.set(Mood::ErrorFirst);
    assert!(rig.stream("m").await.text().ends_with("[DONE]\n\n"));
    assert_eq!((a.calls(), b.calls()), (2, 1));
}

#[tokio::test]
async fn the_most_telling_error_comes_with_all_that_was_tried() {
    let a = fake(Mood::Hanging).await;
    let b = fake(Mood::Refusing(500, None)).await;
    let quick = "limits = { whole = \"50ms\" }";
    let config = provider("a", &a.url(), quick)
        + &provider("b", &b.url(), "")
        + &provider("gone", "http://127.0.0.1:1/v1", "")
        + &route("m", &["gone", "a", "b"], "");
    let rig = Rig::start(&config).await;
    rig.upstream("gone").breaker.force_open(None, "maintenance");
    let answer = rig.chat("m").await;
    assert_eq!(
        (answer.status, answer.error().as_str()),
        (StatusCode::BAD_GATEWAY, "provider_error")
    );
    let tried = answer.tried();
    assert!(
        tried[0].starts_with("gone: circuit breaker `gone` is forced open"),
        "{tried:?}"
    );
    assert_eq!(
        tried[1..],
        ["a: whole-answer limit of 50ms passed", "b: status 500"]
    );
    rig.upstream("gone").breaker.close("over");
    rig.upstream("a").breaker.force_open(None, "x");
    rig.upstream("b").breaker.force_open(None, "x");
    let answer = rig.chat("m").await;
    assert_eq!(answer.error(), "provider_unreachable");
}

#[tokio::test]
async fn a_queue_of_one_and_a_queue_of_open_ones_follow_one_policy() {
    let (rig, a, b) = two(
        Mood::Refusing(500, None),
        Mood::Refusing(500, None),
        TOUCHY,
        "",
    )
    .await;
    rig.chat("m").await;
    let all_open = rig.chat("m").await;
    let a2 = fake(Mood::Refusing(500, None)).await;
    let single = Rig::start(&(provider("a", &a2.url(), TOUCHY) + &route("m", &["a"], ""))).await;
    single.chat("m").await;
    let one_open = single.chat("m").await;
    let shown = |answer: &Answer| {
        let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
        assert!((90..=100).contains(&wait), "{wait}");
        (answer.status, answer.error())
    };
    assert_eq!(
        shown(&all_open),
        (StatusCode::SERVICE_UNAVAILABLE, "no_provider".to_owned())
    );
    assert_eq!(shown(&one_open), shown(&all_open));
    assert_eq!(all_open.tried().len(), 2);
    // Neither was called again.
    assert_eq!((a.calls(), b.calls(), a2.calls()), (1, 1, 1));
}

#[tokio::test]
async fn a_provider_that_is_due_gets_one_probe_while_the_other_carries_the_load() {
    let more = "breaker = { consecutive_failures = 1, open_wait = \"100ms\" }";
    let (rig, a, b) = two(Mood::Refusing(500, None), Mood::Well, more, "").await;
    rig.chat("m").await;
    a.set(Mood::Hanging);
    until("it is due", || rig.snapshot("a").state == State::HalfOpen).await;
    let request = rig.request(Method::POST, "/v1/chat/completions", chat("m", false));
    let client = cutout_gateway::client::Client::new(crate::rig::SOON);
    let probe = tokio::spawn(async move { client.send(request).await });
    until("the probe is out", || a.open() == 1).await;
    for _ in 0..20 {
        assert_eq!(rig.chat("m").await.header("x-cutout-provider"), Some("b"));
    }
    assert_eq!((a.calls(), b.calls()), (2, 21));
    probe.abort();
    until("the probe is let go", || rig.snapshot("a").probes_out == 0).await;
    a.set(Mood::Well);
    assert_eq!(rig.chat("m").await.header("x-cutout-provider"), Some("a"));
    assert_eq!(rig.snapshot("a").state, State::Closed);
}

#[tokio::test]
async fn a_recovered_provider_gets_its_traffic_back_step_by_step() {
    let more = "breaker = { consecutive_failures = 1, open_wait = \"50ms\" }";
    let (rig, a, b) = two(Mood::Refusing(500, None), Mood::Well, more, "ramp = \"1h\"").await;
    rig.chat("m").await;
    a.set(Mood::Well);
    until("it is due", || rig.snapshot("a").state == State::HalfOpen).await;
    rig.chat("m").await;
    assert_eq!(rig.snapshot("a").state, State::Closed);
    let before = (a.calls(), b.calls());
    for _ in 0..20 {
        rig.chat("m").await;
    }
    // At the beginning of an hour's ramp next to nothing.
    assert!(a.calls() - before.0 <= 1, "{}", a.calls() - before.0);
    assert!(b.calls() - before.1 >= 19);
}

#[tokio::test]
async fn a_full_provider_is_passed_over_and_its_breaker_not_asked() {
    let (rig, a, b) = two(Mood::Hanging, Mood::Well, "max_in_flight = 1", "").await;
    let request = rig.request(Method::POST, "/v1/chat/completions", chat("m", false));
    let client = cutout_gateway::client::Client::new(crate::rig::SOON);
    let first = tokio::spawn(async move { client.send(request).await });
    until("the first is in flight", || a.open() == 1).await;
    assert_eq!(rig.chat("m").await.header("x-cutout-provider"), Some("b"));
    b.set(Mood::Hanging);
    let request = rig.request(Method::POST, "/v1/chat/completions", chat("m", false));
    let client = cutout_gateway::client::Client::new(crate::rig::SOON);
    let second = tokio::spawn(async move { client.send(request).await });
    until("the second is in flight", || b.open() == 1).await;
    let answer = rig.chat("m").await;
    assert_eq!(
        (answer.status, answer.header("retry-after")),
        (StatusCode::SERVICE_UNAVAILABLE, Some("1"))
    );
    assert_eq!(a.calls(), 1);
    first.abort();
    second.abort();
}

#[tokio::test]
async fn a_canary_gets_its_share_and_its_own_breaker_sends_it_back() {
    let (a, c) = (fake(Mood::Well).await, fake(Mood::Well).await);
    let config = provider("a", &a.url(), "")
        + &provider("new", &c.url(), TOUCHY)
        + &route("m", &["a"], "canary = { provider = \"new\", share = 0.25 }");
    let rig = Rig::start(&config).await;
    for _ in 0..40 {
        assert_eq!(rig.chat("m").await.status, StatusCode::OK);
    }
    assert_eq!((a.calls(), c.calls()), (30, 10));
    c.set(Mood::Refusing(500, None));
    for _ in 0..40 {
        assert_eq!(rig.chat("m").await.status, StatusCode::OK);
    }
    assert_eq!((a.calls(), c.calls()), (70, 11));
    assert_eq!(rig.snapshot("new").state, State::Open);
}

#[tokio::test]
async fn a_conversation_stays_with_who_served_it_last() {
    let more = "breaker = { consecutive_failures = 1, open_wait = \"50ms\" }";
    let sticky = "sticky_header = \"x-conversation\"";
    let (rig, a, _b) = two(Mood::Refusing(500, None), Mood::Well, more, sticky).await;
    let ask = async |conversation: &'static str| {
        let mut request = rig.request(Method::POST, "/v1/chat/completions", chat("m", false));
        let value = HeaderValue::from_static(conversation);
        request.headers_mut().insert("x-conversation", value);
        let answer = rig.send(request).await;
        answer.header("x-cutout-provider").unwrap().to_owned()
    };
    assert_eq!(ask("one").await, "b");
    a.set(Mood::Well);
    until("it is due", || rig.snapshot("a").state == State::HalfOpen).await;
    assert_eq!(ask("two").await, "a");
    assert_eq!(ask("one").await, "b");
    assert_eq!(ask("two").await, "a");
    rig.upstream("b").breaker.force_open(None, "away");
    assert_eq!(ask("one").await, "a");
}

#[tokio::test]
async fn lesser_answers_are_given_only_where_asked_for_and_are_marked() {
    let (a, old) = (fake(Mood::Well).await, fake(Mood::Well).await);
    let config = provider("a", &a.url(), TOUCHY)
        + &provider("old", &old.url(), TOUCHY)
        + &route("plain", &["a"], "")
        + &route(
            "m",
            &["a"],
            "degraded = { cached_answers = 10, models = [{ provider = \"old\", model = \"m-1\" }] }",
        );
    let rig = Rig::start(&config).await;
    assert_eq!(rig.chat("m").await.header("x-cutout-degraded"), None);
    a.set(Mood::Refusing(500, None));
    let older = rig.chat("m").await;
    assert_eq!(older.header("x-cutout-degraded"), Some("model"));
    assert_eq!(older.json()["model"], "m-1");
    assert!(rig.stream("m").await.text().ends_with("[DONE]\n\n"));
    old.set(Mood::Refusing(500, None));
    let kept = rig.chat("m").await;
    assert_eq!(
        (kept.status, kept.header("x-cutout-degraded")),
        (StatusCode::OK, Some("cached"))
    );
    assert_eq!(kept.json()["model"], "m");
    assert_eq!(
        rig.chat("plain").await.status,
        StatusCode::SERVICE_UNAVAILABLE
    );
    let other = rig
        .post("/v1/chat/completions", r#"{"model":"m","messages":[]}"#)
        .await;
    assert_eq!(other.status, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn a_forced_opening_drains_a_provider_and_its_end_gives_it_back() {
    let (rig, a, b) = two(Mood::Well, Mood::Well, "", "").await;
    rig.upstream("a")
        .breaker
        .force_open(Some(Duration::from_millis(200)), "maintenance");
    assert_eq!(rig.chat("m").await.header("x-cutout-provider"), Some("b"));
    until("it is over", || rig.snapshot("a").state == State::HalfOpen).await;
    assert_eq!(rig.chat("m").await.header("x-cutout-provider"), Some("a"));
    assert_eq!((a.calls(), b.calls()), (1, 1));
}
