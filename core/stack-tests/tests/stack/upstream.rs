//! An upstream over HTTP that does as it is told.

use std::future::IntoFuture;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::stream::{self, StreamExt};
use tokio::net::TcpListener;

/// What the upstream does with a request.
#[derive(Clone, Copy)]
pub(crate) enum Mood {
    Answers,
    Fails,
    AsksForPatience,
    DoesNotKnow,
    /// Takes the request and never answers.
    Hangs,
    /// Answers with good headers and a body that breaks off.
    BreaksItsBodies,
}

#[derive(Clone)]
pub(crate) struct Upstream(Arc<Inner>);

struct Inner {
    mood: Mutex<Mood>,
    requests: AtomicU32,
}

impl Upstream {
    /// Starts a server on a free port; it ends with the test's runtime.
    pub(crate) async fn start() -> (Self, SocketAddr) {
        let upstream = Self(Arc::new(Inner {
            mood: Mutex::new(Mood::Answers),
            requests: AtomicU32::new(0),
        }));
        let router = Router::new()
            .route("/", get(answer))
            .with_state(upstream.clone());
        (upstream, serve(router).await)
    }

    pub(crate) fn set(&self, mood: Mood) {
        *self.0.mood.lock().unwrap() = mood;
    }

    /// How many requests have arrived.
    pub(crate) fn requests(&self) -> u32 {
        self.0.requests.load(Ordering::Relaxed)
    }
}

async fn answer(State(upstream): State<Upstream>) -> Response {
    upstream.0.requests.fetch_add(1, Ordering::Relaxed);
    let mood = *upstream.0.mood.lock().unwrap();
    match mood {
        Mood::Answers => "whole".into_response(),
        Mood::Fails => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        Mood::AsksForPatience => {
            (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "25")]).into_response()
        }
        Mood::DoesNotKnow => StatusCode::NOT_FOUND.into_response(),
        Mood::Hangs => std::future::pending().await,
        Mood::BreaksItsBodies => {
            // The pause lets the headers and the first half go out.
            let breaks = async {
                tokio::task::yield_now().await;
                Err(std::io::Error::other("the upstream broke"))
            };
            let half = stream::iter([Ok(Bytes::from_static(b"ha"))]);
            let parts = half.chain(stream::once(breaks));
            Body::from_stream(parts).into_response()
        }
    }
}

/// Serves on a free port of loopback.
pub(crate) async fn serve(router: Router) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(axum::serve(listener, router).into_future());
    address
}
