//! A gateway in front of fake providers, all on real sockets of this machine.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use cutout::Snapshot;
use cutout_gateway::client::{Client, Received};
use cutout_gateway::config::{File, Problem, RequestLog};
use cutout_gateway::demo::fake::{Fake, Mood};
use cutout_gateway::gateway::Gateway;
use cutout_gateway::providers::Upstream;
use cutout_gateway::server;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// For what must happen soon, and does unless something is wrong.
pub(crate) const SOON: Duration = Duration::from_secs(60);

pub(crate) struct Rig {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) address: SocketAddr,
    client: Client,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

/// A socket whose connections may be said to come from elsewhere: no test can count on a second machine.
struct Seeing {
    listener: TcpListener,
    peer: Option<SocketAddr>,
}

impl server::Listener for Seeing {
    async fn accept(&self) -> std::io::Result<(TcpStream, SocketAddr)> {
        let (stream, peer) = self.listener.accept().await?;
        Ok((stream, self.peer.unwrap_or(peer)))
    }
}

/// An answer, whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Rig {
    pub(crate) async fn start(config: &str) -> Self {
        let file = quiet(File::parse(config.to_owned()));
        Self::of(Gateway::new(file, None).unwrap(), None).await
    }

    /// A gateway among the replicas of a fleet.
    #[cfg(feature = "fleet")]
    pub(crate) async fn start_among(config: &str, fleet: cutout_fleet::Fleet) -> Self {
        let file = quiet(File::parse(config.to_owned()));
        Self::of(Gateway::among(file, None, fleet).unwrap(), None).await
    }

    /// A gateway that takes all connections for those of this address.
    pub(crate) async fn start_seeing(config: &str, peer: SocketAddr) -> Self {
        let file = quiet(File::parse(config.to_owned()));
        Self::of(Gateway::new(file, None).unwrap(), Some(peer)).await
    }

    /// A gateway whose configuration is this file.
    pub(crate) async fn start_file(path: &std::path::Path) -> Self {
        let file = quiet(File::read(path));
        Self::of(Gateway::new(file, Some(path.to_owned())).unwrap(), None).await
    }

    /// At an address, which its own configuration may name.
    pub(crate) async fn start_at(config: &str, address: SocketAddr) -> Self {
        let file = File::parse(config.to_owned()).unwrap_or_else(|problem| panic!("{problem}"));
        let listener = TcpListener::bind(address).await.unwrap();
        Self::serve(Gateway::new(file, None).unwrap(), listener, None)
    }

    async fn of(gateway: Arc<Gateway>, peer: Option<SocketAddr>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::serve(gateway, listener, peer)
    }

    fn serve(gateway: Arc<Gateway>, listener: TcpListener, peer: Option<SocketAddr>) -> Self {
        let address = listener.local_addr().unwrap();
        let listener = Seeing { listener, peer };
        let (stop, stopped) = oneshot::channel();
        let serving = server::serve(Arc::clone(&gateway), listener, async {
            let _ = stopped.await;
        });
        Self {
            gateway,
            address,
            client: Client::new(SOON),
            stop: Some(stop),
            task: tokio::spawn(serving),
        }
    }

    /// Tells it to stop, and waits until it has.
    pub(crate) async fn stop(mut self) {
        self.begin_to_stop();
        timeout(SOON, &mut self.task)
            .await
            .expect("it stops")
            .unwrap();
    }

    pub(crate) fn has_stopped(&self) -> bool {
        self.task.is_finished()
    }

    pub(crate) fn begin_to_stop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
    }

    pub(crate) fn request(
        &self,
        method: Method,
        path: &str,
        body: impl Into<Bytes>,
    ) -> Request<Full<Bytes>> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address))
            .header("content-type", "application/json");
        if path.starts_with("/admin") {
            request = request.header("authorization", format!("Bearer {}", self.token()));
        }
        request.body(Full::new(body.into())).unwrap()
    }

    /// The admin token that was made at the start; nothing if one is configured.
    pub(crate) fn token(&self) -> String {
        let url = self.gateway.dashboard_url(self.address);
        let token = url.split_once("#token=").map(|(_, token)| token.to_owned());
        token.unwrap_or_default()
    }

    pub(crate) async fn open(&self, request: Request<Full<Bytes>>) -> http::Response<Received> {
        timeout(SOON, self.client.send(request))
            .await
            .expect("an answer")
            .expect("a connection")
    }

    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Answer {
        let (head, body) = self.open(request).await.into_parts();
        let body = timeout(SOON, body.collect())
            .await
            .expect("the end of the answer");
        Answer {
            status: head.status,
            headers: head.headers,
            body: body.expect("a whole answer").to_bytes(),
        }
    }

    pub(crate) async fn post(&self, path: &str, body: impl Into<Bytes>) -> Answer {
        self.send(self.request(Method::POST, path, body)).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path, "")).await
    }

    pub(crate) async fn chat(&self, model: &str) -> Answer {
        self.post("/v1/chat/completions", chat(model, false)).await
    }

    pub(crate) async fn stream(&self, model: &str) -> Answer {
        self.post("/v1/chat/completions", chat(model, true)).await
    }

    /// Sends bytes as they are; what comes back until the other end closes.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> String {
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        // It may close before all is sent.
        let _ = socket.write_all(bytes).await;
        let mut answer = Vec::new();
        let _ = timeout(SOON, socket.read_to_end(&mut answer))
            .await
            .expect("an end");
        String::from_utf8_lossy(&answer).into_owned()
    }

    pub(crate) fn upstream(&self, name: &str) -> Arc<Upstream> {
        Arc::clone(&self.gateway.fleet.load().upstreams[name])
    }

    pub(crate) fn snapshot(&self, name: &str) -> Snapshot {
        self.upstream(name).breaker.snapshot()
    }

    /// How many calls have counted against it.
    pub(crate) fn failures(&self, name: &str) -> u64 {
        let totals = self.upstream(name).totals();
        totals.failures + totals.timeouts
    }

    /// The outcomes in the window: s, f, t for success, failure, timeout.
    pub(crate) fn window(&self, name: &str) -> String {
        let letter = |sample: &cutout::Sample| match sample.outcome {
            cutout::Outcome::Success => 's',
            cutout::Outcome::Timeout => 't',
            _ => 'f',
        };
        self.snapshot(name).samples.iter().map(letter).collect()
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The error's code; checks that the shape is that of OpenAI.
    pub(crate) fn error(&self) -> String {
        let body = self.json();
        let error = &body["error"];
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|message| !message.is_empty()),
            "{body}"
        );
        assert!(error["type"].is_string(), "{body}");
        assert!(error.get("param").is_some(), "{body}");
        error["code"]
            .as_str()
            .unwrap_or_else(|| panic!("{body}"))
            .to_owned()
    }

    /// What was tried, as `provider: what`.
    pub(crate) fn tried(&self) -> Vec<String> {
        let body = self.json();
        let tried = body["error"]["tried"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let line = |tried: &Value| {
            format!(
                "{}: {}",
                tried["provider"].as_str().unwrap(),
                tried["what"].as_str().unwrap()
            )
        };
        tried.iter().map(line).collect()
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

pub(crate) fn chat(model: &str, stream: bool) -> String {
    json!({"model": model, "stream": stream, "messages": [{"role": "user", "content": "Hi"}]})
        .to_string()
}

/// A configuration; without a log of requests, unless it names a file for one: what the tests say is enough.
fn quiet(file: Result<File, Problem>) -> File {
    let mut file = file.unwrap_or_else(|problem| panic!("{problem}"));
    if file.config.log.requests == RequestLog::Stdout {
        file.config.log.requests = RequestLog::Off;
    }
    file
}

pub(crate) async fn fake(mood: Mood) -> Fake {
    Fake::start(mood).await.unwrap()
}

/// The table of a provider, with more fields. One attempt, unless they say otherwise.
pub(crate) fn provider(name: &str, url: &str, more: &str) -> String {
    let retry = if more.contains("retry") {
        ""
    } else {
        "retry = { attempts = 1 }"
    };
    format!("[[provider]]\nname = {name:?}\nbase_url = {url:?}\n{retry}\n{more}\n")
}

/// The table of a route, with more fields.
pub(crate) fn route(model: &str, providers: &[&str], more: &str) -> String {
    let queue: Vec<_> = providers
        .iter()
        .map(|name| format!("{{ provider = {name:?} }}"))
        .collect();
    format!(
        "[[route]]\nmodel = {model:?}\nqueue = [{}]\n{more}\n",
        queue.join(", ")
    )
}

/// Waits until it holds.
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(SOON, waiting)
        .await
        .unwrap_or_else(|_| panic!("it never came to this: {what}"));
}
