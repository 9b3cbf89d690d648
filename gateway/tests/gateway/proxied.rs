//! Providers behind a proxy that makes connections by CONNECT.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cutout_gateway::config::File;
use cutout_gateway::demo::fake::Mood;
use cutout_gateway::gateway::Gateway;
use http::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::passing::tempfile;
use crate::raw::{Raw, Script};
use crate::rig::{Rig, fake, provider, route};
use crate::tls::{certified, server};

/// A proxy that connects to whom it is told to.
struct Proxy {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Proxy {
    /// One that says this to whoever does not show these credentials.
    async fn start(wants: Option<(&'static str, &'static str)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&heads);
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(tunnel(socket, wants, Arc::clone(&seen)));
            }
        });
        Self {
            address,
            heads,
            task,
        }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn tunnel(
    mut socket: TcpStream,
    wants: Option<(&'static str, &'static str)>,
    seen: Arc<Mutex<Vec<String>>>,
) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    seen.lock().unwrap().push(head.clone());
    if let Some((credentials, refusal)) = wants
        && !head.contains(credentials)
    {
        let answer = format!("HTTP/1.1 {refusal}\r\ncontent-length: 0\r\n\r\n");
        socket.write_all(answer.as_bytes()).await.ok()?;
        // Open for as long as the other end wants it, as those that keep connections are.
        let _ = socket.read_u8().await;
        return None;
    }
    let target = head.strip_prefix("CONNECT ")?.split(' ').next()?;
    let mut there = TcpStream::connect(target).await.ok()?;
    socket
        .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
        .await
        .ok()?;
    copy_bidirectional(&mut socket, &mut there).await.ok()?;
    Some(())
}

#[tokio::test]
async fn a_provider_is_reached_through_its_proxy_in_clear_text_and_by_tls() {
    let proxy = Proxy::start(None).await;
    let (authority, cert, key) = certified();
    let a = fake(Mood::Well).await;
    let config = server(&cert, &key) + &provider("a", &a.url(), "") + &route("m", &["a"], "");
    let inner = Rig::start(&config).await;
    let by = format!("proxy = \"http://{}\"\n", proxy.address);
    let secure = by.clone() + &format!("ca_file = {:?}", authority.path());
    let config = provider("plain", &a.url(), &by)
        + &provider("secure", &format!("https://{}/v1", inner.address), &secure)
        + &provider("straight", &a.url(), "proxy = \"none\"")
        + &route("m", &["plain"], "")
        + &route("s", &["secure"], "")
        + &route("n", &["straight"], "");
    let rig = Rig::start(&config).await;
    assert_eq!(rig.chat("m").await.status, StatusCode::OK);
    let line = proxy.heads()[0].lines().next().unwrap().to_owned();
    let host = a.url().replace("http://", "").replace("/v1", "");
    assert_eq!(line, format!("CONNECT {host} HTTP/1.1"));
    let inner_model = r#"{"model":"m","messages":[]}"#.replace("\"m\"", "\"s\"");
    // The inner gateway knows the model by another name, and says so: it was reached.
    let answer = rig.post("/v1/chat/completions", inner_model).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND, "{}", answer.text());
    let line = proxy.heads()[1].lines().next().unwrap().to_owned();
    assert_eq!(line, format!("CONNECT {} HTTP/1.1", inner.address));
    // A connection that is there is used again.
    assert_eq!(rig.chat("m").await.status, StatusCode::OK);
    assert_eq!(rig.chat("n").await.status, StatusCode::OK);
    assert_eq!(proxy.heads().len(), 2);
}

#[tokio::test]
async fn what_a_proxy_refuses_is_its_own_fault_and_not_the_keys() {
    for (refusal, calls) in [
        ("407 Proxy Authentication Required", 1),
        ("403 Forbidden", 1),
        ("401 Unauthorized", 1),
        ("502 Bad Gateway", 2),
    ] {
        let proxy = Proxy::start(Some(("nothing", refusal))).await;
        let a = fake(Mood::Well).await;
        let url = tempfile(&format!("http://us:hush-hush@{}", proxy.address));
        let more = format!(
            "proxy = {{ file = {:?} }}\nretry = {{ attempts = 2, base = \"1ms\" }}",
            url.path()
        );
        let rig = Rig::start(&(provider("a", &a.url(), &more) + &route("m", &["a"], ""))).await;
        let answer = rig.chat("m").await;
        let status = &refusal[..3];
        assert_eq!(answer.status, StatusCode::BAD_GATEWAY, "{refusal}");
        assert_eq!(answer.error(), "proxy_failed", "{refusal}");
        let said = answer.text();
        assert!(
            said.contains(&proxy.address.to_string()) && said.contains(status),
            "{said}"
        );
        assert_eq!(proxy.heads().len(), calls, "{refusal}");
        assert_eq!(rig.window("a"), "f", "{refusal}");
        let state = rig.get("/admin/state").await;
        assert!(
            state.json()["routes"][0]["queue"][0]["suspended"].is_null(),
            "{refusal}"
        );
        // Its password is in the request to it alone.
        assert!(proxy.heads()[0].contains("proxy-authorization: Basic dXM6aHVzaC1odXNo\r\n"));
        for text in [said, state.text(), &format!("{:?}", rig.gateway)] {
            assert!(
                !text.contains("hush") && !text.contains("dXM6aHVzaC1odXNo"),
                "{text}"
            );
        }
    }
}

#[tokio::test]
async fn a_proxy_with_the_right_password_lets_through() {
    let wants = (
        "Basic dXM6aHVzaC1odXNo",
        "407 Proxy Authentication Required",
    );
    let proxy = Proxy::start(Some(wants)).await;
    let a = fake(Mood::Well).await;
    let url = tempfile(&format!("http://us:hush-hush@{}", proxy.address));
    let more = format!("proxy = {{ file = {:?} }}", url.path());
    let rig = Rig::start(&(provider("a", &a.url(), &more) + &route("m", &["a"], ""))).await;
    assert_eq!(rig.chat("m").await.status, StatusCode::OK);
    // The password is read again with the configuration.
    std::fs::write(url.path(), format!("http://us:wrong@{}", proxy.address)).unwrap();
    let config = provider("a", &a.url(), &more) + &route("m", &["a"], "");
    let file = tempfile(&config);
    let rig = Rig::start_file(file.path()).await;
    assert_eq!(rig.chat("m").await.error(), "proxy_failed");
    std::fs::write(url.path(), format!("http://us:hush-hush@{}", proxy.address)).unwrap();
    let gateway = Arc::clone(&rig.gateway);
    tokio::task::spawn_blocking(move || gateway.reload(true))
        .await
        .unwrap();
    assert_eq!(rig.chat("m").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_proxy_that_is_not_there_hangs_or_breaks_off_is_told_apart_from_its_provider() {
    let limits = "limits = { connect = \"200ms\" }\n";
    let (hangs, breaks) = (
        Raw::start(Script::hang()).await,
        Raw::start(Script::close()).await,
    );
    let eager = Script::close().say("HTTP/1.1 200 OK\r\n\r\nHello");
    let eager = Raw::start(eager.then_hang()).await;
    let at = |raw: &Raw| raw.url().replace("/v1", "");
    for (proxy, code, said) in [
        (
            "http://127.0.0.1:1".to_owned(),
            "proxy_failed",
            "cannot be reached",
        ),
        (at(&hangs), "provider_timeout", "connect limit of 200ms"),
        (at(&breaks), "proxy_failed", "broke"),
        (at(&eager), "proxy_failed", "said more"),
    ] {
        let more = format!("{limits}proxy = {proxy:?}");
        let config = provider("a", "http://10.0.0.1/v1", &more) + &route("m", &["a"], "");
        let rig = Rig::start(&config).await;
        let answer = tokio::time::timeout(Duration::from_secs(20), rig.chat("m"));
        let answer = answer.await.expect("an answer");
        assert_eq!(answer.error(), code, "{proxy}");
        assert!(answer.text().contains(said), "{}", answer.text());
    }
    let gone = async {
        while hangs.open() > 0 {
            tokio::task::yield_now().await
        }
    };
    tokio::time::timeout(crate::rig::SOON, gone)
        .await
        .expect("its connection is closed");
}

#[test]
fn a_proxy_that_cannot_be_used_is_found_by_the_check_and_never_repeated() {
    let check = |proxy: &str| {
        let more = format!("proxy = {proxy}");
        let text = provider("a", "http://a/v1", &more) + &route("m", &["a"], "");
        File::parse(text).and_then(Gateway::check)
    };
    check("\"none\"").unwrap();
    check("\"http://proxy:3128\"").unwrap();
    let socks = tempfile("socks5://us:hush-hush@p:1");
    for wrong in [
        "\"http://us:hush-hush@p:1\"".to_owned(),
        "\"socks5://p:1\"".to_owned(),
        "\"https://p:1\"".to_owned(),
        "\"http://\"".to_owned(),
        "\"\"".to_owned(),
        "true".to_owned(),
        "{ env = \"CUTOUT_NO_SUCH_PROXY\" }".to_owned(),
        "{ url = \"hush-hush\" }".to_owned(),
        format!("{{ file = {:?} }}", socks.path()),
    ] {
        let problem = check(&wrong).unwrap_err();
        assert!(
            problem.field.starts_with("provider[0].proxy"),
            "{wrong}: {problem}"
        );
        assert!(!problem.to_string().contains("hush"), "{wrong}: {problem}");
    }
}
