//! HTTP/2, at the door and towards providers.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use cutout_gateway::client::Client;
use cutout_gateway::demo::fake::Mood;
use h2::Reason;
use h2::server::SendResponse;
use http::{Request, Response, StatusCode, Version};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::passing::TempFile;
use crate::raw::{DONE, HELLO, Raw, STOP, Script, WELL};
use crate::rig::{Answer, Rig, SOON, chat, fake, provider, route, until};
use crate::tls::{certified, server};

/// A connection to a gateway, by prior knowledge.
async fn connect(rig: &Rig) -> SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(rig.address).await.unwrap();
    let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    sender
}

fn ask(rig: &Rig, model: &str, stream: bool) -> Request<Full<Bytes>> {
    rig.request(
        http::Method::POST,
        "/v1/chat/completions",
        chat(model, stream),
    )
}

async fn send(sender: &SendRequest<Full<Bytes>>, request: Request<Full<Bytes>>) -> Answer {
    let answer = tokio::time::timeout(SOON, sender.clone().send_request(request));
    let (head, body) = answer.await.expect("an answer").unwrap().into_parts();
    Answer {
        status: head.status,
        headers: head.headers,
        body: body.collect().await.unwrap().to_bytes(),
    }
}

#[tokio::test]
async fn many_requests_and_streams_share_a_connection_to_the_door() {
    let a = fake(Mood::Well).await;
    let rig = Rig::start(&(provider("a", &a.url(), "") + &route("m", &["a"], ""))).await;
    let sender = connect(&rig).await;
    let calls = (0..40).map(|number| {
        let (sender, request) = (sender.clone(), ask(&rig, "m", number % 2 == 0));
        tokio::spawn(async move { (number, send(&sender, request).await) })
    });
    for call in calls.collect::<Vec<_>>() {
        let (number, answer) = call.await.unwrap();
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(
            answer.text().ends_with(DONE),
            number % 2 == 0,
            "{}",
            answer.text()
        );
    }
    assert_eq!(
        (rig.upstream("a").totals().successes, rig.failures("a")),
        (40, 0)
    );
}

#[tokio::test]
async fn the_name_that_http_2_puts_beside_the_headers_is_looked_at_as_host_is() {
    let a = fake(Mood::Well).await;
    let rig = Rig::start(&(provider("a", &a.url(), "") + &route("m", &["a"], ""))).await;
    let sender = connect(&rig).await;
    let named = |uri: &str, host: Option<&str>| {
        let mut request = Request::get(format!("{uri}/v1/models"));
        if let Some(host) = host {
            request = request.header("host", host);
        }
        request.body(Full::default()).unwrap()
    };
    for (uri, host, status) in [
        ("http://localhost", None, 200),
        ("http://127.0.0.1:99", Some("127.0.0.1:99"), 200),
        ("http://evil.example", None, 403),
        ("http://evil.example", Some("localhost"), 403),
        ("http://localhost", Some("evil.example"), 403),
    ] {
        let answer = send(&sender, named(uri, host)).await;
        assert_eq!(answer.status, status, "{uri} {host:?} {}", answer.text());
    }
    // And fields are counted, since the protocol does not.
    let mut request = named("http://localhost", None);
    for number in 0..65 {
        let name = http::HeaderName::try_from(format!("x-{number}")).unwrap();
        request
            .headers_mut()
            .insert(name, http::HeaderValue::from_static("1"));
    }
    assert_eq!(send(&sender, request).await.error(), "head_too_large");
}

#[tokio::test]
async fn a_client_that_ends_one_stream_frees_its_provider_and_none_of_its_other_streams() {
    let (a, b) = (
        Raw::start(Script::stream(&[HELLO]).then_hang()).await,
        Raw::start(Script::stream(&[HELLO]).then_hang()).await,
    );
    let config = "[server]\nmax_connections = 1\nheader_timeout = \"100ms\"\n".to_owned()
        + &provider("a", &a.url(), "")
        + &provider("b", &b.url(), "")
        + &route("m", &["a"], "")
        + &route("n", &["b"], "");
    let rig = Rig::start(&config).await;
    let sender = connect(&rig).await;
    let gone = sender
        .clone()
        .send_request(ask(&rig, "m", true))
        .await
        .unwrap();
    let stays = sender
        .clone()
        .send_request(ask(&rig, "n", true))
        .await
        .unwrap();
    assert_eq!((a.open(), b.open()), (1, 1));
    drop(gone);
    until("the provider is let go", || a.open() == 0).await;
    // Neither others that want its place nor the time that it has been without a new request end the connection.
    let other = rig.get("/healthz");
    assert_eq!(other.await.status, StatusCode::OK);
    tokio::time::sleep(Duration::from_millis(1300)).await;
    assert_eq!(rig.get("/healthz").await.status, StatusCode::OK);
    assert_eq!(b.open(), 1);
    drop(stays);
    until("it is let go too", || b.open() == 0).await;
    until("the connection is unused, and ended", || sender.is_closed()).await;
    assert_eq!(
        (rig.window("a"), rig.window("b")),
        (String::new(), String::new())
    );
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_ended() {
    let config = "[server]\nheader_timeout = \"100ms\"\n".to_owned()
        + &provider("a", "http://a/v1", "")
        + &route("m", &["a"], "");
    let rig = Rig::start(&config).await;
    for said in [&b""[..], b"P", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        // It ends, or the test does not.
        rig.raw(said).await;
    }
}

#[tokio::test]
async fn a_stop_lets_the_streams_of_a_connection_end() {
    let script = Script::stream(&[HELLO]).wait(Duration::from_millis(200));
    let a = Raw::start(script.event(STOP).event(DONE).end()).await;
    let config = "[server]\ndrain_timeout = \"1h\"\n".to_owned() + &provider("a", &a.url(), "");
    let mut rig = Rig::start(&(config + &route("m", &["a"], ""))).await;
    let sender = connect(&rig).await;
    let answer = sender
        .clone()
        .send_request(ask(&rig, "m", true))
        .await
        .unwrap();
    rig.begin_to_stop();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    assert!(body.ends_with(DONE.as_bytes()));
    rig.stop().await;
    assert!(sender.is_closed());
}

/// A provider that speaks HTTP/2 by TLS, and what it has seen.
struct Provider {
    address: SocketAddr,
    shared: Arc<Shared>,
    authority: TempFile,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    /// One for each request; the last stays.
    acts: Mutex<VecDeque<Act>>,
    calls: AtomicUsize,
    connections: AtomicUsize,
    /// Requests that hang.
    open: AtomicUsize,
    /// Why requests that hung were ended by the other end.
    ended: Mutex<Vec<Reason>>,
}

/// What it does with a request.
#[derive(Clone, Copy, Debug)]
enum Act {
    Well,
    /// A stream that ends well.
    Stream,
    /// Resets the stream of the request before it answers.
    Reset(Reason),
    /// Begins a stream of events and resets it.
    Cut(Reason),
    Hang,
    /// Answers in a while, and takes no more requests on this connection.
    Last,
}

impl Provider {
    async fn start(acts: &[Act]) -> Self {
        let (authority, cert, key) = certified();
        let certificates = CertificateDer::pem_file_iter(cert.path()).unwrap();
        let certificates = certificates.collect::<Result<_, _>>().unwrap();
        let key = PrivateKeyDer::from_pem_file(key.path()).unwrap();
        let config =
            rustls::ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let mut config = config
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(certificates, key)
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        shared.acts.lock().unwrap().extend(acts);
        let serving = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (acceptor, shared) = (acceptor.clone(), Arc::clone(&serving));
                tokio::spawn(
                    async move { shared.serve(acceptor.accept(socket).await.ok()?).await },
                );
            }
        });
        Self {
            address,
            shared,
            authority,
            task,
        }
    }

    /// Its table, with more fields.
    fn table(&self, name: &str, more: &str) -> String {
        let more = format!("ca_file = {:?}\n{more}", self.authority.path());
        provider(name, &format!("https://{}/v1", self.address), &more)
    }

    fn calls(&self) -> usize {
        self.shared.calls.load(Relaxed)
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    async fn serve(
        self: Arc<Self>,
        stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    ) -> Option<()> {
        let mut connection = h2::server::Builder::new();
        let connection = connection
            .max_concurrent_streams(100)
            .handshake(stream)
            .await;
        let mut connection = connection.ok()?;
        let mut is_new = true;
        while let Some(Ok((_, respond))) = connection.accept().await {
            // One that is opened beside another and not used is no connection worth counting.
            self.connections
                .fetch_add(usize::from(std::mem::take(&mut is_new)), Relaxed);
            self.calls.fetch_add(1, Relaxed);
            let act = {
                let mut acts = self.acts.lock().unwrap();
                let act = *acts.front().unwrap();
                if acts.len() > 1 {
                    acts.pop_front();
                }
                act
            };
            if matches!(act, Act::Last) {
                connection.graceful_shutdown();
            }
            tokio::spawn(Arc::clone(&self).act(respond, act));
        }
        Some(())
    }

    async fn act(self: Arc<Self>, mut respond: SendResponse<Bytes>, act: Act) {
        let head = |kind| {
            Response::builder()
                .header("content-type", kind)
                .body(())
                .unwrap()
        };
        let mut say = |kind, pieces: &[&str], ends: bool| {
            let mut body = respond.send_response(head(kind), false).unwrap();
            for piece in pieces {
                body.send_data(Bytes::copy_from_slice(piece.as_bytes()), false)
                    .unwrap();
            }
            if ends {
                body.send_data(Bytes::new(), true).unwrap();
            }
            body
        };
        match act {
            Act::Well => drop(say("application/json", &[WELL], true)),
            Act::Stream => drop(say("text/event-stream", &[HELLO, STOP, DONE], true)),
            Act::Reset(reason) => respond.send_reset(reason),
            Act::Cut(reason) => {
                let mut body = say("text/event-stream", &[HELLO], false);
                tokio::time::sleep(Duration::from_millis(50)).await;
                body.send_reset(reason);
            }
            Act::Last => {
                tokio::time::sleep(Duration::from_millis(100)).await;
                say("application/json", &[WELL], true);
            }
            Act::Hang => {
                self.open.fetch_add(1, Relaxed);
                if let Ok(reason) = poll_fn(|context| respond.poll_reset(context)).await {
                    self.ended.lock().unwrap().push(reason);
                }
                self.open.fetch_sub(1, Relaxed);
            }
        }
    }
}

#[tokio::test]
async fn a_provider_that_speaks_it_gets_its_requests_on_one_connection() {
    let a = Provider::start(&[Act::Well, Act::Stream, Act::Well]).await;
    let rig = Rig::start(&(a.table("a", "") + &route("m", &["a"], ""))).await;
    assert_eq!(rig.chat("m").await.text(), WELL);
    assert!(rig.stream("m").await.text().ends_with(DONE));
    let sender = connect(&rig).await;
    let calls = (0..50).map(|_| {
        let (sender, request) = (sender.clone(), ask(&rig, "m", false));
        tokio::spawn(async move { send(&sender, request).await.status })
    });
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(call.await.unwrap(), StatusCode::OK);
    }
    assert_eq!((a.calls(), a.shared.connections.load(Relaxed)), (52, 1));
    assert_eq!(
        (rig.upstream("a").totals().successes, rig.failures("a")),
        (52, 0)
    );
}

#[tokio::test]
async fn more_requests_than_one_connection_takes_reach_the_provider_all_the_same() {
    let a = Provider::start(&[Act::Hang]).await;
    let rig = Rig::start(&(a.table("a", "") + &route("m", &["a"], ""))).await;
    let senders = [connect(&rig).await, connect(&rig).await];
    let calls = (0..250).map(|number| {
        let (sender, request) = (senders[number % 2].clone(), ask(&rig, "m", false));
        tokio::spawn(async move { send(&sender, request).await })
    });
    let calls: Vec<_> = calls.collect();
    until("all are there", || a.shared.open.load(Relaxed) == 250).await;
    for call in calls {
        call.abort();
    }
    until("all are let go", || a.shared.open.load(Relaxed) == 0).await;
}

#[tokio::test]
async fn a_stream_that_is_refused_is_tried_again_and_one_that_is_reset_is_a_failure() {
    let again = "retry = { attempts = 2, base = \"1ms\" }";
    let a = Provider::start(&[Act::Reset(Reason::REFUSED_STREAM), Act::Well]).await;
    let rig = Rig::start(&(a.table("a", again) + &route("m", &["a"], ""))).await;
    assert_eq!(rig.chat("m").await.text(), WELL);
    assert_eq!((a.calls(), rig.window("a").as_str()), (2, "s"));
    for reason in [
        Reason::INTERNAL_ERROR,
        Reason::CANCEL,
        Reason::ENHANCE_YOUR_CALM,
    ] {
        let a = Provider::start(&[Act::Reset(reason)]).await;
        let b = fake(Mood::Well).await;
        let config = a.table("a", "") + &provider("b", &b.url(), "");
        let rig = Rig::start(&(config + &route("m", &["a", "b"], ""))).await;
        assert_eq!(rig.chat("m").await.header("x-cutout-provider"), Some("b"));
        assert_eq!(rig.window("a"), "f", "{reason:?}");
    }
    let a = Provider::start(&[Act::Reset(Reason::INTERNAL_ERROR)]).await;
    let rig = Rig::start(&(a.table("a", "") + &route("m", &["a"], ""))).await;
    assert_eq!(rig.chat("m").await.error(), "provider_unreachable");
}

#[tokio::test]
async fn a_stream_that_is_reset_after_its_content_ends_with_an_error_for_the_client() {
    let a = Provider::start(&[Act::Cut(Reason::INTERNAL_ERROR), Act::Well]).await;
    let rig = Rig::start(&(a.table("a", "") + &route("m", &["a"], ""))).await;
    let answer = rig.stream("m").await;
    assert!(answer.text().starts_with(HELLO), "{}", answer.text());
    assert!(
        answer.text().contains("provider_unreachable"),
        "{}",
        answer.text()
    );
    assert_eq!(rig.window("a"), "f");
    // The others on its connection are not touched.
    assert_eq!(rig.chat("m").await.text(), WELL);
    assert_eq!(a.shared.connections.load(Relaxed), 1);
}

#[tokio::test]
async fn a_client_that_goes_away_ends_its_stream_at_the_provider_and_not_the_connection() {
    let a = Provider::start(&[Act::Well, Act::Hang, Act::Well]).await;
    let rig = Rig::start(&(a.table("a", "") + &route("m", &["a"], ""))).await;
    rig.chat("m").await;
    let request = ask(&rig, "m", false);
    let gone = tokio::spawn(async move { Client::new(SOON).send(request).await.map(drop) });
    until("it is there", || a.shared.open.load(Relaxed) == 1).await;
    gone.abort();
    until("it is let go", || a.shared.open.load(Relaxed) == 0).await;
    assert_eq!(*a.shared.ended.lock().unwrap(), [Reason::CANCEL]);
    assert_eq!(rig.chat("m").await.text(), WELL);
    assert_eq!(a.shared.connections.load(Relaxed), 1);
    assert_eq!(rig.window("a"), "ss");
}

#[tokio::test]
async fn a_connection_whose_provider_takes_no_more_is_ended_in_order() {
    let a = Provider::start(&[Act::Well, Act::Last, Act::Well]).await;
    let rig = Rig::start(&(a.table("a", "") + &route("m", &["a"], ""))).await;
    for _ in 0..4 {
        assert_eq!(rig.chat("m").await.text(), WELL);
    }
    assert_eq!((a.calls(), a.shared.connections.load(Relaxed)), (4, 2));
    assert_eq!(rig.window("a"), "ssss");
}

#[tokio::test]
async fn a_door_with_a_certificate_offers_both() {
    let (authority, cert, key) = certified();
    let a = fake(Mood::Well).await;
    let config = server(&cert, &key) + &provider("a", &a.url(), "") + &route("m", &["a"], "");
    let rig = Rig::start(&config).await;
    let client = Client::trusting(SOON, Some(authority.path())).unwrap();
    let request = Request::get(format!("https://{}/readyz", rig.address));
    let answer = client
        .send(request.body(Full::default()).unwrap())
        .await
        .unwrap();
    assert_eq!(
        (answer.status(), answer.version()),
        (StatusCode::OK, Version::HTTP_2)
    );
}
