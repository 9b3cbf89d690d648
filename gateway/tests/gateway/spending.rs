//! Who used what, and what keys may use.

use cutout_gateway::config::File;
use cutout_gateway::demo::fake::Mood;
use cutout_gateway::gateway::Gateway;
use http::{HeaderValue, Method, StatusCode};
use serde_json::{Value, json};

use crate::passing::{TempFile, tempfile};
use crate::rig::{Answer, Rig, chat, fake, provider, route};

/// The tables of client keys with these names and fields, and what holds them.
fn keys(named: &[(&str, &str)]) -> (String, Vec<TempFile>) {
    let files: Vec<_> = named
        .iter()
        .map(|(name, _)| tempfile(&format!("key-of-{name}")))
        .collect();
    let entries = named.iter().zip(&files).map(|((name, more), file)| {
        format!("{{ name = {name:?}, file = {:?}{more} }}", file.path())
    });
    let entries = entries.collect::<Vec<_>>().join(", ");
    (format!("[server]\nclient_keys = [{entries}]\n"), files)
}

async fn ask(rig: &Rig, key: &str, path: &str, body: &str) -> Answer {
    let mut request = rig.request(Method::POST, path, body.to_owned());
    let shown = HeaderValue::try_from(format!("key-of-{key}")).unwrap();
    request.headers_mut().insert("x-api-key", shown);
    rig.send(request).await
}

async fn state(rig: &Rig) -> Value {
    rig.get("/admin/state").await.json()
}

/// The minute that it is: what is counted in one must not run over into the next.
fn minute() -> u64 {
    cutout_gateway::clock::unix_time().as_secs() / 60
}

#[tokio::test]
async fn tokens_are_counted_by_key_route_and_target_from_answers_and_streams() {
    let (a, b) = (
        fake(Mood::Well).await,
        fake(Mood::Refusing(500, None)).await,
    );
    let (server, _files) = keys(&[("x", ""), ("y", "")]);
    let config = server
        + &provider("a", &a.url(), "")
        + &provider("b", &b.url(), "")
        + &provider("c", &a.url(), "dialect = \"anthropic\"")
        + &route("m", &["b", "a"], "")
        + &route("n", &["c"], "");
    let rig = Rig::start(&config).await;
    ask(&rig, "x", "/v1/chat/completions", &chat("m", false)).await;
    let told =
        r#"{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}"#;
    ask(&rig, "x", "/v1/chat/completions", told).await;
    ask(&rig, "x", "/v1/chat/completions", &chat("m", true)).await;
    ask(&rig, "y", "/v1/messages", r#"{"model":"n","stream":true}"#).await;
    ask(&rig, "y", "/v1/messages", r#"{"model":"n"}"#).await;
    // Nobody answered, so nobody is charged.
    a.set(Mood::Refusing(400, None));
    ask(&rig, "y", "/v1/messages", r#"{"model":"n"}"#).await;
    let state = state(&rig).await;
    let spent: Vec<_> = state["spent"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            assert_eq!(row["day"].as_str().unwrap().len(), "2026-12-01".len());
            let field = |name: &str| row[name].clone();
            json!([
                field("key"),
                field("route"),
                field("target"),
                field("requests"),
                field("untold"),
                field("tokens_in"),
                field("tokens_out")
            ])
        })
        .collect();
    let expected = [
        json!(["x", "m", "a/m", 3, 1, 2, 4]),
        json!(["y", "n", "c/n", 2, 0, 2, 4]),
    ];
    assert_eq!(spent, expected);
    assert_eq!(state["keys"][0]["tokens_today"], 6);
    assert_eq!(state["keys"][1]["name"], "y");
    let mut request = rig.request(Method::GET, "/metrics", "");
    request
        .headers_mut()
        .insert("x-api-key", HeaderValue::from_static("key-of-x"));
    let metrics = rig.send(request).await;
    let line = r#"gateway_tokens_total{key="y",model="n",target="c/n",kind="out"} 4"#;
    assert!(metrics.text().contains(line), "{}", metrics.text());
}

#[tokio::test]
async fn of_64_clients_at_once_exactly_as_many_requests_are_let_in_as_the_key_has() {
    let a = fake(Mood::Well).await;
    let (server, _files) = keys(&[("x", ", requests_per_minute = 100"), ("y", "")]);
    let config = server + &provider("a", &a.url(), "") + &route("m", &["a"], "");
    loop {
        let rig = std::sync::Arc::new(Rig::start(&config).await);
        let (begun, calls) = (minute(), a.calls());
        let clients: Vec<_> = (0..64)
            .map(|_| {
                let rig = std::sync::Arc::clone(&rig);
                tokio::spawn(async move {
                    let mut let_in = 0;
                    for _ in 0..5 {
                        let answer =
                            ask(&rig, "x", "/v1/chat/completions", &chat("m", false)).await;
                        if answer.status == StatusCode::OK {
                            let_in += 1;
                            continue;
                        }
                        assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
                        assert_eq!(answer.error(), "rate_limit_exceeded");
                        let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
                        assert!((1..=60).contains(&wait), "{wait}");
                    }
                    let_in
                })
            })
            .collect();
        let mut let_in = 0;
        for client in clients {
            let_in += client.await.unwrap();
        }
        let other = ask(&rig, "y", "/v1/chat/completions", &chat("m", false)).await;
        assert_eq!(
            other.status,
            StatusCode::OK,
            "one key's limit is not another's"
        );
        if minute() == begun {
            assert_eq!((let_in, a.calls() - calls), (100, 101));
            return;
        }
    }
}

#[tokio::test]
async fn a_key_that_has_used_up_its_tokens_is_told_so_in_the_clients_dialect() {
    for (dialect, path, body, name) in [
        (
            "openai",
            "/v1/chat/completions",
            r#"{"model":"m"}"#,
            "/error/code",
        ),
        (
            "anthropic",
            "/v1/messages",
            r#"{"model":"m"}"#,
            "/error/type",
        ),
        (
            "gemini",
            "/v1beta/models/m:generateContent",
            "{}",
            "/error/status",
        ),
    ] {
        let a = fake(Mood::Well).await;
        let (server, _files) = keys(&[("x", ", tokens_per_day = 6")]);
        let more = format!("dialect = {dialect:?}");
        let rig =
            Rig::start(&(server + &provider("a", &a.url(), &more) + &route("m", &["a"], ""))).await;
        for status in [200, 200, 429] {
            let answer = ask(&rig, "x", path, body).await;
            assert_eq!(
                answer.status.as_u16(),
                status,
                "{dialect}: {}",
                answer.text()
            );
            if status == 429 {
                let known = [
                    "rate_limit_exceeded",
                    "rate_limit_error",
                    "RESOURCE_EXHAUSTED",
                ];
                let body = answer.json();
                let name = body.pointer(name).and_then(Value::as_str).unwrap();
                assert!(known.contains(&name), "{name}");
                assert!(answer.header("retry-after").is_some());
            }
        }
        assert_eq!(a.calls(), 2, "{dialect}");
    }
}

#[tokio::test]
async fn what_was_spent_goes_on_after_a_restart() {
    let a = fake(Mood::Well).await;
    let (server, _files) = keys(&[("x", ", tokens_per_day = 6")]);
    let folder = std::env::temp_dir().join(format!("cutout-spent-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("gateway.toml");
    let config = "[store]\npath = \"health.sqlite\"\n[log]\nrequests = \"off\"\n".to_owned()
        + &server
        + &provider("a", &a.url(), "")
        + &route("m", &["a"], "");
    std::fs::write(&path, config).unwrap();
    let rig = Rig::start_file(&path).await;
    for _ in 0..2 {
        ask(&rig, "x", "/v1/chat/completions", &chat("m", false)).await;
    }
    rig.stop().await;
    let rig = Rig::start_file(&path).await;
    let answer = ask(&rig, "x", "/v1/chat/completions", &chat("m", false)).await;
    assert_eq!(
        answer.status,
        StatusCode::TOO_MANY_REQUESTS,
        "{}",
        answer.text()
    );
    assert_eq!(state(&rig).await["spent"][0]["tokens_out"], 4);
    let kept = rig.get("/admin/spent?days=1").await.json();
    assert_eq!(kept["spent"][0]["tokens_in"], 2, "{kept}");
    assert_eq!(rig.get("/admin/spent?days=0").await.error(), "bad_query");
    rig.stop().await;
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn keys_that_cannot_be_told_apart_and_limits_of_nothing_are_refused() {
    let rest = provider("a", "http://a", "") + &route("m", &["a"], "");
    for (keys, field, says) in [
        (
            "{ env = \"A\" }, { env = \"A\" }",
            "server.client_keys[1]",
            "two client keys",
        ),
        (
            "{ name = \"\", env = \"A\" }",
            "server.client_keys[0]",
            "not empty",
        ),
        ("{ env = \"A\", file = \"b\" }", "", "must be `{ env"),
        ("{ name = \"x\" }", "", "must be `{ env"),
        ("{ env = \"A\", tokens = 5 }", "", "must be `{ env"),
        ("\"sk-very-secret\"", "", "must be `{ env"),
        ("{ env = \"A\", requests_per_minute = 0 }", "", "from 1 on"),
        ("{ env = \"A\", tokens_per_day = -1 }", "", "from 1 on"),
        (
            "{ env = \"A\", tokens_per_minute = \"5\" }",
            "",
            "from 1 on",
        ),
    ] {
        let problem = File::parse(format!("[server]\nclient_keys = [{keys}]\n{rest}")).unwrap_err();
        assert!(problem.message.contains(says), "{keys}: {problem}");
        assert!(
            field.is_empty() || problem.field == field,
            "{keys}: {problem}"
        );
        assert!(!problem.to_string().contains("very-secret"), "{problem}");
    }
    let (one, other) = (tempfile("the-same"), tempfile("the-same"));
    let keys = format!(
        "{{ name = \"x\", file = {:?} }}, {{ name = \"y\", file = {:?} }}",
        one.path(),
        other.path()
    );
    let file = File::parse(format!("[server]\nclient_keys = [{keys}]\n{rest}")).unwrap();
    let problem = Gateway::check(file).unwrap_err();
    assert_eq!(problem.field, "server.client_keys[1]");
    assert!(
        problem.message.contains("the same key as \"x\""),
        "{problem}"
    );
}
