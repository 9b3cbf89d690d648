//! What passes through, and what does not.

use cutout_gateway::demo::fake::Mood;
use http::{HeaderValue, Method, StatusCode};

use crate::rig::{Rig, fake, provider, route};

async fn one() -> (Rig, cutout_gateway::demo::fake::Fake) {
    let a = fake(Mood::Well).await;
    let config = provider("a", &a.url(), "")
        + "[[route]]\nmodel = \"m\"\nqueue = [{ provider = \"a\", model = \"theirs\" }]\n"
        + &route("same", &["a"], "");
    (Rig::start(&config).await, a)
}

#[tokio::test]
async fn a_body_passes_byte_for_byte_but_for_the_models_name() {
    let (rig, a) = one().await;
    let sent = "{ \"unknown\": [1e3, 1.0, \"\\u00e4\"],\n \"model\" :  \"m\" , \"n\": 1, \"unknown\": null }";
    let answer = rig.post("/v1/chat/completions", sent).await;
    assert_eq!(answer.status, StatusCode::OK);
    let (_, got) = a.last().unwrap();
    assert_eq!(got, sent.replace("\"m\"", "\"theirs\""));
    let sent = sent.replace("\"m\"", "\"same\"");
    rig.post("/v1/chat/completions", sent.clone()).await;
    assert_eq!(a.last().unwrap().1, sent);
}

#[tokio::test]
async fn answers_and_streams_come_as_the_provider_gave_them() {
    let (rig, _a) = one().await;
    let answer = rig.chat("m").await;
    assert_eq!(
        answer.json()["choices"][0]["message"]["content"],
        "Hello there"
    );
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("x-cutout-provider"), Some("a"));
    assert_eq!(answer.header("x-cutout-tried"), None);
    let stream = rig.stream("m").await;
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    assert!(stream.text().ends_with("data: [DONE]\n\n"));
    assert_eq!(stream.text().matches("data: ").count(), 5);
    let answer = rig
        .post("/v1/embeddings", r#"{"model":"m","input":"x"}"#)
        .await;
    assert_eq!(answer.json()["data"][0]["embedding"][0], 0.5);
}

#[tokio::test]
async fn models_are_those_of_the_routes() {
    let (rig, _a) = one().await;
    let body = rig.get("/v1/models").await.json();
    let ids: Vec<_> = body["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| &model["id"])
        .collect();
    assert_eq!(ids, ["m", "same"]);
    assert_eq!(rig.get("/v1/models/m").await.json()["object"], "model");
    assert_eq!(rig.get("/v1/models/none").await.error(), "model_not_found");
    assert_eq!(rig.get("/v2/other").await.error(), "no_such_path");
    assert_eq!(
        rig.get("/v1/chat/completions").await.error(),
        "wrong_method"
    );
    assert_eq!(rig.post("/admin/state", "{}").await.error(), "wrong_method");
}

#[tokio::test]
async fn a_provider_gets_its_own_key_and_no_credentials_of_clients() {
    let a = fake(Mood::Well).await;
    let file = tempfile("its-own-key\n");
    let more = format!("api_key = {{ file = {:?} }}", file.path());
    let key = tempfile("of-the-client");
    let server = format!(
        "[server]\nclient_keys = [{{ file = {:?} }}]\npass_headers = [\"X-Tenant\"]\n",
        key.path()
    );
    let config = server + &provider("a", &a.url(), &more) + &route("m", &["a"], "");
    let rig = Rig::start(&config).await;
    let mut request = rig.request(
        Method::POST,
        "/v1/chat/completions",
        crate::rig::chat("m", false),
    );
    for (name, value) in [
        ("authorization", "bearer of-the-client"),
        ("x-tenant", "7"),
        ("x-unheard-of", "7"),
        ("x-real-ip", "10.0.0.1"),
        ("true-client-ip", "10.0.0.1"),
        ("cf-connecting-ip", "10.0.0.1"),
        ("x-goog-api-key", "mine"),
        ("x-auth-token", "mine"),
        ("cookie", "a=b"),
        ("x-forwarded-for", "10.0.0.1"),
        ("connection", "x-hop"),
        ("x-hop", "1"),
        ("te", "trailers"),
        ("openai-beta", "assistants=v2"),
    ] {
        request
            .headers_mut()
            .append(name, HeaderValue::from_static(value));
    }
    assert_eq!(rig.send(request).await.status, StatusCode::OK);
    let (headers, _) = a.last().unwrap();
    assert_eq!(headers["authorization"], "Bearer its-own-key");
    assert_eq!(headers["openai-beta"], "assistants=v2");
    assert_eq!(headers["x-tenant"], "7");
    assert_eq!(headers["accept-encoding"], "identity");
    for name in [
        "cookie",
        "x-forwarded-for",
        "x-hop",
        "te",
        "transfer-encoding",
        "x-unheard-of",
        "x-real-ip",
        "true-client-ip",
        "cf-connecting-ip",
        "x-goog-api-key",
        "x-auth-token",
    ] {
        assert!(!headers.contains_key(name), "{name}");
    }
    assert_eq!(headers.get_all("content-length").iter().count(), 1);
}

#[tokio::test]
async fn a_key_is_never_shown() {
    let a = fake(Mood::Refusing(401, None)).await;
    let file = tempfile("very-secret");
    let more = format!("api_key = {{ file = {:?} }}", file.path());
    let rig = Rig::start(&(provider("a", &a.url(), &more) + &route("m", &["a"], ""))).await;
    let refused = rig.chat("m").await;
    assert_eq!(
        (refused.status, refused.error().as_str()),
        (StatusCode::BAD_GATEWAY, "provider_refused_key")
    );
    let shown = [
        refused.text().to_owned(),
        rig.get("/admin/state").await.text().to_owned(),
        rig.get("/admin/config").await.text().to_owned(),
        rig.get("/metrics").await.text().to_owned(),
        format!("{:?}", rig.gateway),
    ];
    for text in shown {
        assert!(!text.contains("very-secret"), "{text}");
    }
}

#[tokio::test]
async fn metrics_have_what_went_through() {
    let (rig, _a) = one().await;
    rig.chat("m").await;
    let answer = rig.get("/metrics").await;
    let text = answer.text();
    assert!(
        text.contains(r#"cutout_breaker_calls_total{breaker="a",kind="normal",outcome="success"}"#),
        "{text}"
    );
    assert!(
        text.contains(
            r#"gateway_requests_total{endpoint="chat",model="m",target="a/theirs",status="200"}"#
        ),
        "{text}"
    );
    assert_eq!(rig.get("/healthz").await.text(), "ok\n");
    assert_eq!(rig.get("/readyz").await.text(), "ready\n");
}

/// A file with this text, gone when dropped.
pub(crate) struct TempFile(std::path::PathBuf);

impl TempFile {
    pub(crate) fn path(&self) -> &std::path::Path {
        &self.0
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub(crate) fn tempfile(text: &str) -> TempFile {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = format!(
        "cutout-gateway-{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Relaxed)
    );
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, text).unwrap();
    TempFile(path)
}
