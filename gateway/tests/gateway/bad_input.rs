//! What clients and providers should not send: each a clear error, a fitting outcome, nothing held.

use std::time::Duration;

use cutout_gateway::demo::fake::{Fake, Mood};
use http::{HeaderValue, Method, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::rig::{Rig, chat, fake, provider, route, until};

async fn one(mood: Mood, more: &str) -> (Rig, Fake) {
    let a = fake(mood).await;
    let server = "[server]\nmax_body_bytes = 20000\nmax_header_bytes = 8192\nmax_headers = 20\n\
                  body_timeout = \"300ms\"\nheader_timeout = \"300ms\"\n";
    let config = server.to_owned() + &provider("a", &a.url(), more) + &route("m", &["a"], "");
    (Rig::start(&config).await, a)
}

/// Nothing is held, and the gateway works.
async fn at_rest(rig: &Rig, a: &Fake) {
    until("nothing in flight", || {
        rig.upstream("a").in_flight() == 0 && a.open() == 0
    })
    .await;
    let fleet = rig.gateway.fleet.load();
    assert_eq!(fleet.providers["a"].slots.available_permits(), 256);
    a.set(Mood::Well);
    rig.upstream("a").breaker.close("for the test");
    assert_eq!(rig.chat("m").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_body_that_makes_no_sense_is_refused_and_reaches_no_provider() {
    let (rig, a) = one(Mood::Well, "").await;
    let huge = format!(r#"{{"model":"m","x":"{}"}}"#, "x".repeat(20_000));
    for (body, status, code) in [
        (&b"{\"model\":"[..], 400, "invalid_json"),
        (b"", 400, "invalid_json"),
        (b"[]", 400, "invalid_body"),
        (b"{}", 400, "invalid_body"),
        (b"{\"model\":7}", 400, "invalid_body"),
        (b"{\"model\":\"m\",\"stream\":\"yes\"}", 400, "invalid_body"),
        (
            b"{\"model\":\"m\",\"model\":\"other\"}",
            400,
            "invalid_body",
        ),
        (b"{\"model\":\"m\"} {\"model\":\"m\"}", 400, "invalid_json"),
        (b"{\"model\":\"m\xff\"}", 400, "invalid_utf8"),
        (b"{\"model\":\"none\"}", 404, "model_not_found"),
        (huge.as_bytes(), 413, "body_too_large"),
    ] {
        let answer = rig.post("/v1/chat/completions", body.to_vec()).await;
        let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        assert_eq!(
            (answer.status.as_u16(), answer.error().as_str()),
            (status, code),
            "{shown}"
        );
    }
    assert_eq!(a.calls(), 0);
    assert_eq!(rig.window("a"), "");
    at_rest(&rig, &a).await;
}

#[tokio::test]
async fn a_head_above_its_limit_is_refused_though_it_comes_in_one_piece() {
    let a = fake(Mood::Well).await;
    let rig = Rig::start(&(provider("a", &a.url(), "") + &route("m", &["a"], ""))).await;
    for (bytes, status) in [(30_000, 404), (33_000, 431), (40_000, 431), (60_000, 431)] {
        let head = format!(
            "GET /v1/models/none HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx-long: {}\r\n\r\n",
            "x".repeat(bytes)
        );
        let answer = rig.raw(head.as_bytes()).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{bytes}: {answer}"
        );
    }
    at_rest(&rig, &a).await;
}

#[tokio::test]
async fn a_path_that_is_no_text_is_refused_as_everything_is() {
    let (rig, _a) = one(Mood::Well, "").await;
    for path in ["/v1/models/%ff", "/assets/%ff"] {
        let answer = rig.get(path).await;
        assert_eq!(answer.error(), "invalid_path", "{path}");
    }
    let path = "/admin/breakers/%ff/close";
    let answer = rig.post(path, r#"{"reason":"x"}"#).await;
    assert_eq!(answer.error(), "invalid_path", "{path}");
}

#[tokio::test]
async fn another_kind_of_body_is_refused() {
    let (rig, a) = one(Mood::Well, "").await;
    let mut request = rig.request(Method::POST, "/v1/chat/completions", chat("m", false));
    request
        .headers_mut()
        .insert("content-type", HeaderValue::from_static("text/xml"));
    let answer = rig.send(request).await;
    assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(answer.error(), "unsupported_content_type");
    assert_eq!(a.calls(), 0);
}

#[tokio::test]
async fn what_a_provider_should_not_say_is_a_failure_with_a_clear_error() {
    for (mood, stream, code) in [
        (Mood::Html, false, "invalid_provider_answer"),
        (Mood::Html, true, "invalid_provider_answer"),
        (Mood::BrokenEvents, false, "invalid_provider_answer"),
        (Mood::BadText, false, "invalid_provider_answer"),
        (
            Mood::Redirecting("/elsewhere".into()),
            false,
            "invalid_provider_answer",
        ),
        (Mood::Endless, false, "invalid_provider_answer"),
        (Mood::Endless, true, "invalid_provider_answer"),
        (Mood::ErrorAs200, false, "provider_error"),
        (Mood::ErrorFirst, true, "provider_error"),
        (Mood::Cutting, false, "provider_unreachable"),
        (Mood::Unfinished, false, "invalid_provider_answer"),
    ] {
        let (rig, a) = one(mood.clone(), "limits = { max_answer_bytes = 4096 }").await;
        let answer = rig.post("/v1/chat/completions", chat("m", stream)).await;
        let got = (answer.status, answer.error());
        assert_eq!(
            got,
            (StatusCode::BAD_GATEWAY, code.to_owned()),
            "{mood:?} {stream}"
        );
        assert_eq!(rig.window("a"), "f", "{mood:?} {stream}");
        assert!(!answer.text().contains("<h1>"), "{}", answer.text());
        at_rest(&rig, &a).await;
    }
}

#[tokio::test]
async fn a_stream_that_breaks_later_ends_with_an_error_the_client_can_read() {
    for (mood, letter) in [
        (Mood::BrokenEvents, "f"),
        (Mood::BadText, "f"),
        (Mood::Cutting, "f"),
        (Mood::Unfinished, "f"),
        (Mood::ErrorLast, "f"),
        (Mood::Stalling, "t"),
    ] {
        let (rig, a) = one(mood.clone(), "limits = { idle = \"200ms\" }").await;
        let answer = rig.stream("m").await;
        assert_eq!(answer.status, StatusCode::OK);
        let events: Vec<_> = answer.text().split_terminator("\n\n").collect();
        for event in &events {
            let data = event.strip_prefix("data: ").unwrap();
            let value: serde_json::Value = serde_json::from_str(data).expect(data);
            assert_eq!(
                value["error"]["message"].is_string(),
                event == events.last().unwrap()
            );
        }
        assert_eq!(events.len(), 4, "{mood:?}");
        until("it is recorded", || rig.window("a") == letter).await;
        at_rest(&rig, &a).await;
    }
}

#[tokio::test]
async fn a_client_that_is_slow_or_floods_is_cut_off() {
    let (rig, a) = one(Mood::Well, "").await;
    let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let slow_body = rig
        .raw(format!("{head}content-length: 100\r\n\r\n{{").as_bytes())
        .await;
    assert!(slow_body.starts_with("HTTP/1.1 408"), "{slow_body}");
    let slow_head = rig.raw(head.as_bytes()).await;
    assert!(
        slow_head.is_empty() || slow_head.starts_with("HTTP/1.1 408"),
        "{slow_head}"
    );
    let long = format!("GET /healthz HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(20_000));
    assert!(rig.raw(long.as_bytes()).await.starts_with("HTTP/1.1 431"));
    let many = format!("GET /healthz HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(30));
    assert!(rig.raw(many.as_bytes()).await.starts_with("HTTP/1.1 431"));
    assert_eq!(a.calls(), 0);
    at_rest(&rig, &a).await;
}

#[tokio::test]
async fn one_request_cannot_hide_another() {
    let (rig, a) = one(Mood::Well, "").await;
    let body = chat("m", false);
    let smuggled = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\r\n";
    let chunked = format!("{:x}\r\n{body}\r\n0\r\n\r\n{smuggled}", body.len());
    // Both framings at once; two lengths; a header with a line break in it.
    for head in [
        format!(
            "content-length: {}\r\ntransfer-encoding: chunked\r\n\r\n{chunked}",
            chunked.len()
        ),
        format!(
            "content-length: 5\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ),
        format!("transfer-encoding: xchunked\r\n\r\n{chunked}"),
        format!("x-a: b\rcontent-length: {}\r\n\r\n{body}", body.len()),
    ] {
        let request = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n{head}"
        );
        rig.raw(request.as_bytes()).await;
        if let Some((headers, got)) = a.last() {
            // What reached the provider is one whole request with one length, its own.
            assert_eq!(got, body);
            assert_eq!(headers["content-length"], body.len().to_string());
            assert!(!headers.contains_key("transfer-encoding"));
        }
    }
    assert!(a.calls() <= 1, "{}", a.calls());
    at_rest(&rig, &a).await;
}

#[tokio::test]
async fn a_client_that_closes_its_half_is_gone() {
    let (rig, a) = one(Mood::Hanging, "").await;
    let body = chat("m", false);
    let mut socket = TcpStream::connect(rig.address).await.unwrap();
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    until("the provider has it", || a.open() == 1).await;
    socket.shutdown().await.unwrap();
    until("the provider is let go", || a.open() == 0).await;
    assert_eq!(rig.window("a"), "");
    assert_eq!(rig.upstream("a").totals().ignored, 1);
    at_rest(&rig, &a).await;
}

#[tokio::test]
async fn a_provider_that_closes_its_half_or_speaks_no_http_is_a_failure() {
    for answer in [
        "",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{\"id\"",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n{\"id\"",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: 26\r\n\r\n{\"choices\":[{\"text\":\"x\"}]}",
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 4096];
            let _ = socket.read(&mut request).await;
            socket.write_all(answer.as_bytes()).await.unwrap();
            socket.shutdown().await.unwrap();
            // Until the gateway closes too.
            while socket.read(&mut request).await.is_ok_and(|read| read > 0) {}
        });
        let rig = Rig::start(&(provider("a", &url, "") + &route("m", &["a"], ""))).await;
        let got = rig.chat("m").await;
        assert_eq!(got.status, StatusCode::BAD_GATEWAY, "{answer:?}");
        got.error();
        assert_eq!(rig.window("a"), "f", "{answer:?}");
        tokio::time::timeout(Duration::from_secs(10), serving)
            .await
            .expect("let go")
            .unwrap();
    }
}

/// Reads one request with a body of this length.
async fn read_request(socket: &mut TcpStream, length: usize) -> bool {
    let mut request = Vec::new();
    loop {
        let head = request.windows(4).position(|part| part == b"\r\n\r\n");
        if head.is_some_and(|head| request.len() >= head + 4 + length) {
            return true;
        }
        if socket.read_buf(&mut request).await.unwrap_or(0) == 0 {
            return false;
        }
    }
}

#[tokio::test]
async fn a_request_that_was_sent_is_not_sent_again_behind_the_retries_back() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let body = chat("m", false);
    let length = body.len();
    let counted = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counting = std::sync::Arc::clone(&counted);
    tokio::spawn(async move {
        // Each connection answers once and closes when it has read a second request.
        while let Ok((mut socket, _)) = listener.accept().await {
            for turn in 0..2 {
                if !read_request(&mut socket, length).await {
                    break;
                }
                counting.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 26\r\n\r\n{\"choices\":[{\"text\":\"x\"}]}";
                if turn == 0 {
                    socket.write_all(answer.as_bytes()).await.unwrap();
                }
            }
        }
    });
    let rig = Rig::start(&(provider("a", &url, "") + &route("m", &["a"], ""))).await;
    assert_eq!(rig.chat("m").await.status, StatusCode::OK);
    assert_eq!(rig.chat("m").await.error(), "provider_unreachable");
    assert_eq!(counted.load(std::sync::atomic::Ordering::SeqCst), 2);
    assert_eq!(rig.window("a"), "sf");
}

#[tokio::test]
async fn a_provider_that_speaks_no_tls_where_it_should_is_a_failure() {
    let a = fake(Mood::Well).await;
    let url = a.url().replace("http://", "https://");
    let rig = Rig::start(&(provider("a", &url, "") + &route("m", &["a"], ""))).await;
    assert_eq!(rig.chat("m").await.error(), "provider_unreachable");
    assert_eq!((a.calls(), rig.window("a").as_str()), (0, "f"));
}
