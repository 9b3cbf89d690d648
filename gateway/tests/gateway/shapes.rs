//! What differs from provider to provider: addresses, keys, headers, what it takes, and what its answers mean.

use cutout_gateway::config::File;
use cutout_gateway::demo::fake::Mood;
use cutout_gateway::gateway::Gateway;
use http::StatusCode;

use crate::passing::tempfile;
use crate::raw::{Raw, Script};
use crate::rig::{Rig, fake, provider, route};

#[tokio::test]
async fn azure_has_the_model_in_its_address_a_version_in_the_query_and_the_key_in_a_header_of_its_own()
 {
    let a = Raw::start(Script::well()).await;
    let key = tempfile("the-key");
    let url = a.url().replace("/v1", "/openai/deployments/{model}");
    let more = format!(
        "api_key = {{ file = {:?} }}\nkey_header = \"api-key\"\nquery = {{ api-version = \"2024-10-21\" }}\n\
         headers = {{ x-org = \"ours\" }}",
        key.path()
    );
    let queue = "[[route]]\nmodel = \"m\"\nqueue = [{ provider = \"a\", model = \"gpt 4/o\" }]\n";
    let rig = Rig::start(&(provider("a", &url, &more) + queue)).await;
    assert_eq!(rig.chat("m").await.status, StatusCode::OK);
    let head = &a.heads()[0];
    let line =
        "post /openai/deployments/gpt%204%2fo/chat/completions?api-version=2024-10-21 http/1.1\r\n";
    assert!(head.starts_with(line), "{head}");
    assert!(
        head.contains("api-key: the-key\r\n") && head.contains("x-org: ours\r\n"),
        "{head}"
    );
    assert!(!head.contains("authorization"), "{head}");
}

#[tokio::test]
async fn what_a_provider_refuses_is_dropped_for_it_alone() {
    let (a, b) = (
        fake(Mood::Refusing(500, None)).await,
        fake(Mood::Well).await,
    );
    let config = provider("a", &a.url(), "drop = [\"seed\", \"user\"]")
        + &provider("b", &b.url(), "")
        + &route("m", &["a", "b"], "");
    let rig = Rig::start(&config).await;
    let body = r#"{"model":"m", "seed": 7,"messages":[],"n": 1}"#;
    assert_eq!(
        rig.post("/v1/chat/completions", body).await.status,
        StatusCode::OK
    );
    assert_eq!(a.last().unwrap().1, r#"{"model":"m","messages":[],"n":1}"#);
    assert_eq!(b.last().unwrap().1, body);
}

#[tokio::test]
async fn a_pattern_takes_the_models_that_no_other_route_has() {
    let a = fake(Mood::Well).await;
    let named = |model: &str, to: &str| {
        format!("[[route]]\nmodel = {model:?}\nqueue = [{{ provider = \"a\"{to} }}]\n")
    };
    let config = provider("a", &a.url(), "")
        + &named("*", "")
        + &named("claude-*", "")
        + &named("claude-3*", ", model = \"old\"")
        + &named("claude-3-exact", "");
    let rig = Rig::start(&config).await;
    for (asked, got, pattern) in [
        ("gpt-5", "gpt-5", "*"),
        ("claude-4", "claude-4", "claude-*"),
        ("claude-3-sonnet", "old", "claude-3*"),
        ("claude-3-exact", "claude-3-exact", "claude-3-exact"),
        ("*", "*", "*"),
    ] {
        assert_eq!(rig.chat(asked).await.json()["model"], got, "{asked}");
        let metrics = rig.get("/metrics").await;
        let line = format!("endpoint=\"chat\",model={pattern:?}");
        assert!(
            metrics.text().contains(&line),
            "{asked}: {}",
            metrics.text()
        );
        assert!(
            asked == pattern || !metrics.text().contains(&format!("model={asked:?}")),
            "{asked}"
        );
    }
    assert_eq!(rig.get("/v1/models/gpt-5").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_pattern_of_gemini_puts_the_asked_model_in_the_path() {
    let a = fake(Mood::Well).await;
    let config = provider("a", &a.url(), "dialect = \"gemini\"") + &route("gemini-*", &["a"], "");
    let rig = Rig::start(&config).await;
    rig.post("/v1beta/models/gemini-9-pro:generateContent", "{}")
        .await;
    assert_eq!(
        a.last_path().as_deref(),
        Some("/v1/models/gemini-9-pro:generateContent")
    );
}

#[tokio::test]
async fn rules_of_the_file_stand_above_what_statuses_and_codes_usually_mean() {
    let error = |code: &str| format!(r#"{{"error":{{"message":"m","code":{code:?}}}}}"#);
    // The rule; what comes; whether it moves on, what is recorded, and whether the target is left out.
    for (rule, status, code, moves, window, out) in [
        ("", 404, "x", true, "s", false),
        (
            "verdicts = { 404 = \"failure\" }",
            404,
            "x",
            true,
            "f",
            false,
        ),
        (
            "verdicts = { 500 = \"ignored\" }",
            500,
            "x",
            true,
            "",
            false,
        ),
        (
            "verdicts = { 503 = \"timeout\" }",
            503,
            "x",
            true,
            "t",
            false,
        ),
        (
            "verdicts = { 500 = \"ignored\" }",
            502,
            "x",
            true,
            "f",
            false,
        ),
        (
            "faults = { 403 = \"provider\" }",
            403,
            "x",
            true,
            "s",
            false,
        ),
        (
            "faults = { 403 = \"provider\" }\nverdicts = { 403 = \"failure\" }",
            403,
            "x",
            true,
            "f",
            false,
        ),
        (
            "faults = { 409 = \"request\" }",
            409,
            "x",
            false,
            "s",
            false,
        ),
        (
            "faults = { Quota_Gone = \"credit\" }",
            500,
            "quota_gone",
            true,
            "s",
            true,
        ),
        (
            "faults = { 1301 = \"request\" }",
            500,
            "1301",
            false,
            "s",
            false,
        ),
        (
            "faults = { 500 = \"key\", 1301 = \"absent\" }",
            500,
            "1301",
            true,
            "s",
            false,
        ),
    ] {
        let (a, b) = (
            Raw::start(Script::json(status, &error(code))).await,
            Raw::start(Script::well()).await,
        );
        let config = provider("a", &a.url(), rule)
            + &provider("b", &b.url(), "")
            + &route("m", &["a", "b"], "");
        let rig = Rig::start(&config).await;
        let answer = rig.chat("m").await;
        assert_eq!(
            answer.status == StatusCode::OK,
            moves,
            "{rule}: {}",
            answer.text()
        );
        assert_eq!(rig.window("a"), window, "{rule}");
        let provider = std::sync::Arc::clone(&rig.gateway.fleet.load().providers["a"]);
        assert_eq!(provider.suspended("m").is_some(), out, "{rule}");
    }
}

#[tokio::test]
async fn a_rule_says_whether_another_try_is_worth_it_and_a_wait_heeded() {
    let retry = "retry = { attempts = 2, base = \"1ms\" }\n";
    for (rule, status, calls) in [
        ("", 501, 1),
        ("verdicts = { 501 = \"retry\" }", 501, 2),
        ("verdicts = { 503 = \"failure\" }", 503, 1),
    ] {
        let a = Raw::start(Script::json(status, "{}")).await;
        let rig = Rig::start(
            &(provider("a", &a.url(), &format!("{retry}{rule}")) + &route("m", &["a"], "")),
        )
        .await;
        rig.chat("m").await;
        assert_eq!(a.calls(), calls, "{rule}");
    }
    let a = Raw::start(Script::busy(429, 7)).await;
    let rule = "verdicts = { 429 = { outcome = \"failure\", waits = false } }";
    let rig = Rig::start(&(provider("a", &a.url(), rule) + &route("m", &["a"], ""))).await;
    assert_eq!(rig.chat("m").await.header("retry-after"), None);
}

#[test]
fn shapes_that_cannot_be_are_refused() {
    let queue = route("m", &["a"], "");
    for (more, field) in [
        (
            "headers = { authorization = \"Bearer x\" }",
            "provider[0].headers.authorization",
        ),
        ("headers = { \"a b\" = \"x\" }", "provider[0].headers.a b"),
        ("headers = { x-a = \"a\\nb\" }", "provider[0].headers.x-a"),
        ("drop = [\"n\", \"model\"]", "provider[0].drop[1]"),
        ("key_header = \"cookie\"", "provider[0].key_header"),
        ("verdicts = { 99 = \"failure\" }", "provider[0].verdicts"),
        ("verdicts = { 404 = \"well\" }", "provider[0].verdicts.404"),
        ("faults = { 404 = \"mine\" }", "provider[0].faults.404"),
    ] {
        let problem = File::parse(provider("a", "http://a", more) + &queue).unwrap_err();
        assert!(
            problem.field == field || problem.field.starts_with("provider[0]"),
            "{more}: {problem}"
        );
    }
    for model in ["a*b", "**", "*a*"] {
        let problem =
            File::parse(provider("a", "http://a", "") + &route(model, &["a"], "")).unwrap_err();
        assert_eq!(problem.field, "route[0].model", "{model}");
    }
    for text in [
        "",
        "no certificate",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ] {
        let file = tempfile(text);
        let more = format!("ca_file = {:?}", file.path());
        let file = File::parse(provider("a", "http://a", &more) + &queue).unwrap();
        let problem = Gateway::check(file).unwrap_err();
        assert_eq!(problem.field, "provider[0].ca_file", "{problem}");
    }
}
