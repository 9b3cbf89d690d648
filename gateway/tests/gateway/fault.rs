//! Whose fault an answer is: the client's, the provider's, or that of the key which the gateway has there.

use http::StatusCode;
use serde_json::{Value, json};

use crate::passing::tempfile;
use crate::raw::{DONE, Raw, Script, WELL};
use crate::rig::{Rig, SOON, chat, provider, route};

/// Two providers of one route; the second is well.
async fn two(script: Script, more: &str) -> (Rig, Raw, Raw) {
    let (a, b) = (Raw::start(script).await, Raw::start(Script::well()).await);
    let config = provider("a", &a.url(), more) + &provider("b", &b.url(), more);
    let rig = Rig::start(&(config + &route("m", &["a", "b"], ""))).await;
    (rig, a, b)
}

const RETRIED: &str = "retry = { attempts = 3, base = \"1ms\" }\n";

fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}

#[tokio::test]
async fn a_code_inside_a_200_decides_as_the_status_would() {
    let number = r#"{"error":{"code":400,"message":"too many tokens","param":"messages","type":"invalid_request_error"}}"#;
    let text = r#"{"error":{"code":"400","message":"too many tokens"}}"#;
    let named = r#"{"error":{"code":"context_length_exceeded","message":"too many tokens","type":"invalid_request_error","param":"messages"}}"#;
    let kind =
        r#"{"error":{"code":null,"message":"too many tokens","type":"invalid_request_error"}}"#;
    let comment = ": PROCESSING\n\n";
    for body in [number, text, named, kind] {
        for (script, stream) in [
            (Script::json(200, body), false),
            (Script::json(200, body), true),
            (Script::stream(&[&event(body)]).end(), true),
            (
                Script::stream(&[crate::raw::ROLE, &event(body)]).end(),
                true,
            ),
            (
                Script::stream(&[&format!("event: error\n{}", event(body))]).end(),
                true,
            ),
        ] {
            let (rig, a, b) = two(script.clone(), RETRIED).await;
            for _ in 0..11 {
                let answer = rig.post("/v1/chat/completions", chat("m", stream)).await;
                assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{script:?}");
                let sent: Value = serde_json::from_str(body).unwrap();
                let told = answer.json();
                for (field, value) in sent["error"].as_object().unwrap() {
                    assert_eq!(&told["error"][field], value, "word for word");
                }
            }
            assert_eq!((a.calls(), b.calls()), (11, 0));
            assert_eq!(rig.failures("a"), 0);
            a.set(Script::well());
            assert_eq!(rig.chat("m").await.status, StatusCode::OK);
        }
    }
    // Behind a comment too; the head has gone out by then, so the error is an event.
    let (rig, a, b) = two(Script::stream(&[comment, &event(number)]).end(), RETRIED).await;
    let answer = rig.stream("m").await;
    assert!(answer.text().contains(&event(number)), "{}", answer.text());
    assert_eq!((a.calls(), b.calls(), rig.failures("a")), (1, 0, 0));
}

#[tokio::test]
async fn a_failure_inside_a_200_moves_on() {
    for body in [
        r#"{"error":{"code":503,"message":"no capacity"}}"#,
        r#"{"error":{"code":"server_error","message":"no capacity"}}"#,
        r#"{"error":{"message":"no capacity"}}"#,
        r#"{"error":"no capacity"}"#,
        r#"{"object":"error","message":"no capacity","code":500}"#,
    ] {
        let (rig, a, b) = two(Script::json(200, body), "").await;
        let answer = rig.chat("m").await;
        assert_eq!(answer.header("x-cutout-provider"), Some("b"), "{body}");
        assert_eq!(
            (a.calls(), b.calls(), rig.window("a").as_str()),
            (1, 1, "f")
        );
    }
}

#[tokio::test]
async fn what_the_provider_says_of_a_request_reaches_the_client_word_for_word() {
    for (status, body) in [
        (
            400,
            json!({"error": {"message": "m", "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}),
        ),
        (
            400,
            json!({"error": {"message": "m", "type": null, "param": "prompt", "code": "content_filter", "status": 400,
            "innererror": {"content_filter_result": {"hate": {"filtered": true}}}}}),
        ),
        (
            403,
            json!({"error": {"message": "m", "code": "content_policy_violation", "type": "x", "param": null}}),
        ),
        (
            422,
            json!({"error": {"message": "m", "type": "a", "param": "b", "code": 422}}),
        ),
        (
            429,
            json!({"error": {"message": "m", "type": "insufficient_quota", "param": null, "code": "insufficient_quota"}}),
        ),
        (
            429,
            json!({"error": {"message": "m", "type": "tokens", "param": null, "code": "rate_limit_exceeded"}}),
        ),
    ] {
        let a = Raw::start(Script::json(status, &body.to_string())).await;
        let rig = Rig::start(&(provider("a", &a.url(), "") + &route("m", &["a"], ""))).await;
        let answer = rig.chat("m").await;
        assert_eq!((answer.status.as_u16(), answer.json()), (status, body));
    }
}

#[tokio::test]
async fn errors_of_other_shapes_keep_their_message() {
    let kind = "content-type: application/json\r\n";
    for (headers, body, message) in [
        (
            kind,
            r#"{"object":"error","message":"max_tokens is too large","type":"BadRequestError","param":null,"code":400}"#,
            "max_tokens is too large",
        ),
        (kind, r#"{"detail":"no such field"}"#, "no such field"),
        (
            kind,
            r#"{"detail":[{"loc":["body","messages"],"msg":"field required","type":"missing"}]}"#,
            "field required",
        ),
        (kind, r#"{"message":"bad things"}"#, "bad things"),
        (kind, r#"{"error":"bad things"}"#, "bad things"),
        (
            "content-type: text/plain\r\n",
            "prompt is too long\n",
            "prompt is too long",
        ),
        ("", "prompt is too long", "prompt is too long"),
    ] {
        let (rig, a, b) = two(Script::whole(400, headers, body), RETRIED).await;
        let answer = rig.chat("m").await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}");
        let error = &answer.json()["error"];
        assert!(
            error["message"].as_str().unwrap().contains(message),
            "{error}"
        );
        assert!(
            error["type"].is_string() && error.get("code").is_some(),
            "{error}"
        );
        assert_eq!((a.calls(), b.calls(), rig.failures("a")), (1, 0, 0));
    }
    // A page is for people with a browser.
    let page = Script::whole(400, "content-type: text/html\r\n", "<h1>no</h1>");
    let (rig, _a, _b) = two(page, "").await;
    assert!(!rig.chat("m").await.text().contains("h1"));
}

#[tokio::test]
async fn a_key_that_is_refused_or_without_credit_takes_its_target_out() {
    let inside = r#"{"error":{"code":401,"message":"Incorrect API key provided: sk-abc123def456ghi789jkl"}}"#;
    let quota = r#"{"error":{"code":"insufficient_quota","message":"You exceeded your quota","type":"insufficient_quota"}}"#;
    for (script, cause) in [
        (Script::json(401, inside), "key refused"),
        (
            Script::json(403, r#"{"error":{"message":"no access"}}"#),
            "key refused",
        ),
        (Script::json(200, inside), "key refused"),
        (
            Script::json(402, r#"{"error":{"message":"pay"}}"#),
            "credit spent",
        ),
        (Script::json(429, quota), "credit spent"),
        (Script::json(200, quota), "credit spent"),
    ] {
        let file = tempfile("");
        let (a, b) = (
            Raw::start(script.clone()).await,
            Raw::start(Script::well()).await,
        );
        let text = provider("a", &a.url(), RETRIED)
            + &provider("b", &b.url(), "")
            + &route("m", &["a", "b"], "");
        std::fs::write(file.path(), text).unwrap();
        let rig = Rig::start_file(file.path()).await;
        for _ in 0..5 {
            assert_eq!(
                rig.chat("m").await.header("x-cutout-provider"),
                Some("b"),
                "{script:?}"
            );
        }
        assert_eq!(
            (a.calls(), b.calls(), rig.failures("a")),
            (1, 5, 0),
            "{script:?}"
        );
        let state = rig.get("/admin/state").await;
        let shown = &state.json()["routes"][0]["queue"][0]["suspended"];
        assert_eq!(shown["cause"], cause, "{shown}");
        assert!(shown["remaining_ms"].as_u64().unwrap() > 0, "{shown}");
        assert!(!state.text().contains("sk-abc123"), "{shown}");
        let metrics = rig.get("/metrics").await;
        assert!(
            metrics.text().contains("gateway_suspended"),
            "{}",
            metrics.text()
        );
        // The keys are read again.
        a.set(Script::well());
        let gateway = std::sync::Arc::clone(&rig.gateway);
        tokio::task::spawn_blocking(move || gateway.reload(true))
            .await
            .unwrap();
        assert_eq!(rig.chat("m").await.header("x-cutout-provider"), Some("a"));
    }
}

#[tokio::test]
async fn a_target_that_was_taken_out_for_its_key_comes_back_after_a_time() {
    let (rig, a, _b) = two(Script::json(401, "{}"), "suspend = \"50ms\"").await;
    assert_eq!(rig.chat("m").await.header("x-cutout-provider"), Some("b"));
    a.set(Script::well());
    let back = async { while rig.chat("m").await.header("x-cutout-provider") != Some("a") {} };
    tokio::time::timeout(SOON, back)
        .await
        .expect("it comes back");
    assert_eq!(rig.chat("m").await.header("x-cutout-provider"), Some("a"));
}

#[tokio::test]
async fn a_route_whose_keys_are_all_refused_says_so() {
    let a = Raw::start(Script::json(401, "{}")).await;
    let rig = Rig::start(&(provider("a", &a.url(), "") + &route("m", &["a"], ""))).await;
    let first = rig.chat("m").await;
    assert_eq!(first.error(), "provider_refused_key");
    let second = rig.chat("m").await;
    assert_eq!(
        (second.status, second.error().as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, "no_provider")
    );
    assert!(
        second.tried()[0].contains("key refused"),
        "{:?}",
        second.tried()
    );
    assert_eq!(a.calls(), 1);
    for answer in [first, second] {
        assert_eq!(answer.header("x-should-retry"), Some("false"));
    }
}

#[tokio::test]
async fn an_empty_answer_is_a_failure_and_is_never_kept() {
    for body in [
        "{}",
        "[]",
        "null",
        r#"{"choices":[]}"#,
        r#"{"choices":null}"#,
        r#"{"id":"1","object":"chat.completion","usage":{}}"#,
    ] {
        let (a, b) = (
            Raw::start(Script::json(200, body)).await,
            Raw::start(Script::well()).await,
        );
        let config = provider("a", &a.url(), "") + &provider("b", &b.url(), "");
        let rig =
            Rig::start(&(config + &route("m", &["a", "b"], "degraded = { cached_answers = 5 }")))
                .await;
        let answer = rig.chat("m").await;
        assert_eq!(answer.header("x-cutout-provider"), Some("b"), "{body}");
        assert_eq!(rig.window("a"), "f", "{body}");
        b.set(Script::json(500, "{}"));
        assert_eq!(
            rig.chat("m").await.text(),
            WELL,
            "only the good one is kept"
        );
    }
    let (rig, _a, _b) = two(Script::stream(&[DONE]).end(), "").await;
    assert_eq!(rig.stream("m").await.status, StatusCode::BAD_GATEWAY);
    assert_eq!(rig.window("a"), "f");
    for events in [
        vec![],
        vec![crate::raw::ROLE, DONE],
        vec!["data: {\"choices\":[]}\n\n", DONE],
    ] {
        let (rig, _a, b) = two(Script::stream(&events).end(), "").await;
        b.set(Script::streaming());
        let answer = rig.stream("m").await;
        assert!(
            answer.text().ends_with(DONE) && answer.text().contains("Hello"),
            "{}",
            answer.text()
        );
        assert_eq!(rig.window("a"), "f", "{events:?}");
    }
    let a = Raw::start(Script::json(200, r#"{"object":"list","data":[]}"#)).await;
    let rig = Rig::start(&(provider("a", &a.url(), "") + &route("m", &["a"], ""))).await;
    let answer = rig
        .post("/v1/embeddings", r#"{"model":"m","input":"x"}"#)
        .await;
    assert_eq!(answer.status, StatusCode::BAD_GATEWAY);
}
