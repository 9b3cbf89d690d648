//! The connections to the providers.

mod connector;
mod proxies;

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use self::connector::Connector;
pub(crate) use self::connector::ProxyError;
use self::proxies::Proxies;
use crate::config;
use crate::tls;

type Pool = hyper_util::client::legacy::Client<HttpsConnector<Connector>, Full<Bytes>>;

/// How many requests share one HTTP/2 connection. Servers refuse or hold back what is beyond a number of their own, which is
/// seldom less.
const TOGETHER: usize = 100;

/// How many pools there are at most.
const POOLS: usize = 64;

/// What may be on its way to a request of an HTTP/2 connection unread, in bytes.
const WINDOW: u32 = 256 << 10;

/// How long an HTTP/2 connection may be silent before it is asked whether it lives, and then to answer.
const PING: Duration = Duration::from_secs(30);

/// A pool of connections to the providers, plain or TLS by the URL's scheme; HTTP/2 where TLS agrees on it.
///
/// It sends what it is given and no more: it follows no redirect, adds no header but `Host` and
/// the framing, and sends a request again by itself only if nothing of it was written.
#[derive(Clone, Debug)]
pub struct Client {
    lanes: Arc<[Lane]>,
}

/// A pool, and the room on its HTTP/2 connection.
#[derive(Debug)]
struct Lane {
    pool: Pool,
    room: Arc<Semaphore>,
}

/// The body of an answer. Dropping it before its end closes its connection, or ends its stream of one that others use too.
#[derive(Debug)]
pub struct Received {
    body: Incoming,
    _room: Option<OwnedSemaphorePermit>,
}

impl Client {
    /// An empty pool that gives up on a connection after so long, trusts whom the world trusts, and uses no proxy.
    pub fn new(connect_timeout: Duration) -> Self {
        match Self::trusting(connect_timeout, None) {
            Ok(client) => client,
            Err(error) => unreachable!("ring has the ciphers of TLS 1.2 and 1.3: {error}"),
        }
    }

    /// As [`new`](Self::new), and it trusts the authorities whose certificates are in this file too.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has no certificate, or one that is none.
    pub fn trusting(connect_timeout: Duration, file: Option<&Path>) -> Result<Self, String> {
        Self::build(connect_timeout, file, Proxies::Nobody, TOGETHER)
    }

    /// As [`new`](Self::new), through the proxies that the environment names.
    ///
    /// # Errors
    ///
    /// One of them cannot be used.
    pub(crate) fn from_environment(connect_timeout: Duration) -> Result<Self, String> {
        Self::build(connect_timeout, None, Proxies::new(None)?, TOGETHER)
    }

    /// As a provider's settings have it.
    ///
    /// # Errors
    ///
    /// The file of its authorities, or its proxy, cannot be used: the field, and why.
    pub(crate) fn of(provider: &config::Provider) -> Result<Self, (&'static str, String)> {
        let (limit, file) = (provider.limits.connect.get(), provider.ca_file.as_deref());
        let proxies = Proxies::new(provider.proxy.as_ref()).map_err(|why| ("proxy", why))?;
        Self::build(limit, file, proxies, provider.max_in_flight).map_err(|why| ("ca_file", why))
    }

    fn build(
        connect_timeout: Duration,
        file: Option<&Path>,
        proxies: Proxies,
        requests: usize,
    ) -> Result<Self, String> {
        let tls = tls::connector(file)?;
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .enable_http2()
            .wrap_connector(Connector::new(connect_timeout, proxies));
        let pool = || {
            hyper_util::client::legacy::Client::builder(TokioExecutor::new())
                .timer(TokioTimer::new())
                .pool_timer(TokioTimer::new())
                .pool_idle_timeout(Duration::from_secs(30))
                .pool_max_idle_per_host(256)
                .http1_max_headers(128)
                .http2_initial_stream_window_size(WINDOW)
                // So that answers which are not read hold back no other.
                .http2_initial_connection_window_size(WINDOW * TOGETHER as u32)
                .http2_keep_alive_interval(PING)
                .http2_keep_alive_timeout(PING)
                .build(connector.clone())
        };
        let lanes = (0..requests.div_ceil(TOGETHER).clamp(1, POOLS)).map(|_| Lane {
            pool: pool(),
            room: Arc::new(Semaphore::new(TOGETHER)),
        });
        Ok(Self {
            lanes: lanes.collect(),
        })
    }

    /// Sends one request.
    ///
    /// # Errors
    ///
    /// The connection could not be made, or broke before the head of an answer.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection, or ends the request's stream of one that others use too.
    pub async fn send(
        &self,
        request: http::Request<Full<Bytes>>,
    ) -> Result<http::Response<Received>, hyper_util::client::legacy::Error> {
        let (pool, room) = self.lane();
        let answer = pool.request(request).await?;
        Ok(answer.map(|body| Received { body, _room: room }))
    }

    /// The first pool with room, so that few connections are used; when none has any, the last.
    fn lane(&self) -> (&Pool, Option<OwnedSemaphorePermit>) {
        let mut lanes = self.lanes.iter().map(|lane| {
            let room = Arc::clone(&lane.room).try_acquire_owned().ok();
            (&lane.pool, room)
        });
        let last = self.lanes.len() - 1;
        let free = lanes.find(|(_, room)| room.is_some());
        free.unwrap_or_else(|| (&self.lanes[last].pool, None))
    }
}

impl Body for Received {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
