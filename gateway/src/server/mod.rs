//! Connections: accepted one by one, bounded in number and in what each may take.

mod connections;
mod dashboard;
mod models;
mod routes;
mod stop;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_io_timeout::TimeoutStream;

pub use stop::stop_signal;

use self::connections::{Connections, Requests, Spare};
use self::routes::Paths;
use crate::auth::Peer;
use crate::config::watch::watch;
use crate::dialect::{ApiError, Dialect};
use crate::gateway::Gateway;
use crate::{checks, metrics, webhook};

/// Where connections come from.
pub trait Listener {
    /// The next connection, and the address at its other end.
    ///
    /// # Errors
    ///
    /// Those of the operating system. It is asked again soon.
    fn accept(&self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> + Send;
}

impl Listener for TcpListener {
    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        Self::accept(self).await
    }
}

/// Serves until `stop` ends, then lets requests and streams in flight end.
///
/// A client that closes its connection, or only its half of it, is gone: its requests are
/// dropped with all that they hold.
pub async fn serve(gateway: Arc<Gateway>, listener: impl Listener, stop: impl Future<Output = ()>) {
    let settings = gateway.fleet.load().config.server.clone();
    // Ended when this function returns.
    let mut background = JoinSet::new();
    background.spawn(checks::schedule(Arc::clone(&gateway)));
    let transitions = gateway.events.subscribe();
    background.spawn(webhook::tell(Arc::clone(&gateway), transitions));
    background.spawn(follow_file(Arc::clone(&gateway)));
    background.spawn(metrics::upkeep());
    let paths = Paths::new(&gateway);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(settings.header_timeout.get())
        .max_headers(settings.max_headers)
        .max_buf_size(settings.max_header_bytes);
    let connections = Connections::new(settings.max_connections);
    let graceful = GracefulShutdown::new();
    let mut serving = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = async {
            let (stream, peer) = accept(&listener).await;
            (stream, peer, connections.place().await)
        };
        let (stream, peer, place) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut stop => break,
        };
        let paths = paths.clone();
        let (requests, is_spare) = (place.requests(), place.is_spare);
        let most = settings.max_header_bytes;
        let service = service_fn(move |request: http::Request<Incoming>| {
            let (paths, requests) = (paths.clone(), requests.clone());
            async move {
                Ok::<_, Infallible>(answer(paths, requests, peer, is_spare, most, request).await)
            }
        });
        // A client that takes nothing for so long is gone.
        let mut stream = TimeoutStream::new(stream);
        let stall = gateway.fleet.load().config.server.stall_timeout.get();
        stream.set_write_timeout(Some(stall));
        let stream = Box::pin(stream);
        let (http, watcher) = (http.clone(), graceful.watcher());
        let tls = gateway.fleet.load().tls.clone();
        let patience = settings.header_timeout.get();
        serving.spawn(async move {
            let connection = async {
                // Its errors are the client's: it went away, or it sent what is no HTTP, or no TLS.
                let _ = match tls {
                    None => {
                        watcher
                            .watch(http.serve_connection(TokioIo::new(stream), service))
                            .await
                    }
                    Some(tls) => match timeout(patience, tls.0.accept(stream)).await {
                        Ok(Ok(stream)) => {
                            watcher
                                .watch(http.serve_connection(TokioIo::new(stream), service))
                                .await
                        }
                        _ => return,
                    },
                };
            };
            tokio::select! {
                () = connection => {}
                () = place.leaves() => {}
            }
        });
        while serving.try_join_next().is_some() {}
    }
    drop(listener);
    gateway.drain();
    tracing::info!("stopping: no new connections, waiting for what is in flight");
    if timeout(settings.drain_timeout.get(), graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("some requests did not end in time and are cut off");
        serving.shutdown().await;
    }
    gateway.store.close();
    gateway.requests.log.close();
}

async fn answer(
    paths: Paths,
    requests: Requests,
    peer: SocketAddr,
    is_spare: bool,
    most: usize,
    request: http::Request<Incoming>,
) -> Response {
    let Some(in_flight) = requests.begin() else {
        // The connection is about to be closed; nothing was done for this request.
        return std::future::pending().await;
    };
    if head_bytes(&request) > most {
        let message = format!(
            "the request's head is larger than {most} bytes: send less, or raise server.max_header_bytes"
        );
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        let error = ApiError::invalid(status, "head_too_large", message);
        let response = error.to_response(Dialect::of_request(request.uri(), request.headers()));
        return response.map(|body| in_flight.hold(body));
    }
    let mut request: Request = request.map(Body::new);
    request.extensions_mut().insert(Peer(peer));
    if is_spare {
        request.extensions_mut().insert(Spare);
    }
    let mut response = paths.answer(request).await;
    if is_spare {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    response.map(|body| in_flight.hold(body))
}

/// The bytes of a request's head. What comes in one piece is read as one, however long it is, so it is counted here.
fn head_bytes(request: &http::Request<Incoming>) -> usize {
    // A line ends with two bytes; a colon and a space stand between name and value.
    let fields = request.headers().iter();
    let fields = fields.map(|(name, value)| name.as_str().len() + value.len() + 4);
    let target = request.uri().path_and_query();
    fields.sum::<usize>() + target.map_or(0, |target| target.as_str().len())
}

async fn follow_file(gateway: Arc<Gateway>) {
    let Some(path) = gateway.path.clone() else {
        return;
    };
    let reload = |anew| {
        let gateway = Arc::clone(&gateway);
        async move {
            let reload = tokio::task::spawn_blocking(move || gateway.reload(anew));
            // A reload that panicked has said so; the next one is another.
            let _ = reload.await;
        }
    };
    watch(&path, reload).await;
}

/// The next connection.
async fn accept(listener: &impl Listener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let _ = stream.set_nodelay(true);
                return (stream, peer);
            }
            // Out of file descriptors, as a rule: give some time to come free.
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
        }
    }
}
