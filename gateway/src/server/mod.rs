//! Connections: accepted one by one, bounded in number and in what each may take.

mod connection;
mod connections;
mod dashboard;
mod entrance;
mod models;
mod ready;
mod routes;
mod stop;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

pub use stop::stop_signal;

use self::connection::Serving;
use self::connections::Connections;
use self::routes::Paths;
use crate::config;
use crate::gateway::Gateway;
use crate::{checks, metrics, refused_keys, webhook};

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
    background.spawn(refused_keys::follow(Arc::clone(&gateway)));
    let (stopped, stopping) = watch::channel(false);
    let shared = Serving::new(&settings, Paths::new(&gateway), stopping);
    let connections = Connections::new(settings.max_connections);
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
        let fleet = gateway.fleet.load();
        let tls = fleet.tls.as_ref().map(|tls| tls.0.clone());
        let stall = fleet.config.server.stall_timeout.get();
        serving.spawn(shared.clone().serve(stream, peer, place, tls, stall));
        while serving.try_join_next().is_some() {}
    }
    drop(listener);
    gateway.drain();
    tracing::info!("stopping: no new connections, waiting for what is in flight");
    let _ = stopped.send(true);
    let ended = async { while serving.join_next().await.is_some() {} };
    if timeout(settings.drain_timeout.get(), ended).await.is_err() {
        tracing::warn!("some requests did not end in time and are cut off");
        serving.shutdown().await;
    }
    gateway.store.close();
    gateway.requests.log.close();
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
    config::watch::watch(&path, reload).await;
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
