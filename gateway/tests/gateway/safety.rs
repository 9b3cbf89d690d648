//! Who may do what, and how much of it.

use std::time::Duration;

use cutout_gateway::demo::fake::Mood;
use http::{HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt;

use crate::passing::tempfile;
use crate::rig::{Rig, SOON, chat, fake, provider, route, until};

#[tokio::test]
async fn without_a_token_only_this_machines_own_pages_may_administer() {
    let rig = Rig::start("").await;
    let ask = async |name: &'static str, value: &'static str| {
        let mut request = rig.request(Method::GET, "/admin/state", "");
        request
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
        rig.send(request).await.status
    };
    assert_eq!(ask("x-nothing", "1").await, StatusCode::OK);
    assert_eq!(ask("host", "localhost:8080").await, StatusCode::OK);
    assert_eq!(ask("host", "[::1]:8080").await, StatusCode::OK);
    assert_eq!(ask("host", "evil.example").await, StatusCode::FORBIDDEN);
    assert_eq!(
        ask("host", "127.0.0.1.evil.example").await,
        StatusCode::FORBIDDEN
    );
    assert_eq!(
        ask("x-forwarded-for", "10.0.0.1").await,
        StatusCode::FORBIDDEN
    );
    // What a form on another site could send.
    let mut request = rig.request(
        Method::POST,
        "/admin/breakers/a/close",
        "{\"reason\":\"x\"}",
    );
    request
        .headers_mut()
        .insert("content-type", HeaderValue::from_static("text/plain"));
    assert_eq!(rig.send(request).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn with_a_token_every_call_needs_it() {
    let file = tempfile("right\n");
    let rig = Rig::start(&format!(
        "[server]\nadmin_token = {{ file = {:?} }}\n",
        file.path()
    ))
    .await;
    for path in [
        "/admin/state",
        "/admin/config",
        "/admin/events",
        "/admin/breakers/a/close",
    ] {
        for token in [
            "",
            "Bearer ",
            "Bearer wrong",
            "Bearer right2",
            "Basic right",
            "right",
        ] {
            let mut request = rig.request(Method::GET, path, "");
            request
                .headers_mut()
                .insert(header::AUTHORIZATION, HeaderValue::from_static(token));
            assert_eq!(
                rig.send(request).await.status,
                StatusCode::UNAUTHORIZED,
                "{path} {token}"
            );
        }
    }
    let mut request = rig.request(Method::GET, "/admin/state", "");
    request.headers_mut().insert(
        header::AUTHORIZATION,
        HeaderValue::from_static("Bearer right"),
    );
    request
        .headers_mut()
        .insert(header::HOST, HeaderValue::from_static("gateway.example"));
    assert_eq!(rig.send(request).await.status, StatusCode::OK);
}

#[tokio::test]
async fn clients_need_a_key_if_there_are_any() {
    let a = fake(Mood::Well).await;
    let (one, two) = (tempfile("key-one"), tempfile("key-two"));
    let keys = format!(
        "[server]\nclient_keys = [{{ file = {:?} }}, {{ file = {:?} }}]\n",
        one.path(),
        two.path()
    );
    let rig = Rig::start(&(keys + &provider("a", &a.url(), "") + &route("m", &["a"], ""))).await;
    assert_eq!(rig.chat("m").await.error(), "invalid_api_key");
    for (key, status) in [
        ("Bearer key-two", 200),
        ("Bearer key-one", 200),
        ("Bearer key", 401),
    ] {
        let mut request = rig.request(Method::POST, "/v1/chat/completions", chat("m", false));
        request
            .headers_mut()
            .insert(header::AUTHORIZATION, HeaderValue::from_static(key));
        assert_eq!(rig.send(request).await.status.as_u16(), status, "{key}");
    }
    assert!(!a.last().unwrap().0.contains_key("authorization"));
}

#[tokio::test]
async fn there_are_no_more_streams_requests_and_connections_than_allowed() {
    let a = fake(Mood::Dripping(Duration::from_millis(1))).await;
    let server = "[server]\nmax_streams = 1\nmax_requests = 2\nmax_connections = 3\n".to_owned();
    let rig = Rig::start(&(server + &provider("a", &a.url(), "") + &route("m", &["a"], ""))).await;
    let streaming = rig
        .open(rig.request(Method::POST, "/v1/chat/completions", chat("m", true)))
        .await;
    let refused = rig.stream("m").await;
    assert_eq!(
        (refused.status, refused.error().as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, "overloaded")
    );
    assert_eq!(refused.header("retry-after"), Some("1"));
    drop(streaming);
    until("the stream has ended", || a.open() == 0).await;
    a.set(Mood::Hanging);
    let ask = || {
        let request = rig.request(Method::POST, "/v1/chat/completions", chat("m", false));
        let client = cutout_gateway::client::Client::new(SOON);
        tokio::spawn(async move { client.send(request).await })
    };
    let (first, second) = (ask(), ask());
    until("two are in flight", || a.open() == 2).await;
    assert_eq!(rig.chat("m").await.error(), "overloaded");
    // Three connections are open: a fourth is not served until one closes.
    let request = rig.request(Method::GET, "/healthz", "");
    let client = cutout_gateway::client::Client::new(SOON);
    let mut fourth = tokio::spawn(async move { client.send(request).await });
    assert!(
        tokio::time::timeout(Duration::from_millis(200), &mut fourth)
            .await
            .is_err()
    );
    first.abort();
    second.abort();
    let served = tokio::time::timeout(SOON, fourth)
        .await
        .expect("served")
        .unwrap();
    assert_eq!(served.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn memory_for_bodies_is_bounded() {
    let a = fake(Mood::Hanging).await;
    let server = "[server]\nmax_body_bytes = 20000\nmax_body_memory = 30000\n".to_owned();
    let rig = Rig::start(&(server + &provider("a", &a.url(), "") + &route("m", &["a"], ""))).await;
    let big = format!("{{\"model\":\"m\",\"x\":\"{}\"}}", "x".repeat(19_000));
    let request = rig.request(Method::POST, "/v1/chat/completions", big.clone());
    let client = cutout_gateway::client::Client::new(SOON);
    let first = tokio::spawn(async move { client.send(request).await });
    until("it is in flight", || a.open() == 1).await;
    assert_eq!(
        rig.post("/v1/chat/completions", big.clone()).await.error(),
        "overloaded"
    );
    first.abort();
    until("it is let go", || rig.upstream("a").in_flight() == 0).await;
    a.set(Mood::Well);
    assert_eq!(
        rig.post("/v1/chat/completions", big).await.status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn a_stop_lets_streams_end_and_takes_no_new_connections() {
    let a = fake(Mood::Dripping(Duration::from_millis(1))).await;
    let mut rig = Rig::start(&(provider("a", &a.url(), "") + &route("m", &["a"], ""))).await;
    let streaming = rig
        .open(rig.request(Method::POST, "/v1/chat/completions", chat("m", true)))
        .await;
    rig.begin_to_stop();
    until("it drains", || rig.gateway.is_draining()).await;
    let mut body = streaming.into_body();
    for _ in 0..20 {
        body.frame().await.unwrap().unwrap();
    }
    assert!(!rig.has_stopped());
    let address = rig.address;
    until("it is closed to others", || {
        std::net::TcpStream::connect(address).is_err()
    })
    .await;
    drop(body);
    rig.stop().await;
}

#[tokio::test]
async fn a_stream_that_does_not_end_is_cut_when_the_time_to_drain_is_over() {
    let a = fake(Mood::Dripping(Duration::from_millis(1))).await;
    let server = "[server]\ndrain_timeout = \"200ms\"\n".to_owned();
    let rig = Rig::start(&(server + &provider("a", &a.url(), "") + &route("m", &["a"], ""))).await;
    let _streaming = rig
        .open(rig.request(Method::POST, "/v1/chat/completions", chat("m", true)))
        .await;
    rig.stop().await;
    until("the provider is let go", || a.open() == 0).await;
}
