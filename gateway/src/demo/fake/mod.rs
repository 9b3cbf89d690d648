//! Providers that are none, for the demo, the tests and the load: real sockets, and ill on demand.

mod answers;
mod mood;
mod pieces;
mod seen;
mod voice;

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::routing::{get, post};
use bytes::Bytes;
use http::HeaderMap;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use answers::{answer, verb};
pub use mood::Mood;
use seen::Seen;
use voice::Kind;

/// A fake provider. Dropping it closes its socket and its connections.
#[derive(Debug)]
pub struct Fake {
    address: SocketAddr,
    seen: Arc<Seen>,
    task: JoinHandle<()>,
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
        let endpoints = [
            ("/v1/chat/completions", Kind::Chat),
            ("/v1/completions", Kind::Completions),
            ("/v1/responses", Kind::Responses),
            ("/v1/embeddings", Kind::Embeddings),
            ("/v1/messages", Kind::Messages),
            ("/v1/messages/count_tokens", Kind::CountTokens),
        ];
        let router = endpoints
            .into_iter()
            .fold(Router::new(), |router, (path, kind)| {
                router.route(
                    path,
                    post(move |state, request| answer(kind, state, request)),
                )
            });
        let router = router
            .route("/v1/models/{*action}", post(verb))
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
        let last = self.seen.last.lock();
        let last = last.unwrap_or_else(PoisonError::into_inner).clone();
        last.map(|(_, headers, body)| (headers, body))
    }

    /// The path of the last request, and its query.
    pub fn last_path(&self) -> Option<String> {
        let last = self.seen.last.lock();
        let last = last.unwrap_or_else(PoisonError::into_inner);
        last.as_ref().map(|(path, ..)| path.clone())
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
