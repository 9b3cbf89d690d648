//! The connections to the providers.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::tls;

/// A pool of connections to the providers, plain or TLS by the URL's scheme.
///
/// It sends what it is given and no more: it follows no redirect, adds no header but `Host` and
/// the framing, and sends a request again by itself only if nothing of it was written.
#[derive(Clone, Debug)]
pub struct Client {
    inner: hyper_util::client::legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

impl Client {
    /// An empty pool that gives up on a connection after so long, and trusts whom the world trusts.
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
        let tls = tls::connector(file).map_err(|why| format!("ca_file: {why}"))?;
        let mut http = HttpConnector::new();
        http.set_connect_timeout(Some(connect_timeout));
        http.enforce_http(false);
        http.set_nodelay(true);
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(http);
        let inner = hyper_util::client::legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_secs(30))
            .pool_max_idle_per_host(256)
            .http1_max_headers(128)
            .build(connector);
        Ok(Self { inner })
    }

    /// Sends one request.
    ///
    /// # Errors
    ///
    /// The connection could not be made, or broke before the head of an answer.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection.
    pub async fn send(
        &self,
        request: http::Request<Full<Bytes>>,
    ) -> Result<http::Response<hyper::body::Incoming>, hyper_util::client::legacy::Error> {
        self.inner.request(request).await
    }
}
