//! Providers that are none, for the demo, the tests and the load: real sockets, and ill on demand.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Router, extract};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How a fake provider is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mood {
    /// It answers as it should.
    Well,
    /// It answers with this status, and asks to wait so many seconds.
    Refusing(u16, Option<u64>),
    /// It accepts the request and says nothing.
    Hanging,
    /// It begins its answer and says nothing more.
    Stalling,
    /// It breaks its answer off in the middle.
    Cutting,
    /// It ends its stream cleanly, but without the proper end.
    Unfinished,
    /// Its stream begins with an error.
    ErrorFirst,
    /// Its stream ends with an error.
    ErrorLast,
    /// Its stream has an event that is no JSON.
    BrokenEvents,
    /// Its stream has an event that is no UTF-8.
    BadText,
    /// It answers with a page.
    Html,
    /// It answers with JSON of another kind, and 200.
    ErrorAs200,
    /// It sends its client elsewhere.
    Redirecting(String),
    /// It answers without end.
    Endless,
    /// It answers after a time.
    Slow(Duration),
    /// It streams an event each so often, without end.
    Dripping(Duration),
}

/// A fake provider. Dropping it closes its socket and its connections.
#[derive(Debug)]
pub struct Fake {
    address: SocketAddr,
    seen: Arc<Seen>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Seen {
    mood: Mutex<Mood>,
    calls: AtomicU64,
    /// Answers that are being given.
    open: AtomicUsize,
    last: Mutex<Option<(HeaderMap, Bytes)>>,
}

impl Fake {
    /// Starts one on a free port of loopback.
    ///
    /// # Errors
    ///
    /// There is no free port.
    pub async fn start(mood: Mood) -> io::Result<Self> {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0)), mood).await
    }

    /// Starts one at an address, say that of one that has gone.
    ///
    /// # Errors
    ///
    /// The address is taken.
    pub async fn start_at(address: SocketAddr, mood: Mood) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let seen = Arc::new(Seen {
            mood: Mutex::new(mood),
            calls: AtomicU64::new(0),
            open: AtomicUsize::new(0),
            last: Mutex::new(None),
        });
        let router = Router::new()
            .route("/v1/chat/completions", post(chat))
            .route("/v1/embeddings", post(embeddings))
            .route("/elsewhere", get(|| async { "elsewhere" }))
            .with_state(Arc::clone(&seen));
        let task = tokio::spawn(serve(listener, router));
        Ok(Self {
            address,
            seen,
            task,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a provider's `base_url` is to be.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Makes it well or ill from the next request on.
    pub fn set(&self, mood: Mood) {
        *self
            .seen
            .mood
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = mood;
    }

    /// How many requests it got.
    pub fn calls(&self) -> u64 {
        self.seen.calls.load(Relaxed)
    }

    /// How many answers it is giving right now.
    pub fn open(&self) -> usize {
        self.seen.open.load(Relaxed)
    }

    /// The headers and the body of the last request.
    pub fn last(&self) -> Option<(HeaderMap, Bytes)> {
        self.seen
            .last
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves each connection within this one task's set, so that aborting it ends them.
async fn serve(listener: TcpListener, router: Router) {
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let service = hyper_util::service::TowerToHyperService::new(router.clone());
        let io = hyper_util::rt::TokioIo::new(stream);
        connections.spawn(async move {
            let http = hyper::server::conn::http1::Builder::new();
            let _ = http.serve_connection(io, service).await;
        });
        while connections.try_join_next().is_some() {}
    }
}

/// Counts an answer as open until it is dropped.
struct Open(Arc<Seen>);

impl Open {
    fn new(seen: &Arc<Seen>) -> Self {
        seen.open.fetch_add(1, Relaxed);
        Self(Arc::clone(seen))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Relaxed);
    }
}

async fn chat(extract::State(seen): extract::State<Arc<Seen>>, request: Request<Body>) -> Response {
    let (open, mood, body) = receive(&seen, request).await;
    let model = body["model"].as_str().unwrap_or_default();
    let answer = json!({
        "id": "chatcmpl-fake", "object": "chat.completion", "created": 1, "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello there"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    });
    match body["stream"].as_bool() {
        Some(true) => stream(open, mood, model).await,
        _ => whole(open, mood, answer).await,
    }
}

async fn embeddings(
    extract::State(seen): extract::State<Arc<Seen>>,
    request: Request<Body>,
) -> Response {
    let (open, mood, body) = receive(&seen, request).await;
    let answer = json!({
        "object": "list", "model": body["model"],
        "data": [{"object": "embedding", "index": 0, "embedding": [0.5, -0.25]}],
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    });
    whole(open, mood, answer).await
}

async fn receive(seen: &Arc<Seen>, request: Request<Body>) -> (Open, Mood, Value) {
    seen.calls.fetch_add(1, Relaxed);
    let open = Open::new(seen);
    let (head, body) = request.into_parts();
    let body = to_bytes(body, 64 << 20).await.unwrap_or_default();
    let value = serde_json::from_slice(&body).unwrap_or_default();
    *seen.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((head.headers, body));
    let mood = seen
        .mood
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    (open, mood, value)
}

async fn whole(open: Open, mood: Mood, answer: Value) -> Response {
    let json = HeaderValue::from_static("application/json");
    match mood {
        Mood::Stalling => pieces(json, open, vec![Piece::Text("{\"id\":"), Piece::Nothing]),
        Mood::Cutting => pieces(json, open, vec![Piece::Text("{\"id\":"), Piece::Cut]),
        Mood::Unfinished => with_type(json, "{\"id\":".to_owned()),
        Mood::BadText => with_type(json, Bytes::from_static(b"{\"id\":\"\xff\"}")),
        Mood::BrokenEvents => with_type(json, "{\"id\":}".to_owned()),
        Mood::ErrorAs200 | Mood::ErrorFirst | Mood::ErrorLast => {
            with_type(json, r#"{"error":{"message":"fake trouble"}}"#)
        }
        Mood::Endless => pieces(json, open, vec![Piece::Endless("          ")]),
        mood => match ill(mood).await {
            Some(response) => response,
            None => with_type(json, answer.to_string()),
        },
    }
}

async fn stream(open: Open, mood: Mood, model: &str) -> Response {
    const WORDS: [&str; 3] = ["Hello", " ", "there"];
    let chunk = |delta: Value, finish: Option<&str>| {
        let chunk = json!({
            "id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1, "model": model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        });
        Piece::Owned(format!("data: {chunk}\n\n"))
    };
    let mut all: Vec<_> = WORDS
        .iter()
        .map(|word| chunk(json!({"content": word}), None))
        .collect();
    let events = HeaderValue::from_static("text/event-stream");
    match mood {
        Mood::Stalling => all.push(Piece::Nothing),
        Mood::Cutting => all.extend([Piece::Text("data: {\"id\":\"chatc"), Piece::Cut]),
        Mood::Unfinished => {}
        Mood::ErrorFirst => all.insert(0, Piece::Text(TROUBLE)),
        Mood::ErrorLast | Mood::ErrorAs200 => all.push(Piece::Text(TROUBLE)),
        Mood::BrokenEvents => all.push(Piece::Text("data: {\"id\":\n\n")),
        Mood::BadText => all.push(Piece::Bytes(b"data: {\"id\":\"\xff\"}\n\n")),
        Mood::Endless => all = vec![Piece::Endless("data: 0123456789")],
        Mood::Dripping(each) => {
            let Some(first) = all.drain(..).next() else {
                return Response::default();
            };
            all.push(Piece::Drip(Box::new(first), each));
        }
        mood => match ill(mood).await {
            Some(response) => return response,
            None => {
                all.push(chunk(json!({}), Some("stop")));
                all.push(Piece::Text("data: [DONE]\n\n"));
            }
        },
    }
    pieces(events, open, all)
}

const TROUBLE: &str =
    "data: {\"error\":{\"message\":\"fake trouble\",\"type\":\"server_error\"}}\n\n";

/// What is the same for streams and whole answers; `None` if it is well.
async fn ill(mood: Mood) -> Option<Response> {
    match mood {
        Mood::Refusing(status, wait) => {
            let body = r#"{"error":{"message":"fake refusal","type":"fake"}}"#;
            let mut response = with_type(HeaderValue::from_static("application/json"), body);
            *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
            if let Some(wait) = wait {
                response
                    .headers_mut()
                    .insert(header::RETRY_AFTER, HeaderValue::from(wait));
            }
            Some(response)
        }
        Mood::Hanging => std::future::pending().await,
        Mood::Html => Some(with_type(
            HeaderValue::from_static("text/html"),
            "<h1>Please log in</h1>",
        )),
        Mood::Redirecting(to) => {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
            response
                .headers_mut()
                .insert(header::LOCATION, HeaderValue::try_from(to).ok()?);
            Some(response)
        }
        Mood::Slow(wait) => {
            tokio::time::sleep(wait).await;
            None
        }
        _ => None,
    }
}

fn with_type(kind: HeaderValue, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// A piece of an answer.
enum Piece {
    Text(&'static str),
    Bytes(&'static [u8]),
    Owned(String),
    /// Nothing, for ever.
    Nothing,
    /// The connection breaks.
    Cut,
    /// This, for ever.
    Endless(&'static str),
    /// This, for ever, each so often.
    Drip(Box<Piece>, Duration),
}

fn pieces(kind: HeaderValue, open: Open, pieces: Vec<Piece>) -> Response {
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(async move {
        tokio::select! {
            () = sender.closed() => {}
            _ = play(pieces, &sender) => {}
        }
        drop(open);
    });
    with_type(kind, Body::new(Played(receiver)))
}

/// Plays the pieces; `None` when nobody listens any more.
async fn play(pieces: Vec<Piece>, sender: &mpsc::Sender<Option<Bytes>>) -> Option<()> {
    for piece in pieces {
        match piece {
            Piece::Text(text) => sender
                .send(Some(Bytes::from_static(text.as_bytes())))
                .await
                .ok()?,
            Piece::Bytes(bytes) => sender.send(Some(Bytes::from_static(bytes))).await.ok()?,
            Piece::Owned(text) => sender.send(Some(Bytes::from(text))).await.ok()?,
            Piece::Nothing => std::future::pending().await,
            Piece::Cut => sender.send(None).await.ok()?,
            Piece::Endless(text) => loop {
                sender
                    .send(Some(Bytes::from(text.repeat(100))))
                    .await
                    .ok()?;
            },
            Piece::Drip(piece, each) => {
                let Piece::Owned(text) = *piece else {
                    return None;
                };
                let text = Bytes::from(text);
                loop {
                    sender.send(Some(text.clone())).await.ok()?;
                    // A timer rounds up to a millisecond.
                    if each.is_zero() {
                        tokio::task::yield_now().await;
                    } else {
                        tokio::time::sleep(each).await;
                    }
                }
            }
        }
    }
    Some(())
}

/// A body of pieces; `None` breaks it.
struct Played(mpsc::Receiver<Option<Bytes>>);

impl http_body::Body for Played {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, io::Error>>> {
        self.0.poll_recv(context).map(|piece| {
            piece.map(|piece| {
                piece
                    .map(http_body::Frame::data)
                    .ok_or(io::ErrorKind::BrokenPipe.into())
            })
        })
    }
}
