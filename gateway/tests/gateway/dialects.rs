//! Each dialect passed through: asked, answered, streamed, and told of failures in its own way.

use cutout_gateway::config::File;
use cutout_gateway::demo::fake::{Fake, Mood};
use http::{HeaderValue, Method, StatusCode};
use serde_json::{Value, json};

use crate::passing::tempfile;
use crate::raw::{Raw, Script};
use crate::rig::{Answer, Rig, fake, provider, route};

/// A kind of request: where it goes, and what it says.
#[derive(Clone, Copy, Debug)]
struct Kind {
    dialect: &'static str,
    path: &'static str,
    body: &'static str,
    stream: bool,
    /// How many tokens its answer tells, in and out.
    tokens: (Option<u64>, Option<u64>),
}

const BOTH: (Option<u64>, Option<u64>) = (Some(1), Some(2));
const NONE: (Option<u64>, Option<u64>) = (None, None);

const fn kind(dialect: &'static str, path: &'static str, body: &'static str) -> Kind {
    let (stream, tokens) = (false, BOTH);
    Kind {
        dialect,
        path,
        body,
        stream,
        tokens,
    }
}

impl Kind {
    const fn stream(self, tokens: (Option<u64>, Option<u64>)) -> Self {
        Self {
            stream: true,
            tokens,
            ..self
        }
    }

    const fn tells(self, tokens: (Option<u64>, Option<u64>)) -> Self {
        Self { tokens, ..self }
    }
}

const KINDS: [Kind; 15] = [
    kind("openai", "/v1/chat/completions", r#"{"model":"m","messages":[]}"#),
    kind("openai", "/v1/chat/completions", r#"{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}"#).stream(BOTH),
    kind("openai", "/v1/chat/completions", r#"{"model":"m","messages":[],"stream":true,"tools":[{"type":"function","function":{"name":"f"}}]}"#).stream(NONE),
    kind("openai", "/v1/completions", r#"{"model":"m","prompt":"x"}"#),
    kind("openai", "/v1/completions", r#"{"model":"m","prompt":"x","stream":true}"#).stream(NONE),
    kind("openai", "/v1/responses", r#"{"model":"m","input":"x"}"#),
    kind("openai", "/v1/responses", r#"{"model":"m","input":"x","stream":true}"#).stream(BOTH),
    kind("openai", "/v1/responses", r#"{"model":"m","input":"x","stream":true,"tools":[{"type":"function","name":"f"}]}"#).stream(BOTH),
    kind("openai", "/v1/embeddings", r#"{"model":"m","input":"x"}"#).tells((Some(1), None)),
    kind("anthropic", "/v1/messages", r#"{"model":"m","max_tokens":9,"messages":[]}"#),
    kind("anthropic", "/v1/messages", r#"{"model":"m","max_tokens":9,"messages":[],"stream":true}"#).stream(BOTH),
    kind("anthropic", "/v1/messages/count_tokens", r#"{"model":"m","messages":[]}"#).tells(NONE),
    kind("gemini", "/v1beta/models/m:generateContent", r#"{"contents":[]}"#),
    kind("gemini", "/v1beta/models/m:streamGenerateContent?alt=sse", r#"{"contents":[]}"#).stream(BOTH),
    kind("gemini", "/v1beta/models/m:countTokens", r#"{"contents":[]}"#).tells(NONE),
];

async fn ask(rig: &Rig, kind: Kind) -> Answer {
    rig.post(kind.path, kind.body).await
}

/// What a well provider says.
async fn well(kind: Kind) -> String {
    let a = fake(Mood::Well).await;
    let rig = Rig::start(&config(kind.dialect, &[&a.url()], "")).await;
    let answer = ask(&rig, kind).await;
    assert_eq!(answer.status, StatusCode::OK, "{kind:?}: {}", answer.text());
    answer.text().to_owned()
}

/// A route `m` over providers at these addresses, named `a`, `b` and so on.
fn config(dialect: &str, urls: &[&str], more: &str) -> String {
    let names = ["a", "b", "c"];
    let dialect = format!("dialect = {dialect:?}\n{more}");
    let providers = urls
        .iter()
        .zip(names)
        .map(|(url, name)| provider(name, url, &dialect));
    providers.collect::<String>() + &route("m", &names[..urls.len()], "")
}

/// The error as its dialect tells it: what its clients go by, and the message.
fn told(dialect: &str, body: &Value) -> (String, String) {
    let error = &body["error"];
    let name = match dialect {
        "anthropic" => {
            assert_eq!(body["type"], "error", "{body}");
            &error["type"]
        }
        "gemini" => {
            assert!(error["code"].is_u64(), "{body}");
            &error["status"]
        }
        _ => &error["code"],
    };
    let text = |value: &Value| {
        value
            .as_str()
            .unwrap_or_else(|| panic!("{body}"))
            .to_owned()
    };
    (text(name), text(&error["message"]))
}

#[tokio::test]
async fn whatever_a_provider_does_before_its_first_content_the_next_one_answers() {
    let limits = "limits = { first_byte = \"150ms\", whole = \"150ms\", idle = \"150ms\" }\n\
                  breaker = { min_calls = 20 }";
    for kind in KINDS {
        let well = well(kind).await;
        let (a, b) = (fake(Mood::Well).await, fake(Mood::Well).await);
        let rig = Rig::start(&config(kind.dialect, &[&a.url(), &b.url()], limits)).await;
        for mood in [
            Mood::Hanging,
            Mood::Refusing(429, None),
            Mood::Refusing(529, None),
            Mood::Refusing(500, None),
            Mood::Empty,
            Mood::Html,
            Mood::ErrorFirst,
        ] {
            a.set(mood.clone());
            let answer = ask(&rig, kind).await;
            assert_eq!(
                answer.status,
                StatusCode::OK,
                "{kind:?} {mood:?}: {}",
                answer.text()
            );
            assert_eq!(answer.text(), well, "{mood:?}");
            assert_eq!(
                answer.header("x-cutout-provider"),
                Some("b"),
                "{kind:?} {mood:?}"
            );
        }
        if !kind.stream {
            for mood in [
                Mood::Cutting,
                Mood::Stalling,
                Mood::Unfinished,
                Mood::BadText,
            ] {
                a.set(mood.clone());
                assert_eq!(ask(&rig, kind).await.text(), well, "{kind:?} {mood:?}");
            }
        }
        // A refused key is no illness.
        let failures = rig.failures("a");
        a.set(Mood::Refusing(401, None));
        assert_eq!(ask(&rig, kind).await.text(), well, "{kind:?}");
        assert_eq!(rig.failures("a"), failures, "{kind:?}");
        let calls = a.calls();
        assert_eq!(ask(&rig, kind).await.text(), well, "{kind:?}");
        assert_eq!(a.calls(), calls, "it is left out");
    }
}

#[tokio::test]
async fn a_dead_provider_is_passed_over() {
    for kind in KINDS {
        let well = well(kind).await;
        let (a, b) = (fake(Mood::Well).await, fake(Mood::Well).await);
        let url = a.url();
        drop(a);
        let rig = Rig::start(&config(kind.dialect, &[&url, &b.url()], "")).await;
        assert_eq!(ask(&rig, kind).await.text(), well, "{kind:?}");
    }
}

#[tokio::test]
async fn with_nobody_left_the_error_is_of_the_clients_dialect() {
    for kind in KINDS {
        let a = fake(Mood::Well).await;
        let limits = "limits = { first_byte = \"150ms\", whole = \"150ms\", idle = \"150ms\" }";
        let rig = Rig::start(&config(kind.dialect, &[&a.url()], limits)).await;
        for (mood, status, openai, anthropic, gemini) in [
            (
                Mood::Hanging,
                504,
                "provider_timeout",
                "timeout_error",
                "DEADLINE_EXCEEDED",
            ),
            (Mood::Empty, 502, "", "api_error", "UNAVAILABLE"),
            (
                Mood::ErrorFirst,
                502,
                "provider_error",
                "api_error",
                "UNAVAILABLE",
            ),
            (
                Mood::Refusing(500, None),
                502,
                "provider_error",
                "api_error",
                "UNAVAILABLE",
            ),
            (
                Mood::Refusing(529, None),
                502,
                "provider_error",
                "api_error",
                "UNAVAILABLE",
            ),
            (
                Mood::Refusing(429, Some(3)),
                429,
                "rate_limit_exceeded",
                "rate_limit_error",
                "FAKE",
            ),
            (
                Mood::Refusing(400, None),
                400,
                "refused_by_provider",
                "invalid_request_error",
                "FAKE",
            ),
            (
                Mood::Refusing(404, None),
                404,
                "model_not_found",
                "not_found_error",
                "FAKE",
            ),
            (
                Mood::Refusing(401, None),
                502,
                "provider_refused_key",
                "api_error",
                "UNAVAILABLE",
            ),
        ] {
            a.set(mood.clone());
            let answer = ask(&rig, kind).await;
            assert_eq!(
                answer.status.as_u16(),
                status,
                "{kind:?} {mood:?}: {}",
                answer.text()
            );
            let (name, _) = told(kind.dialect, &answer.json());
            match kind.dialect {
                "anthropic" => assert_eq!(name, anthropic, "{mood:?}"),
                "gemini" => assert_eq!(name, gemini, "{mood:?}"),
                _ if openai.is_empty() => {}
                _ => assert_eq!(name, openai, "{mood:?}"),
            }
            if mood == Mood::Refusing(429, Some(3)) {
                assert_eq!(answer.header("retry-after"), Some("3"), "{kind:?}");
            }
        }
        // Its key was refused, so nobody is asked.
        let answer = ask(&rig, kind).await;
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{kind:?}");
        let (name, message) = told(kind.dialect, &answer.json());
        assert!(["no_provider", "overloaded_error", "UNAVAILABLE"].contains(&name.as_str()));
        assert!(message.contains("no provider"), "{message}");
    }
}

#[tokio::test]
async fn a_stream_that_fails_after_its_first_content_ends_with_an_error_of_its_dialect() {
    // A tool's call is told by one event, which may go down with the connection.
    let told_in_pieces = |kind: &Kind| kind.stream && !kind.body.contains("tools");
    for kind in KINDS.into_iter().filter(told_in_pieces) {
        let a = fake(Mood::Well).await;
        let limits = "limits = { idle = \"150ms\" }\nbreaker = { min_calls = 20 }";
        let rig = Rig::start(&config(kind.dialect, &[&a.url()], limits)).await;
        for mood in [
            Mood::Cutting,
            Mood::Unfinished,
            Mood::Stalling,
            Mood::ErrorLast,
            Mood::BrokenEvents,
            Mood::BadText,
        ] {
            a.set(mood.clone());
            let failures = rig.failures("a");
            let answer = ask(&rig, kind).await;
            assert_eq!(answer.status, StatusCode::OK, "{kind:?} {mood:?}");
            let text = answer.text();
            let last = text.trim_end().rsplit("\n\n").next().unwrap_or_default();
            let last = last.rsplit("\r\n\r\n").next().unwrap_or_default();
            let is_named = last.starts_with("event: error\n");
            let expected = kind.dialect == "anthropic" || kind.path == "/v1/responses";
            assert_eq!(is_named, expected, "{kind:?} {mood:?}: {last}");
            let data = last.rsplit("data: ").next().unwrap_or_default();
            let body: Value = serde_json::from_str(data).unwrap_or_else(|_| panic!("{text}"));
            told(kind.dialect, &body);
            assert_eq!(rig.failures("a"), failures + 1, "{kind:?} {mood:?}");
        }
    }
}

#[tokio::test]
async fn tokens_are_told_by_each_dialect() {
    for kind in KINDS {
        let a = fake(Mood::Well).await;
        let log = tempfile("");
        let config = format!("[log]\nrequests = {{ file = {:?} }}\n", log.path());
        let rig = Rig::start(&(config + &self::config(kind.dialect, &[&a.url()], ""))).await;
        ask(&rig, kind).await;
        rig.stop().await;
        let line: Value =
            serde_json::from_str(&std::fs::read_to_string(log.path()).unwrap()).unwrap();
        let tokens = (line["tokens_in"].as_u64(), line["tokens_out"].as_u64());
        assert_eq!(tokens, kind.tokens, "{kind:?}");
        assert_eq!(
            (line["model"].as_str(), line["stream"].as_bool()),
            (Some("m"), Some(kind.stream))
        );
    }
}

#[tokio::test]
async fn a_provider_gets_the_path_the_key_and_the_headers_of_its_dialect() {
    let key = tempfile("its-own-key");
    for (dialect, path, body, asked, header) in [
        (
            "openai",
            "/v1/responses?api-version=1",
            r#"{"model":"m","input":[]}"#,
            "/v1/responses",
            "authorization",
        ),
        (
            "anthropic",
            "/v1/messages?beta=true&key=x",
            r#"{"model":"m"}"#,
            "/v1/messages?beta=true",
            "x-api-key",
        ),
        (
            "gemini",
            "/v1beta/models/m:streamGenerateContent?key=x&alt=sse",
            r#"{"contents":[]}"#,
            "/v1/models/their%20own:streamGenerateContent?alt=sse",
            "x-goog-api-key",
        ),
    ] {
        let a = fake(Mood::Well).await;
        let more = format!(
            "dialect = {dialect:?}\napi_key = {{ file = {:?} }}",
            key.path()
        );
        let queue =
            "[[route]]\nmodel = \"m\"\nqueue = [{ provider = \"a\", model = \"their own\" }]\n";
        let rig = Rig::start(&(provider("a", &a.url(), &more) + queue)).await;
        let mut request = rig.request(Method::POST, path, body);
        for (name, value) in [
            ("x-api-key", "of-the-client"),
            ("x-goog-api-key", "of-the-client"),
            ("api-key", "of-the-client"),
            ("anthropic-beta", "tools"),
            ("openai-beta", "realtime"),
            ("x-goog-api-client", "sdk"),
        ] {
            request
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
        rig.send(request).await;
        assert_eq!(a.last_path().as_deref(), Some(asked));
        let (headers, _) = a.last().unwrap();
        let shown: Vec<_> = ["authorization", "x-api-key", "x-goog-api-key", "api-key"]
            .into_iter()
            .filter(|name| headers.contains_key(*name))
            .collect();
        assert_eq!(shown, [header]);
        assert!(headers[header].to_str().unwrap().ends_with("its-own-key"));
        assert_eq!(
            headers.contains_key("anthropic-beta"),
            dialect == "anthropic"
        );
        assert_eq!(
            headers.contains_key("anthropic-version"),
            dialect == "anthropic"
        );
        assert_eq!(headers.contains_key("openai-beta"), dialect == "openai");
        assert_eq!(
            headers.contains_key("x-goog-api-client"),
            dialect == "gemini"
        );
    }
}

#[tokio::test]
async fn a_client_may_show_its_key_as_any_dialect_does() {
    let a = fake(Mood::Well).await;
    let key = tempfile("of-the-client");
    let server = format!("[server]\nclient_keys = [{{ file = {:?} }}]\n", key.path());
    let anthropic = provider("b", &a.url(), "dialect = \"anthropic\"");
    let rig = Rig::start(
        &(server
            + &provider("a", &a.url(), "")
            + &anthropic
            + &route("m", &["a"], "")
            + &route("n", &["b"], "")),
    )
    .await;
    for (name, value, passes) in [
        ("authorization", "Bearer of-the-client", true),
        ("x-api-key", "of-the-client", true),
        ("x-goog-api-key", "of-the-client", true),
        ("api-key", "of-the-client", true),
        ("api-key", "of-another", false),
        ("authorization", "of-the-client", false),
    ] {
        let mut request = rig.request(Method::POST, "/v1/messages", r#"{"model":"n"}"#);
        request
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
        let answer = rig.send(request).await;
        assert_eq!(answer.status == StatusCode::OK, passes, "{name}: {value}");
        if !passes {
            let told = told("anthropic", &answer.json());
            assert_eq!(told.0, "authentication_error");
        }
    }
}

#[tokio::test]
async fn what_is_asked_for_in_the_wrong_dialect_is_refused_in_the_askers() {
    let a = fake(Mood::Well).await;
    let rig = Rig::start(&config("anthropic", &[&a.url()], "")).await;
    let answer = rig.chat("m").await;
    assert_eq!(
        (answer.status, answer.error().as_str()),
        (StatusCode::BAD_REQUEST, "wrong_dialect")
    );
    let answer = rig.post("/v1beta/models/m:generateContent", "{}").await;
    assert_eq!(told("gemini", &answer.json()).0, "INVALID_ARGUMENT");
    for (path, body, status, dialect, name) in [
        (
            "/v1/messages",
            r#"{"model":"n"}"#,
            404,
            "anthropic",
            "not_found_error",
        ),
        (
            "/v1/messages",
            "[]",
            400,
            "anthropic",
            "invalid_request_error",
        ),
        (
            "/v1/messages",
            r#"{"model":7}"#,
            400,
            "anthropic",
            "invalid_request_error",
        ),
        (
            "/v1beta/models/m:streamGenerateContent",
            "{}",
            400,
            "gemini",
            "INVALID_ARGUMENT",
        ),
        (
            "/v1beta/models/m:embedContent",
            "{}",
            404,
            "gemini",
            "NOT_FOUND",
        ),
        (
            "/v1beta/models/m:generateContent",
            "[]",
            400,
            "gemini",
            "INVALID_ARGUMENT",
        ),
        (
            "/v1beta/models/m:generateContent",
            "\u{0}",
            400,
            "gemini",
            "INVALID_ARGUMENT",
        ),
        ("/v1beta/nothing", "{}", 404, "gemini", "NOT_FOUND"),
        (
            "/v1/messages/nothing",
            "{}",
            404,
            "anthropic",
            "not_found_error",
        ),
    ] {
        let answer = rig.post(path, body).await;
        assert_eq!(answer.status.as_u16(), status, "{path} {body}");
        assert_eq!(told(dialect, &answer.json()).0, name, "{path} {body}");
    }
    assert_eq!(a.calls(), 0);
}

#[tokio::test]
async fn each_dialect_lists_the_models_of_its_own() {
    let a = fake(Mood::Well).await;
    let providers = ["openai", "anthropic", "gemini"].map(|dialect| {
        provider(dialect, &a.url(), &format!("dialect = {dialect:?}"))
            + &route(&format!("of {dialect}"), &[dialect], "")
    });
    let rig = Rig::start(&providers.concat()).await;
    let openai = rig.get("/v1/models").await.json();
    assert_eq!(openai["data"].as_array().unwrap().len(), 1);
    assert_eq!(openai["data"][0]["id"], "of openai");
    let gemini = rig.get("/v1beta/models").await.json();
    assert_eq!(gemini["models"][0]["name"], "models/of gemini");
    assert_eq!(
        rig.get("/v1beta/models/of%20gemini").await.json()["displayName"],
        "of gemini"
    );
    assert_eq!(
        rig.get("/v1beta/models/of%20openai").await.status,
        StatusCode::NOT_FOUND
    );
    let mut request = rig.request(Method::GET, "/v1/models", "");
    let version = HeaderValue::from_static("2023-06-01");
    request.headers_mut().insert("anthropic-version", version);
    let anthropic = rig.send(request).await.json();
    assert_eq!(anthropic["data"][0]["id"], "of anthropic");
    assert_eq!(
        (&anthropic["has_more"], &anthropic["last_id"]),
        (&json!(false), &json!("of anthropic"))
    );
}

#[test]
fn a_queue_of_two_dialects_is_refused() {
    let providers =
        provider("a", "http://a", "") + &provider("b", "http://b", "dialect = \"gemini\"");
    let problem = File::parse(providers.clone() + &route("m", &["a", "b"], "")).unwrap_err();
    assert_eq!(problem.field, "route[0].queue");
    assert!(
        problem.message.contains("nothing is translated"),
        "{problem}"
    );
    let degraded = "degraded = { models = [{ provider = \"b\" }] }";
    assert!(File::parse(providers.clone() + &route("m", &["a"], degraded)).is_err());
    let canary = "canary = { provider = \"b\", share = 0.5 }";
    assert!(File::parse(providers.clone() + &route("m", &["a"], canary)).is_err());
    assert!(File::parse(providers + &route("m", &["a"], "") + &route("n", &["b"], "")).is_ok());
    let check =
        "dialect = \"gemini\"\ncheck = { every = \"1s\", model = \"m\", kind = \"embeddings\" }";
    let problem =
        File::parse(provider("a", "http://a", check) + &route("m", &["a"], "")).unwrap_err();
    assert_eq!(problem.field, "provider[0].check.kind");
}

#[tokio::test]
async fn a_check_asks_in_the_dialect_of_its_provider() {
    for (dialect, path) in [
        ("openai", "/v1/chat/completions"),
        ("anthropic", "/v1/messages"),
        ("gemini", "/v1/models/m:generateContent"),
    ] {
        let a: Fake = fake(Mood::Well).await;
        let rig = Rig::start(&config(dialect, &[&a.url()], "")).await;
        let answer = rig.post("/admin/breakers/a/probe", "{}").await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
        assert_eq!(answer.json()["error"], Value::Null, "{}", answer.text());
        assert_eq!(a.last_path().as_deref(), Some(path));
    }
}

#[tokio::test]
async fn a_packed_body_is_refused_for_what_it_is() {
    let a = fake(Mood::Well).await;
    let rig = Rig::start(&config("openai", &[&a.url()], "")).await;
    let mut request = rig.request(Method::POST, "/v1/chat/completions", &b"\x1f\x8b\x08"[..]);
    let gzip = HeaderValue::from_static("gzip");
    request.headers_mut().insert("content-encoding", gzip);
    let answer = rig.send(request).await;
    assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(answer.error(), "unsupported_content_encoding");
}

#[tokio::test]
async fn a_wait_in_googles_details_is_the_providers() {
    let body = r#"{"error":{"code":429,"message":"no","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7s"}]}}"#;
    let a = Raw::start(Script::json(429, body)).await;
    let rig = Rig::start(&config("gemini", &[&a.url()], "")).await;
    let answer = rig.post("/v1beta/models/m:generateContent", "{}").await;
    assert_eq!(answer.header("retry-after"), Some("7"));
    assert_eq!(
        answer.json(),
        serde_json::from_str::<Value>(body).unwrap(),
        "word for word"
    );
}

/// What providers really send, as their references show it.
const RECORDED: [(&str, &str, &str, &str); 4] = [
    (
        "openai",
        "/v1/chat/completions",
        r#"{"model":"m","stream":true}"#,
        concat!(
            "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
            "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"H\u{e4}\u{1f600}\"},\"finish_reason\":null}]}\n\n",
            "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
            "data: {\"id\":\"1\",\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\n",
            "data: [DONE]\n\n",
        ),
    ),
    (
        "openai",
        "/v1/responses",
        r#"{"model":"m","stream":true}"#,
        concat!(
            "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"status\":\"in_progress\",\"error\":null,\"output\":[]}}\n\n",
            "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"item\":{\"type\":\"message\",\"content\":[]}}\n\n",
            "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"\u{e4}\"}\n\n",
            "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"error\":null,\"output\":[{}]}}\n\n",
        ),
    ),
    (
        "anthropic",
        "/v1/messages",
        r#"{"model":"m","stream":true}"#,
        concat!(
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"content\":[],\"usage\":{\"input_tokens\":9}}}\n\n",
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
            "event: ping\ndata: {\"type\": \"ping\"}\n\n",
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\u{e4}\"}}\n\n",
            "event: ping\ndata: {\"type\": \"ping\"}\n\n",
            "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
            "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n",
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        ),
    ),
    (
        "gemini",
        "/v1beta/models/m:streamGenerateContent?alt=sse",
        "{}",
        concat!(
            "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"\u{e4}\"}],\"role\": \"model\"}}],\"usageMetadata\": {\"promptTokenCount\": 1}}\r\n\r\n",
            "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"b\"}],\"role\": \"model\"},\"finishReason\": \"STOP\"}]}\r\n\r\n",
        ),
    ),
];

#[tokio::test]
async fn a_recorded_answer_leaves_as_it_came_wherever_it_was_cut() {
    for (dialect, path, body, recorded) in RECORDED {
        let a = Raw::start(Script::close()).await;
        let rig = Rig::start(&config(dialect, &[&a.url()], "")).await;
        let bytes = recorded.as_bytes();
        let single: Vec<_> = bytes.chunks(1).collect();
        a.set(Script::pieces(&single));
        let answer = rig.post(path, body).await;
        assert_eq!(answer.text(), recorded, "byte by byte");
        for at in 1..bytes.len() {
            a.set(Script::pieces(&[&bytes[..at], &bytes[at..]]));
            let answer = rig.post(path, body).await;
            assert_eq!(answer.text(), recorded, "{dialect}, cut at {at}");
        }
        assert_eq!(rig.failures("a"), 0);
    }
}
