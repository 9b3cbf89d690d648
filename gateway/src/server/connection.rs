//! One connection, from its first byte to its end: HTTP/1.1 or HTTP/2, as the client has it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::{HeaderValue, StatusCode, Version, header};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;

use super::connections::{Place, Requests, Spare};
use super::routes::Paths;
use crate::auth::Peer;
use crate::config::Server;
use crate::dialect::{ApiError, Dialect};

/// How long an HTTP/2 connection may be silent before it is asked whether it lives, and then to answer.
const PING: Duration = Duration::from_secs(30);

/// How long a client may take to hear that its unused connection ends.
const GOODBYE: Duration = Duration::from_secs(1);

/// What all connections share.
#[derive(Clone)]
pub(super) struct Serving {
    http: Builder<TokioExecutor>,
    paths: Paths,
    limits: Limits,
    /// Told when no more requests are to be taken.
    stop: watch::Receiver<bool>,
}

/// What one connection may take.
#[derive(Clone, Copy)]
struct Limits {
    header_bytes: usize,
    headers: usize,
    /// For a TLS handshake, for a head, and between two requests.
    unused: Duration,
}

impl Serving {
    pub(super) fn new(settings: &Server, paths: Paths, stop: watch::Receiver<bool>) -> Self {
        let limits = Limits {
            header_bytes: settings.max_header_bytes,
            headers: settings.max_headers,
            unused: settings.header_timeout.get(),
        };
        let mut http = Builder::new(TokioExecutor::new());
        http.http1()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.unused)
            .max_headers(limits.headers)
            .max_buf_size(limits.header_bytes);
        http.http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(PING)
            .keep_alive_timeout(PING)
            // It counts 32 bytes for each field besides; what is exact is counted below.
            .max_header_list_size(saturated(limits.header_bytes + 32 * (limits.headers + 8)));
        Self {
            http,
            paths,
            limits,
            stop,
        }
    }

    /// Serves a connection that has been accepted. Its errors are the client's: it went away, or it sent what is no HTTP, or no TLS.
    pub(super) async fn serve(
        self,
        stream: TcpStream,
        peer: SocketAddr,
        place: Place,
        tls: Option<TlsAcceptor>,
        stall: Duration,
    ) {
        // A client that takes nothing for so long is gone.
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(stall));
        let stream = Box::pin(stream);
        let connection = async {
            let Some(tls) = tls else {
                return self.carry(stream, peer, &place).await;
            };
            if let Ok(Ok(stream)) = timeout(self.limits.unused, tls.accept(stream)).await {
                self.carry(stream, peer, &place).await;
            }
        };
        tokio::select! {
            () = connection => {}
            () = place.leaves() => {}
        }
    }

    async fn carry(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        peer: SocketAddr,
        place: &Place,
    ) {
        let (paths, requests) = (&self.paths, place.requests());
        let (is_spare, limits) = (place.is_spare, self.limits);
        let service = service_fn(move |request: http::Request<Incoming>| {
            let (paths, requests) = (paths.clone(), requests.clone());
            async move {
                Ok::<_, Infallible>(answer(paths, requests, peer, is_spare, limits, request).await)
            }
        });
        let mut connection = pin!(self.http.serve_connection(TokioIo::new(stream), service));
        let mut stop = self.stop.clone();
        let stops = async {
            let _ = stop.wait_for(|stop| *stop).await;
        };
        tokio::select! {
            _ = &mut connection => return,
            () = stops => connection.as_mut().graceful_shutdown(),
            () = place.is_done() => connection.as_mut().graceful_shutdown(),
            () = place.is_unused_for(self.limits.unused) => {
                connection.as_mut().graceful_shutdown();
                let _ = timeout(GOODBYE, connection).await;
                return;
            }
        }
        let _ = connection.await;
    }
}

fn saturated(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

async fn answer(
    paths: Paths,
    requests: Requests,
    peer: SocketAddr,
    is_spare: bool,
    limits: Limits,
    request: http::Request<Incoming>,
) -> Response {
    let Some(in_flight) = requests.begin() else {
        // The connection is about to be closed; nothing was done for this request.
        return std::future::pending().await;
    };
    if let Some(message) = too_large(&request, limits) {
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        let error = ApiError::invalid(status, "head_too_large", message);
        let response = error.to_response(Dialect::of_request(request.uri(), request.headers()));
        return response.map(|body| in_flight.hold(body));
    }
    let version = request.version();
    let mut request: Request = request.map(Body::new);
    name_host(&mut request);
    request.extensions_mut().insert(Peer(peer));
    if is_spare {
        request.extensions_mut().insert(Spare);
    }
    let mut response = paths.answer(request).await;
    if is_spare && version < Version::HTTP_2 {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    response.map(|body| in_flight.hold(body))
}

/// HTTP/2 names the host beside the headers. It stands among them too from here on, so that all look for it in one place.
fn name_host(request: &mut Request) {
    let authority = request
        .uri()
        .authority()
        .map(|authority| HeaderValue::try_from(authority.as_str()));
    if let (Version::HTTP_2, Some(Ok(host))) = (request.version(), authority) {
        request.headers_mut().entry(header::HOST).or_insert(host);
    }
}

/// What is too much in a request's head. What comes in one piece is read as one, however long it is, so its bytes are counted
/// here; so are the fields, whose number HTTP/2 does not limit.
fn too_large(request: &http::Request<Incoming>, limits: Limits) -> Option<String> {
    let Limits {
        header_bytes,
        headers,
        ..
    } = limits;
    if request.headers().len() > headers {
        return Some(format!(
            "the request's head has more than {headers} fields: send fewer, or raise server.max_headers"
        ));
    }
    // A line ends with two bytes; a colon and a space stand between name and value.
    let fields = request.headers().iter();
    let fields = fields.map(|(name, value)| name.as_str().len() + value.len() + 4);
    let target = request.uri().path_and_query();
    let bytes = fields.sum::<usize>() + target.map_or(0, |target| target.as_str().len());
    (bytes > header_bytes).then(|| {
        format!(
            "the request's head is larger than {header_bytes} bytes: send less, or raise server.max_header_bytes"
        )
    })
}
