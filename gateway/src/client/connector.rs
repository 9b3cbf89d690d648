//! How a connection is made: straight, or through a proxy by CONNECT.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::uri::{Authority, Scheme};
use http::{Request, StatusCode, Uri, header};
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower_service::Service;

use super::proxies::{Proxies, ProxyAt};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Makes connections.
#[derive(Clone, Debug)]
pub(super) struct Connector {
    http: HttpConnector,
    proxies: Arc<Proxies>,
    limit: Duration,
}

/// What a proxy did in place of making a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProxyError {
    /// Where it is; never with its credentials.
    proxy: Authority,
    /// The status with which it refused; none if it could not be asked.
    pub(crate) status: Option<StatusCode>,
    why: String,
}

impl std::fmt::Display for ProxyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the proxy {}: {}", self.proxy, self.why)
    }
}

impl std::error::Error for ProxyError {}

impl Connector {
    /// Gives up after so long, through a proxy too.
    pub(super) fn new(limit: Duration, proxies: Proxies) -> Self {
        let mut http = HttpConnector::new();
        http.set_connect_timeout(Some(limit));
        http.enforce_http(false);
        http.set_nodelay(true);
        Self {
            http,
            proxies: Arc::new(proxies),
            limit,
        }
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<TcpStream>;
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Failure>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.http.poll_ready(context).map_err(Failure::from)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let mut http = self.http.clone();
        let (proxy, limit) = (self.proxies.of(&to), self.limit);
        Box::pin(async move {
            let Some(proxy) = proxy else {
                return http.call(to).await.map_err(Failure::from);
            };
            match timeout(limit, through(http, &proxy, &to)).await {
                Ok(made) => made.map_err(Failure::from),
                Err(_) => Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()),
            }
        })
    }
}

/// A connection to an address that a proxy has made.
async fn through(
    mut http: HttpConnector,
    proxy: &ProxyAt,
    to: &Uri,
) -> Result<TokioIo<TcpStream>, ProxyError> {
    let failed = |status, why: String| ProxyError {
        proxy: proxy.host.clone(),
        status,
        why,
    };
    let broke = |error: hyper::Error| failed(None, format!("the connection to it broke ({error})"));
    let stream = http.call(proxy.uri.clone()).await;
    let stream = stream.map_err(|error| failed(None, format!("it cannot be reached ({error})")))?;
    let (mut sender, connection) = http1::handshake(stream).await.map_err(broke)?;
    // Ends when the tunnel is made, or when `sender` is gone.
    tokio::spawn(connection.with_upgrades());
    let request = connect(proxy, to).map_err(|error| failed(None, error.to_string()))?;
    let answer = sender.send_request(request).await.map_err(broke)?;
    let status = answer.status();
    if !status.is_success() {
        let why = match status {
            StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
                "it wants a user and a password, or others than it was shown"
            }
            _ => "it refused to connect",
        };
        return Err(failed(Some(status), format!("{why} (status {status})")));
    }
    let tunnel = hyper::upgrade::on(answer).await.map_err(broke)?;
    match tunnel.downcast::<TokioIo<TcpStream>>() {
        // Who is called does not speak first.
        Ok(parts) if parts.read_buf.is_empty() => Ok(parts.io),
        _ => Err(failed(
            None,
            "it said more than that it has connected".to_owned(),
        )),
    }
}

fn connect(proxy: &ProxyAt, to: &Uri) -> Result<Request<Empty<Bytes>>, http::Error> {
    let port = to
        .port_u16()
        .unwrap_or(if to.scheme() == Some(&Scheme::HTTPS) {
            443
        } else {
            80
        });
    let target = format!("{}:{port}", to.host().unwrap_or_default());
    let mut request = Request::connect(&target).header(header::HOST, &target);
    if let Some(credentials) = &proxy.credentials {
        request = request.header(header::PROXY_AUTHORIZATION, credentials);
    }
    request.body(Empty::new())
}
