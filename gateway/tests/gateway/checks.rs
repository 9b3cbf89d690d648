//! Active checks, and the webhook.

use std::time::Duration;

use cutout::State;
use cutout_gateway::demo::fake::Mood;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::rig::{Rig, SOON, fake, provider, route, until};

#[tokio::test]
async fn without_traffic_a_check_finds_an_outage_and_its_end() {
    let a = fake(Mood::Refusing(500, None)).await;
    let more = "check = { every = \"50ms\", model = \"tiny\" }\n\
                breaker = { consecutive_failures = 2, open_wait = \"100ms\" }";
    let rig = Rig::start(&(provider("a", &a.url(), more) + &route("m", &["a"], ""))).await;
    until("it opens", || rig.snapshot("a").state == State::Open).await;
    let (_, body) = a.last().unwrap();
    assert!(
        body.starts_with(b"{\"model\":\"tiny\",\"max_tokens\":1,"),
        "{body:?}"
    );
    a.set(Mood::Well);
    until("it closes", || rig.snapshot("a").state == State::Closed).await;
    assert_eq!(rig.upstream("a").totals().calls, 0);
}

#[tokio::test]
async fn a_check_that_does_not_count_changes_nothing() {
    let a = fake(Mood::Refusing(500, None)).await;
    let more = "check = { every = \"50ms\", model = \"m\", counts = false, kind = \"embeddings\" }\n\
                breaker = { consecutive_failures = 1 }";
    let rig = Rig::start(&(provider("a", &a.url(), more) + &route("m", &["a"], ""))).await;
    until("it was checked", || a.calls() >= 3).await;
    assert_eq!(
        (rig.snapshot("a").state, rig.window("a").as_str()),
        (State::Closed, "")
    );
}

#[tokio::test]
async fn a_webhook_is_told_of_each_transition_until_it_has_heard() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hook = format!(
        "[webhook]\nurl = \"http://{}/hook\"\n",
        listener.local_addr().unwrap()
    );
    let rig =
        Rig::start(&(hook + &provider("a", "http://127.0.0.1:1/v1", "") + &route("m", &["a"], "")))
            .await;
    // Who is served comes after the webhook has begun to listen.
    rig.get("/healthz").await;
    rig.upstream("a").breaker.force_open(None, "a test");
    let hear = async |answer: &str| {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut heard = Vec::new();
        while !heard.ends_with(b"}}") {
            assert!(socket.read_buf(&mut heard).await.unwrap() > 0);
        }
        socket.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8(heard).unwrap()
    };
    let busy = "HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    timeout(SOON, hear(busy)).await.expect("a first attempt");
    let heard = timeout(SOON, hear("HTTP/1.1 204 No Content\r\n\r\n"))
        .await
        .expect("a second attempt");
    assert!(heard.starts_with("POST /hook HTTP/1.1\r\n"), "{heard}");
    assert!(
        heard.contains("\"to\":\"forced open\"") && heard.contains("\"reason\":\"a test\""),
        "{heard}"
    );
    let more = timeout(Duration::from_millis(1500), listener.accept()).await;
    assert!(more.is_err(), "it was told once more");
}
