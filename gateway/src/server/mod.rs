//! Connections: accepted one by one, bounded in number and in what each may take.

mod dashboard;
mod routes;
mod stop;

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_io_timeout::TimeoutStream;
use tower_service::Service;

pub use stop::stop_signal;

use crate::auth::Peer;
use crate::config::watch::watch;
use crate::gateway::Gateway;
use crate::{checks, metrics, webhook};

/// Serves until `stop` ends, then lets requests and streams in flight end.
///
/// A client that closes its connection, or only its half of it, is gone: its requests are
/// dropped with all that they hold.
pub async fn serve(gateway: Arc<Gateway>, listener: TcpListener, stop: impl Future<Output = ()>) {
    let settings = gateway.fleet.load().config.server.clone();
    // Ended when this function returns.
    let mut background = JoinSet::new();
    background.spawn(checks::schedule(Arc::clone(&gateway)));
    let transitions = gateway.events.subscribe();
    background.spawn(webhook::tell(Arc::clone(&gateway), transitions));
    background.spawn(follow_file(Arc::clone(&gateway)));
    background.spawn(metrics::upkeep());
    let router = routes::router(Arc::clone(&gateway));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(settings.header_timeout.get())
        .max_headers(settings.max_headers)
        .max_buf_size(settings.max_header_bytes);
    let connections = Arc::new(Semaphore::new(
        settings.max_connections.min(Semaphore::MAX_PERMITS),
    ));
    let graceful = GracefulShutdown::new();
    let mut serving = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &connections) => accepted,
            () = &mut stop => break,
        };
        let Ok((stream, peer, place)) = accepted else {
            continue;
        };
        let router = router.clone();
        let service = service_fn(move |mut request: http::Request<Incoming>| {
            request.extensions_mut().insert(Peer(peer));
            let mut router = router.clone();
            async move {
                router
                    .call(request.map(axum::body::Body::new) as Request)
                    .await
            }
        });
        // A client that takes nothing for so long is gone.
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(settings.stall_timeout.get()));
        let io = TokioIo::new(Box::pin(stream));
        let connection = graceful.watch(http.serve_connection(io, service));
        serving.spawn(async move {
            // Its errors are the client's: it went away, or it sent what is no HTTP.
            let _: Result<(), _> = connection.await;
            drop(place);
        });
        while serving.try_join_next().is_some() {}
    }
    drop(listener);
    gateway.drain();
    tracing::info!("stopping: no new connections, waiting for what is in flight");
    if tokio::time::timeout(settings.drain_timeout.get(), graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("some requests did not end in time and are cut off");
        serving.shutdown().await;
    }
    gateway.store.close();
}

async fn follow_file(gateway: Arc<Gateway>) {
    let Some(path) = gateway.path.clone() else {
        return;
    };
    let reload = |anew| {
        let gateway = Arc::clone(&gateway);
        tokio::task::spawn_blocking(move || gateway.reload(anew));
    };
    watch(&path, reload).await;
}

type Accepted = (
    tokio::net::TcpStream,
    std::net::SocketAddr,
    tokio::sync::OwnedSemaphorePermit,
);

/// The next connection, once there is a place for it.
async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> std::io::Result<Accepted> {
    let place = Arc::clone(places)
        .acquire_owned()
        .await
        .map_err(std::io::Error::other)?;
    match listener.accept().await {
        Ok((stream, peer)) => {
            let _ = stream.set_nodelay(true);
            Ok((stream, peer, place))
        }
        Err(error) => {
            // Out of file descriptors, as a rule: give some time to come free.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            Err(error)
        }
    }
}

const _: fn() = || {
    fn infallible<S: Service<Request, Error = Infallible>>() {}
    infallible::<axum::Router>();
};
