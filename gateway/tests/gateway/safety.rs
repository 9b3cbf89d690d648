//! How much of everything anyone may take.

use std::time::Duration;

use cutout_gateway::demo::fake::Mood;
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use tokio::io::AsyncWriteExt;

use crate::rig::{Rig, SOON, chat, fake, provider, route, until};

#[tokio::test]
async fn there_are_no_more_streams_and_requests_than_allowed() {
    let a = fake(Mood::Dripping(Duration::from_millis(1))).await;
    let server = "[server]\nmax_streams = 1\nmax_requests = 2\n".to_owned();
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
    first.abort();
    second.abort();
    until("they are let go", || a.open() == 0).await;
    a.set(Mood::Well);
    assert_eq!(rig.chat("m").await.status, StatusCode::OK);
}

/// A connection of its own for each.
async fn apart(request: http::Request<http_body_util::Full<bytes::Bytes>>) -> (u16, String) {
    let client = cutout_gateway::client::Client::new(SOON);
    let answer = tokio::time::timeout(SOON, client.send(request))
        .await
        .expect("an answer")
        .expect("a connection");
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test]
async fn health_and_operators_get_through_when_clients_hold_all_connections() {
    let a = fake(Mood::Hanging).await;
    let server = "[server]\nmax_connections = 2\n".to_owned();
    let rig = Rig::start(&(server + &provider("a", &a.url(), "") + &route("m", &["a"], ""))).await;
    let chat = || rig.request(Method::POST, "/v1/chat/completions", chat("m", false));
    let held: Vec<_> = (0..2).map(|_| tokio::spawn(apart(chat()))).collect();
    until("two are in flight", || a.open() == 2).await;
    for path in ["/healthz", "/readyz", "/admin/state", "/metrics", "/"] {
        let (status, body) = apart(rig.request(Method::GET, path, "")).await;
        assert_eq!(status, 200, "{path} {body}");
    }
    let (status, body) = apart(chat()).await;
    assert_eq!(status, 503, "{body}");
    assert!(body.contains("overloaded"), "{body}");
    for held in held {
        held.abort();
    }
}

#[tokio::test]
async fn silent_connections_make_room() {
    let a = fake(Mood::Well).await;
    let server = "[server]\nmax_connections = 2\n".to_owned();
    let rig = Rig::start(&(server + &provider("a", &a.url(), "") + &route("m", &["a"], ""))).await;
    let mut silent = Vec::new();
    for _ in 0..40 {
        let mut socket = tokio::net::TcpStream::connect(rig.address).await.unwrap();
        // Half a head is silence too.
        socket
            .write_all(b"GET /healthz HTTP/1.1\r\n")
            .await
            .unwrap();
        silent.push(socket);
    }
    let (status, _) = apart(rig.request(Method::GET, "/healthz", "")).await;
    assert_eq!(status, 200);
    // The silent ones that are left leave one after the other.
    let mut status = 0;
    while status != 200 {
        let request = rig.request(Method::POST, "/v1/chat/completions", chat("m", false));
        status = apart(request).await.0;
        assert!(matches!(status, 200 | 503), "{status}");
    }
    drop(silent);
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

#[tokio::test]
async fn a_body_that_is_said_to_be_too_large_is_refused_before_it_is_sent() {
    let a = fake(Mood::Well).await;
    let server = "[server]\nmax_body_bytes = 20000\n".to_owned();
    let rig = Rig::start(&(server + &provider("a", &a.url(), "") + &route("m", &["a"], ""))).await;
    let head =
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json";
    let answer = rig
        .raw(format!("{head}\r\ncontent-length: 20001\r\nexpect: 100-continue\r\n\r\n").as_bytes())
        .await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(answer.contains("server.max_body_bytes"), "{answer}");
}

#[tokio::test]
async fn two_large_images_pass_with_the_defaults() {
    let a = fake(Mood::Well).await;
    let rig = Rig::start(&(provider("a", &a.url(), "") + &route("m", &["a"], ""))).await;
    // Of 5 MiB each, in Base64.
    let image = format!("data:image/png;base64,{}", "A".repeat((5 << 20) / 3 * 4));
    let body = serde_json::json!({"model": "m", "messages": [{"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": image}},
        {"type": "image_url", "image_url": {"url": image}},
    ]}]});
    let body = body.to_string();
    let answer = rig.post("/v1/chat/completions", body.clone()).await;
    assert_eq!(answer.status, StatusCode::OK, "{:?}", answer.body);
    assert_eq!(a.last().unwrap().1.len(), body.len());
}
