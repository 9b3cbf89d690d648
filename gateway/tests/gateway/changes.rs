//! Changes of the configuration while requests run.

use std::time::Duration;

use cutout::State;
use cutout_gateway::config::File;
use cutout_gateway::demo::fake::Mood;
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::passing::tempfile;
use crate::rig::{Answer, Rig, chat, fake, provider, route, until};

fn problem(text: &str) -> String {
    File::parse(text.to_owned()).expect_err(text).to_string()
}

#[test]
fn a_fault_is_named_with_its_line_and_field() {
    let provider =
        |more: &str| format!("[[provider]]\nname = \"a\"\nbase_url = \"http://x/v1\"\n{more}\n");
    let route = |more: &str| provider("") + &format!("[[route]]\nmodel = \"m\"\n{more}\n");
    for (text, fault) in [
        (
            "[server]\nlisten = 7\n".to_owned(),
            "line 2: server.listen: ",
        ),
        (
            "[server]\nlisten = \"8080\"\n".to_owned(),
            "line 2: server.listen: must be an address and a port, like \"127.0.0.1:8080\"",
        ),
        (
            "[server]\nmax_streams = -1\n".to_owned(),
            "line 2: server.max_streams: invalid value: integer `-1`, expected a whole number from 0 on",
        ),
        (
            "[server]\nclient_keys = \"x\"\n".to_owned(),
            "line 2: server.client_keys: invalid type: string \"x\", expected a list",
        ),
        (
            "[server]\nallowed_hosts = [\"http://x\"]\n".to_owned(),
            "line 2: server.allowed_hosts[0]: must be a name without scheme and port",
        ),
        (
            "[server]\nallowed_origins = [\"https://x/\"]\n".to_owned(),
            "line 2: server.allowed_origins[0]: must be a scheme and a name",
        ),
        (
            "[server]\npass_headers = [\"Authorization\"]\n".to_owned(),
            "line 2: server.pass_headers[0]: must be the name of a header",
        ),
        (
            "[server]\nallow_without_key = true\nclient_keys = [{ env = \"X\" }]\n".to_owned(),
            "line 2: server.allow_without_key: says that nobody needs a key",
        ),
        ("".to_owned(), "route: there is no [[route]]"),
        ("[server\n".to_owned(), "line 1: "),
        ("[servre]\n".to_owned(), "line 1: servre: unknown field"),
        (
            provider("api_key = \"sk-123\""),
            "line 4: provider[0].api_key: ",
        ),
        (
            provider("breaker = { failure_ratio = 1.5 }"),
            "line 4: provider[0].breaker.failure_ratio: 1.5 is not legal",
        ),
        (
            provider("[provider.breaker]\nmin_calls = 30"),
            "line 5: provider[0].breaker.min_calls: 30 is not legal",
        ),
        (
            provider("throttle = { k = 0.5 }"),
            "line 4: provider[0].throttle.k: 0.5 is not legal: it must be 1 or more",
        ),
        (
            provider("[provider.throttle]\nk = 2.0\nlength = \"1ms\""),
            "line 6: provider[0].throttle.length: 1ms is not legal",
        ),
        (
            provider("throttle = { length = 10 }"),
            "line 4: provider[0].throttle: length: invalid type: integer `10`, expected a duration",
        ),
        (
            provider("throttle = { floor = 3 }"),
            "line 4: provider[0].throttle: unknown field `floor`",
        ),
        (
            provider("breaker = { window = { count = 0 } }"),
            "line 4: provider[0].breaker.window: ",
        ),
        (
            provider("limits = { idle = 5 }"),
            "line 4: provider[0].limits.idle: ",
        ),
        (
            provider("limits = { idle = \"0s\" }"),
            "line 4: provider[0].limits.idle: ",
        ),
        (
            provider("max_in_flight = 0"),
            "line 4: provider[0].max_in_flight: must be at least 1",
        ),
        (
            provider("max_inflight = 1"),
            "line 4: provider[0].max_inflight: unknown field",
        ),
        (
            provider("retry = { attempts = 11 }"),
            "line 4: provider[0].retry.attempts: must be 1 to 10",
        ),
        (
            provider("") + &provider(""),
            "line 6: provider[1].name: there are two",
        ),
        (
            provider("").replace("http://x", "ftp://x"),
            "line 3: provider[0].base_url: must be",
        ),
        (
            provider("").replace("http://x", "http://u:p@x"),
            "line 3: provider[0].base_url: must be",
        ),
        (
            provider("").replace("\"a\"", "\"a/b\""),
            "line 2: provider[0].name: must be",
        ),
        (
            route("queue = []"),
            "line 7: route[0].queue: needs at least one",
        ),
        (
            route("queue = [{ provider = \"b\" }]"),
            "line 7: route[0].queue[0].provider: there is no provider \"b\"",
        ),
        (
            route("queue = [\n{ provider = \"a\" },\n{ provider = \"a\" }]"),
            "line 9: route[0].queue[1]: is in the queue twice",
        ),
        (
            route(
                "queue = [{ provider = \"a\" }]\ncanary = { provider = \"a\", model = \"n\", share = 0.0 }",
            ),
            "line 8: route[0].canary.share: must be above 0",
        ),
        (
            provider("scope = \"model\"\ncheck = { every = \"1s\", model = \"m\" }"),
            "line 5: provider[0].check.model: must be a model that a route",
        ),
    ] {
        let shown = problem(&text);
        assert!(shown.starts_with(fault), "{shown:?} is not {fault:?}");
        assert!(!shown.contains("sk-123"), "{shown}");
    }
}

#[tokio::test]
async fn a_changed_file_is_put_in_force_and_breakers_keep_what_they_know() {
    let (a, b) = (
        fake(Mood::Well).await,
        fake(Mood::Refusing(500, None)).await,
    );
    let more = "breaker = { failure_ratio = 0.5, min_calls = 3 }";
    let touchy = "breaker = { consecutive_failures = 1 }";
    let config = provider("a", &a.url(), more) + &provider("b", &b.url(), touchy);
    let file = tempfile(&(config + &route("m", &["a"], "") + &route("n", &["b"], "")));
    let rig = Rig::start_file(file.path()).await;
    rig.chat("m").await;
    rig.chat("n").await;
    let (a_before, b_before) = (rig.snapshot("a"), rig.snapshot("b"));
    assert_eq!(
        (rig.window("a").as_str(), b_before.state),
        ("s", State::Open)
    );
    a.set(Mood::Dripping(Duration::from_millis(1)));
    let streaming = rig
        .open(rig.request(Method::POST, "/v1/chat/completions", chat("m", true)))
        .await;

    let text = std::fs::read_to_string(file.path()).unwrap();
    let changed = text.replace("min_calls = 3", "min_calls = 7") + &route("new", &["a"], "");
    std::fs::write(file.path(), changed).unwrap();
    until("the change is in force", || {
        rig.gateway.fleet.load().routes.contains_key("new")
    })
    .await;
    assert_eq!(rig.upstream("a").breaker.config().min_calls(), 7);
    assert_eq!(rig.snapshot("a").generation, a_before.generation);
    assert_eq!(rig.window("a"), "s");
    let b_now = rig.snapshot("b");
    assert_eq!(
        (b_now.state, b_now.generation),
        (State::Open, b_before.generation)
    );
    assert!(b_now.remaining <= b_before.remaining);
    // The stream goes on.
    let mut body = streaming.into_body();
    for _ in 0..20 {
        body.frame().await.unwrap().unwrap();
    }
    assert_eq!(rig.upstream("a").in_flight(), 1);
}

#[tokio::test]
async fn a_file_that_is_not_legal_is_refused_shown_and_the_old_one_stays() {
    let a = fake(Mood::Well).await;
    let good = provider("a", &a.url(), "") + &route("m", &["a"], "");
    let file = tempfile(&good);
    let rig = Rig::start_file(file.path()).await;
    let version = rig.gateway.fleet.load().version;
    std::fs::write(file.path(), good.replace("queue = [", "queue = [7, ")).unwrap();
    until("it is refused", || rig.gateway.problem().is_some()).await;
    assert_eq!(rig.gateway.fleet.load().version, version);
    assert_eq!(rig.chat("m").await.status, StatusCode::OK);
    let shown = rig.get("/admin/state").await.json()["problem"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(shown.starts_with("line 8: route[0].queue[0]"), "{shown}");
    std::fs::write(file.path(), &good).unwrap();
    until("it is as it was", || rig.gateway.problem().is_none()).await;
}

#[tokio::test]
async fn requests_meanwhile_are_all_answered() {
    let a = fake(Mood::Well).await;
    let text = |share: u32| {
        provider("a", &a.url(), &format!("max_in_flight = {share}")) + &route("m", &["a"], "")
    };
    let file = tempfile(&text(10));
    let rig = Rig::start_file(file.path()).await;
    for round in 0..100 {
        std::fs::write(file.path(), text(10 + round)).unwrap();
        let gateway = std::sync::Arc::clone(&rig.gateway);
        let reload = tokio::task::spawn_blocking(move || gateway.reload(false));
        for _ in 0..5 {
            assert_eq!(rig.chat("m").await.status, StatusCode::OK);
        }
        reload.await.unwrap();
    }
    assert_eq!(rig.upstream("a").totals().successes, 500);
    assert_eq!(
        rig.gateway.fleet.load().providers["a"]
            .settings
            .max_in_flight,
        109
    );
}

pub(crate) async fn patch(rig: &Rig, version: &str, field: &str, value: Value) -> Answer {
    let body = json!({"version": version, "field": field, "value": value}).to_string();
    rig.send(rig.request(Method::PATCH, "/admin/config", body))
        .await
}

pub(crate) fn version(answer: &Answer) -> String {
    answer.json()["version"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer:?}"))
        .to_owned()
}

#[tokio::test]
async fn two_editors_cannot_undo_each_other() {
    let a = fake(Mood::Well).await;
    let config = "# by hand\n".to_owned() + &provider("a", &a.url(), "breaker = { min_calls = 3 }");
    let file = tempfile(&(config + &route("m", &["a"], "")));
    let rig = Rig::start_file(file.path()).await;
    let first = version(&rig.get("/admin/state").await);
    let field = "provider[0].breaker.min_calls";
    let second = version(&patch(&rig, &first, field, json!(4)).await);
    let late = patch(&rig, &first, "provider[0].max_in_flight", json!(9)).await;
    assert_eq!(
        (late.status, late.error().as_str()),
        (StatusCode::CONFLICT, "other_version")
    );
    assert_eq!(rig.upstream("a").breaker.config().min_calls(), 4);
    let text = std::fs::read_to_string(file.path()).unwrap();
    assert!(
        text.starts_with("# by hand\n") && text.contains("min_calls = 4"),
        "{text}"
    );
    // What was changed by hand and not been read yet is not overwritten.
    std::fs::write(file.path(), text.replace("min_calls = 4", "min_calls = 5")).unwrap();
    let blind = patch(&rig, &second, field, json!(6)).await;
    assert_eq!(blind.status, StatusCode::CONFLICT);
    until("the hand's change is in force", || {
        rig.upstream("a").breaker.config().min_calls() == 5
    })
    .await;
}

#[tokio::test]
async fn a_change_that_is_not_legal_or_not_allowed_changes_nothing() {
    let a = fake(Mood::Well).await;
    let file = tempfile(&(provider("a", &a.url(), "") + &route("m", &["a"], "")));
    let rig = Rig::start_file(file.path()).await;
    let before = std::fs::read_to_string(file.path()).unwrap();
    let now = version(&rig.get("/admin/config").await);
    for (field, value, status, code) in [
        (
            "provider[0].breaker.failure_ratio",
            json!(2),
            422,
            "not_legal",
        ),
        ("provider[0].nonsense", json!(2), 422, "not_legal"),
        ("route[0].queue", json!([]), 422, "not_legal"),
        ("route[0].queue", Value::Null, 422, "not_legal"),
        ("provider[3].max_in_flight", json!(2), 404, "no_such_field"),
        (
            "provider[0].base_url",
            json!("http://elsewhere/v1"),
            403,
            "file_only",
        ),
        (
            "provider[0].api_key",
            json!({"env": "PATH"}),
            403,
            "file_only",
        ),
        (
            "server.admin_token",
            json!({"env": "PATH"}),
            403,
            "file_only",
        ),
    ] {
        let answer = patch(&rig, &now, field, value).await;
        assert_eq!(
            (answer.status.as_u16(), answer.error().as_str()),
            (status, code),
            "{field}"
        );
    }
    assert_eq!(std::fs::read_to_string(file.path()).unwrap(), before);
    assert_eq!(version(&rig.get("/admin/config").await), now);
}

#[tokio::test]
async fn a_move_changes_the_order_in_which_providers_are_asked() {
    let (a, b) = (fake(Mood::Well).await, fake(Mood::Well).await);
    let config = provider("a", &a.url(), "") + &provider("b", &b.url(), "");
    let rig = Rig::start(&(config + &route("m/x", &["a", "b"], ""))).await;
    assert_eq!(rig.chat("m/x").await.header("x-cutout-provider"), Some("a"));
    let now = version(&rig.get("/admin/state").await);
    let body = |version: &str, breaker: &str, to: usize| {
        json!({"version": version, "breaker": breaker, "model": "m/x", "to": to}).to_string()
    };
    let path = "/admin/routes/m%2Fx/move";
    let moved = version(&rig.post(path, body(&now, "b", 0)).await);
    assert_eq!(rig.chat("m/x").await.header("x-cutout-provider"), Some("b"));
    let state = rig.get("/admin/state").await.json();
    assert_eq!(state["routes"][0]["queue"][0]["breaker"], "b");
    assert_eq!(
        rig.post(path, body(&now, "b", 1)).await.error(),
        "other_version"
    );
    assert_eq!(
        rig.post(path, body(&moved, "b", 2)).await.error(),
        "no_such_field"
    );
    assert_eq!(
        rig.post(path, body(&moved, "c", 0)).await.error(),
        "no_such_field"
    );
}

#[tokio::test]
async fn a_key_that_was_replaced_is_read_on_request() {
    let a = fake(Mood::Well).await;
    let key = tempfile("old");
    let more = format!("api_key = {{ file = {:?} }}", key.path());
    let file = tempfile(&(provider("a", &a.url(), &more) + &route("m", &["a"], "")));
    let rig = Rig::start_file(file.path()).await;
    std::fs::write(key.path(), "new").unwrap();
    rig.gateway.reload(false);
    rig.chat("m").await;
    assert_eq!(a.last().unwrap().0["authorization"], "Bearer old");
    rig.gateway.reload(true);
    rig.chat("m").await;
    assert_eq!(a.last().unwrap().0["authorization"], "Bearer new");
    std::fs::write(key.path(), "").unwrap();
    rig.gateway.reload(true);
    assert!(
        rig.gateway
            .problem()
            .unwrap()
            .to_string()
            .contains("provider[0].api_key")
    );
    assert_eq!(rig.chat("m").await.status, StatusCode::OK);
}

#[test]
fn the_readmes_configuration_is_legal() {
    let readme = include_str!("../../README.md");
    let example = readme
        .split("```toml\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let file = File::parse(example.to_owned()).unwrap();
    assert_eq!(file.config.route[0].queue.len(), 2);
}
