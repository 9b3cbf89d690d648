//! What an operator sees and does.

use std::time::Duration;

use cutout::State;
use cutout_gateway::demo::fake::Mood;
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::time::timeout;

use crate::rig::{Rig, SOON, fake, provider, route, until};

async fn one() -> (Rig, cutout_gateway::demo::fake::Fake) {
    let a = fake(Mood::Well).await;
    let config = provider(
        "a",
        &a.url(),
        "breaker = { consecutive_failures = 2, open_wait = \"60s\" }",
    );
    (Rig::start(&(config + &route("m", &["a"], ""))).await, a)
}

#[tokio::test]
async fn the_state_shown_is_the_breakers_own() {
    let (rig, a) = one().await;
    rig.chat("m").await;
    a.set(Mood::Refusing(500, None));
    rig.chat("m").await;
    let breaker = rig.get("/admin/state").await.json()["breakers"][0].clone();
    assert_eq!(breaker["state"], "closed");
    assert_eq!(breaker["window"]["outcomes"], "sf");
    assert_eq!(breaker["limits"]["consecutive_failures"], 2);
    rig.chat("m").await;
    let state = rig.get("/admin/state").await.json();
    let breaker = &state["breakers"][0];
    assert_eq!(
        (&breaker["state"], &breaker["cause"]),
        (&"open".into(), &"too many failures in a row".into())
    );
    assert!((50_000..=60_000).contains(&breaker["remaining_ms"].as_u64().unwrap()));
    assert_eq!(state["transitions"][0]["to"], "open");
    assert_eq!(state["transitions"][0]["counts"]["failures"], 2);
}

#[tokio::test]
async fn an_operators_actions_reach_the_breaker_with_their_reasons() {
    let (rig, _a) = one().await;
    for (action, state) in [
        ("force_open", State::ForcedOpen),
        ("disable", State::Disabled),
        ("observe_only", State::ObserveOnly),
        ("close", State::Closed),
    ] {
        let path = format!("/admin/breakers/a/{action}");
        let answer = rig.post(&path, r#"{"reason":"a test"}"#).await;
        assert_eq!(
            (answer.status, rig.snapshot("a").state),
            (StatusCode::OK, state)
        );
        let last = rig.gateway.events.recent().pop().unwrap();
        assert_eq!(
            (last.to.clone(), last.reason.as_deref()),
            (state.to_string(), Some("a test"))
        );
    }
    rig.post(
        "/admin/breakers/a/force_open",
        r#"{"reason":"x","seconds":1.5}"#,
    )
    .await;
    assert!(rig.snapshot("a").remaining.unwrap() <= Duration::from_millis(1500));
    for (path, body, status) in [
        ("/admin/breakers/a/close", r#"{"reason":" "}"#, 400),
        ("/admin/breakers/a/close", "{}", 400),
        ("/admin/breakers/a/close", "{", 400),
        (
            "/admin/breakers/a/force_open",
            r#"{"reason":"x","seconds":-1}"#,
            400,
        ),
        (
            "/admin/breakers/a/force_open",
            r#"{"reason":"x","seconds":0}"#,
            400,
        ),
        (
            "/admin/breakers/a/force_open",
            r#"{"reason":"x","seconds":1e300}"#,
            400,
        ),
        ("/admin/breakers/a/melt", r#"{"reason":"x"}"#, 404),
        ("/admin/breakers/b/close", r#"{"reason":"x"}"#, 404),
    ] {
        let answer = rig.post(path, body).await;
        assert_eq!(answer.status.as_u16(), status, "{path} {body}");
        answer.error();
    }
    assert_eq!(rig.snapshot("a").state, State::ForcedOpen);
    let resume = "/admin/breakers/a/resume";
    let answer = rig.post(resume, r#"{"reason":"over"}"#).await;
    assert_eq!(
        (answer.status, rig.snapshot("a").state),
        (StatusCode::OK, State::Closed)
    );
    let answer = rig.post(resume, r#"{"reason":"once more"}"#).await;
    assert_eq!(
        (answer.status, answer.error().as_str()),
        (StatusCode::CONFLICT, "not_set")
    );
}

#[tokio::test]
async fn transitions_and_states_are_told_as_they_happen() {
    let (rig, _a) = one().await;
    let mut body = rig
        .open(rig.request(Method::GET, "/admin/events", ""))
        .await
        .into_body();
    let mut text = String::new();
    let mut next = async |until: &str| {
        while !text.contains(until) {
            let frame = timeout(SOON, body.frame())
                .await
                .expect(until)
                .unwrap()
                .unwrap();
            text.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
        }
        std::mem::take(&mut text)
    };
    let state = next("\n\n").await;
    let data: Value =
        serde_json::from_str(state.strip_prefix("event: state\ndata: ").unwrap()).unwrap();
    assert_eq!(data["breakers"][0]["name"], "a");
    rig.upstream("a").breaker.force_open(None, "a test");
    let told = next("event: transition\n").await;
    assert!(
        told.contains("\"reason\":\"a test\"")
            || next("\n\n").await.contains("\"reason\":\"a test\"")
    );
    drop(body);
}

#[tokio::test]
async fn a_probe_on_request_counts_if_it_is_due() {
    let (rig, a) = one().await;
    let probe = async || rig.post("/admin/breakers/a/probe", "{}").await.json();
    let well = probe().await;
    assert_eq!(
        (&well["ok"], &well["counted"], &well["error"]),
        (&true.into(), &true.into(), &Value::Null)
    );
    a.set(Mood::Refusing(500, None));
    assert_eq!(probe().await["error"], "status 500");
    probe().await;
    assert_eq!(rig.snapshot("a").state, State::Open);
    a.set(Mood::Well);
    let early = probe().await;
    assert_eq!(
        (&early["ok"], &early["counted"]),
        (&true.into(), &false.into())
    );
    assert_eq!(rig.snapshot("a").state, State::Open);
    rig.upstream("a")
        .breaker
        .force_open(Some(Duration::from_millis(1)), "x");
    until("it is due", || rig.snapshot("a").state == State::HalfOpen).await;
    assert_eq!(probe().await["counted"], true);
    assert_eq!(rig.snapshot("a").state, State::Closed);
}
