//! Streams: what is said before the first content, in the middle, and instead of the end.

use std::time::Duration;

use cutout_gateway::client::Received;
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;

use crate::raw::{DONE, HELLO, ROLE, Raw, STOP, Script};
use crate::rig::{Rig, SOON, chat, provider, route, until};

async fn two(a: Script, b: Script, more: &str) -> (Rig, Raw, Raw) {
    let (a, b) = (Raw::start(a).await, Raw::start(b).await);
    let config = more.to_owned() + &provider("a", &a.url(), "") + &provider("b", &b.url(), "");
    let rig = Rig::start(&(config + &route("m", &["a", "b"], ""))).await;
    (rig, a, b)
}

/// The error that the official client would raise: it reads `data` lines, looks for `error`, and minds no event's name.
fn raised(text: &str) -> Option<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let mut errors = data
        .take_while(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str::<Value>(data).expect("JSON"))
        .filter_map(|data| data.get("error").filter(|error| error.is_object()).cloned());
    errors.next()
}

async fn next(body: &mut Received) -> String {
    let frame = tokio::time::timeout(SOON, body.frame())
        .await
        .expect("in time");
    let data = frame.expect("more").unwrap().into_data().unwrap();
    String::from_utf8(data.to_vec()).unwrap()
}

#[tokio::test]
async fn a_stream_that_fails_ends_with_an_error_that_the_official_client_raises() {
    for event in [
        "event: error\ndata: {\"message\":\"no capacity\",\"code\":\"server_error\"}\n\n",
        "event: error\ndata: {\"error\":{\"message\":\"no capacity\",\"code\":\"server_error\"}}\n\n",
        "data: {\"error\":{\"message\":\"no capacity\",\"code\":\"server_error\"}}\n\n",
        "data: {\"object\":\"error\",\"message\":\"no capacity\",\"code\":\"server_error\"}\n\n",
        "data: {\"error\":\"no capacity\"}\n\n",
        "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}],\"error\":{\"message\":\"no capacity\"}}\n\n",
    ] {
        let script = Script::stream(&[ROLE, HELLO, event, DONE]).end();
        let (rig, a, b) = two(script, Script::streaming(), "").await;
        let answer = rig.stream("m").await;
        let error = raised(answer.text()).unwrap_or_else(|| panic!("{event}: {}", answer.text()));
        assert!(
            error["message"].as_str().unwrap().contains("no capacity"),
            "{error}"
        );
        assert!(
            error["type"].is_string() && error.get("code").is_some(),
            "{error}"
        );
        assert!(answer.text().starts_with(&format!("{ROLE}{HELLO}")));
        assert_eq!(
            (a.calls(), b.calls(), rig.window("a").as_str()),
            (1, 0, "f"),
            "{event}"
        );
    }
    for script in [
        Script::stream(&[ROLE, HELLO]),
        Script::stream(&[ROLE, HELLO]).end(),
        Script::stream(&[ROLE, HELLO, "data: {\"id\n\n"]).end(),
    ] {
        let (rig, _a, b) = two(script, Script::streaming(), "").await;
        let answer = rig.stream("m").await;
        assert!(raised(answer.text()).is_some(), "{}", answer.text());
        assert_eq!((b.calls(), rig.window("a").as_str()), (0, "f"));
    }
}

#[tokio::test]
async fn an_error_in_the_middle_that_is_the_clients_fault_is_passed_on_and_not_counted() {
    let event = "data: {\"error\":{\"message\":\"filtered\",\"code\":\"content_filter\",\"type\":\"invalid_request_error\",\"param\":\"messages\"}}\n\n";
    let (rig, _a, b) = two(
        Script::stream(&[HELLO, event]).end(),
        Script::streaming(),
        "",
    )
    .await;
    let error = raised(rig.stream("m").await.text()).unwrap();
    assert_eq!(
        (error["code"].as_str(), error["param"].as_str()),
        (Some("content_filter"), Some("messages"))
    );
    assert_eq!((b.calls(), rig.failures("a")), (0, 0));
}

#[tokio::test]
async fn a_head_without_content_commits_to_nobody() {
    let filters = "data: {\"choices\":[],\"prompt_filter_results\":[]}\n\n";
    let trouble = "data: {\"error\":{\"message\":\"no capacity\"}}\n\n";
    for script in [
        Script::stream(&[ROLE, trouble]).end(),
        Script::stream(&[filters, ROLE, trouble]).end(),
        Script::stream(&[ROLE]),
        Script::stream(&[ROLE]).end(),
        Script::stream(&[ROLE, "data: {\"id\n\n"]).end(),
    ] {
        let (rig, a, b) = two(script, Script::streaming(), "").await;
        let answer = rig.stream("m").await;
        assert_eq!(answer.text(), format!("{ROLE}{HELLO}{STOP}{DONE}"));
        assert_eq!(answer.header("x-cutout-provider"), Some("b"));
        assert_eq!(
            (a.calls(), b.calls(), rig.window("a").as_str()),
            (1, 1, "f")
        );
    }
    // What is said as content, in whatever field, commits; so does a finish.
    for piece in [
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"tool_calls\":[{\"index\":0}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"refusal\":\"no\"}}]}\n\n",
        STOP,
    ] {
        let (rig, _a, b) = two(
            Script::stream(&[piece, trouble]).end(),
            Script::streaming(),
            "",
        )
        .await;
        assert!(raised(rig.stream("m").await.text()).is_some(), "{piece}");
        assert_eq!(b.calls(), 0, "{piece}");
    }
}

#[tokio::test]
async fn comments_of_the_provider_pass_before_the_first_content() {
    let (comment, passed) = (": PROCESSING\n\n", ": PROCESSING\n");
    let script = Script::stream(&[comment]).then_hang();
    let (rig, a, _b) = two(script, Script::streaming(), "").await;
    let request = rig.request(Method::POST, "/v1/chat/completions", chat("m", true));
    let mut body = rig.open(request).await.into_body();
    assert_eq!(next(&mut body).await, passed);
    assert_eq!((a.calls(), a.open()), (1, 1));
    drop(body);
    until("it is let go", || a.open() == 0).await;
    // They commit to nobody.
    for script in [
        Script::stream(&[comment]),
        Script::stream(&[comment, "data: {\"error\":{\"message\":\"no\"}}\n\n"]).end(),
        Script::stream(&[comment, ROLE, DONE]).end(),
    ] {
        let (rig, a, b) = two(script, Script::streaming(), "").await;
        let answer = rig.stream("m").await;
        assert!(answer.text().starts_with(passed), "{}", answer.text());
        assert!(
            answer
                .text()
                .ends_with(&format!("{ROLE}{HELLO}{STOP}{DONE}")),
            "{}",
            answer.text()
        );
        assert_eq!(
            (a.calls(), b.calls(), rig.window("a").as_str()),
            (1, 1, "f")
        );
    }
}

#[tokio::test]
async fn the_gateway_keeps_a_waiting_client_alive() {
    let often = "[server]\nkeep_alive = \"20ms\"\n";
    let slow = Duration::from_millis(200);
    let script = Script::streaming().after(slow);
    let (rig, _a, _b) = two(script, Script::streaming(), often).await;
    let answer = rig.stream("m").await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (StatusCode::OK, Some("text/event-stream"))
    );
    let comments = answer
        .text()
        .lines()
        .filter(|line| line.starts_with(':'))
        .count();
    assert!(comments >= 2, "{}", answer.text());
    assert!(
        answer
            .text()
            .ends_with(&format!("{ROLE}{HELLO}{STOP}{DONE}")),
        "{}",
        answer.text()
    );
    // In the middle too, and only between events.
    let script = Script::stream(&[HELLO])
        .say("6\r\ndata: \r\n")
        .wait(slow)
        .event("[DONE]\n\n")
        .end();
    let (rig, _a, _b) = two(script, Script::streaming(), often).await;
    let answer = rig.stream("m").await;
    let rest = answer.text().strip_prefix(HELLO).unwrap();
    assert!(
        rest.starts_with(':') && rest.ends_with("\ndata: [DONE]\n\n"),
        "{rest}"
    );
    // When nobody answers in the end, the client is told in the stream.
    let failing = || {
        Script::json(
            400,
            r#"{"error":{"message":"m","type":"t","param":"p","code":"c"}}"#,
        )
        .after(slow)
    };
    let (rig, _a, b) = two(failing(), Script::streaming(), often).await;
    let answer = rig.stream("m").await;
    let error = raised(answer.text()).unwrap();
    assert_eq!(
        error,
        serde_json::json!({"message": "m", "type": "t", "param": "p", "code": "c"})
    );
    assert_eq!((b.calls(), rig.failures("a")), (0, 0));
    // A failure that comes before the first comment has a status of its own.
    let (rig, _a, _b) = two(Script::json(400, "{}"), Script::streaming(), "").await;
    assert_eq!(rig.stream("m").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_client_that_leaves_while_it_is_kept_alive_frees_its_provider() {
    let (rig, a, _b) = two(
        Script::hang(),
        Script::streaming(),
        "[server]\nkeep_alive = \"5ms\"\n",
    )
    .await;
    let request = rig.request(Method::POST, "/v1/chat/completions", chat("m", true));
    let mut body = rig.open(request).await.into_body();
    assert!(next(&mut body).await.starts_with(':'));
    assert_eq!(a.open(), 1);
    drop(body);
    until("it is let go", || {
        a.open() == 0 && rig.upstream("a").in_flight() == 0
    })
    .await;
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let a = Raw::start(Script::stream(&[&ROLE.repeat(40)]).end()).await;
    let more = "limits = { max_answer_bytes = 2048 }";
    let rig = Rig::start(&(provider("a", &a.url(), more) + &route("m", &["a"], ""))).await;
    assert_eq!(rig.stream("m").await.error(), "invalid_provider_answer");
}
