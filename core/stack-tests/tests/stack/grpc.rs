//! tonic upstream, tonic client, the layer between them.

use std::convert::Infallible;
use std::error::Error;
use std::future::{Ready, pending, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use bytes::{Buf, BufMut};
use cutout::adapters::http::GrpcStatus;
use cutout::adapters::tower::BreakerLayer;
use cutout::classify::ErrorsBy;
use cutout::{CallError, Cause, Outcome, Rejected, State};
use futures_util::stream::{self, Stream, StreamExt};
use http::uri::PathAndQuery;
use tokio::net::TcpListener;
use tonic::body::Body;
use tonic::client::GrpcService;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::server::ServerStreamingService;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Server};
use tonic::{Code, Request, Response, Status};
use tower::timeout::error::Elapsed;
use tower::{BoxError, Layer, ServiceBuilder, ServiceExt, service_fn};

use crate::{Guarded, LIMIT, WAIT};

/// Messages are text: what is in them does not matter here.
#[derive(Clone, Copy)]
struct Text;

impl Codec for Text {
    type Encode = String;
    type Decode = String;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for Text {
    type Item = String;
    type Error = Status;

    fn encode(&mut self, item: String, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        to.put(item.as_bytes());
        Ok(())
    }
}

impl Decoder for Text {
    type Item = String;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<String>, Status> {
        let message = from.copy_to_bytes(from.remaining());
        let text = String::from_utf8(message.into());
        text.map(Some)
            .map_err(|error| Status::internal(error.to_string()))
    }
}

/// What the upstream does with a call.
#[derive(Clone)]
enum Mood {
    Answers,
    /// With this status, before any message.
    Fails(Status),
    /// With this status, after two messages.
    BreaksOff(Status),
    Hangs,
}

#[derive(Clone)]
struct Upstream(Arc<Inner>);

struct Inner {
    mood: Mutex<Mood>,
    calls: AtomicU32,
}

type Messages = Pin<Box<dyn Stream<Item = Result<String, Status>> + Send>>;

impl ServerStreamingService<String> for Upstream {
    type Response = String;
    type ResponseStream = Messages;
    type Future = Ready<Result<Response<Messages>, Status>>;

    fn call(&mut self, _: Request<String>) -> Self::Future {
        self.0.calls.fetch_add(1, Ordering::Relaxed);
        let mood = self.0.mood.lock().unwrap().clone();
        let two = stream::iter(["one", "two"]).map(|message| Ok(message.to_owned()));
        let messages: Messages = match mood {
            Mood::Answers => two.boxed(),
            Mood::Fails(status) => return ready(Err(status)),
            Mood::BreaksOff(status) => two.chain(stream::iter([Err(status)])).boxed(),
            Mood::Hangs => two.take(1).chain(stream::once(pending())).boxed(),
        };
        ready(Ok(Response::new(messages)))
    }
}

impl Upstream {
    /// Starts a server, and connects to it.
    async fn start() -> (Self, Channel) {
        let upstream = Self(Arc::new(Inner {
            mood: Mutex::new(Mood::Answers),
            calls: AtomicU32::new(0),
        }));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = {
            let upstream = upstream.clone();
            service_fn(move |request: http::Request<Body>| {
                let upstream = upstream.clone();
                async move {
                    let mut server = tonic::server::Grpc::new(Text);
                    Ok::<_, Infallible>(server.server_streaming(upstream, request).await)
                }
            })
        };
        let incoming = TcpIncoming::from(listener);
        tokio::spawn(Server::builder().serve_with_incoming(service, incoming));
        let channel = Channel::from_shared(format!("http://{address}")).unwrap();
        (upstream, channel.connect().await.unwrap())
    }

    fn set(&self, mood: Mood) {
        *self.0.mood.lock().unwrap() = mood;
    }

    fn calls(&self) -> u32 {
        self.0.calls.load(Ordering::Relaxed)
    }
}

/// A client that calls through a breaker, to be cloned for each call.
macro_rules! client {
    ($guarded:expr, $channel:expr) => {{
        let errors = |error: &BoxError| match error.is::<Elapsed>() {
            true => Outcome::Timeout,
            false => Outcome::Failure,
        };
        let layer = BreakerLayer::new($guarded.breaker.clone())
            .classify(ErrorsBy::new(GrpcStatus::new(), errors))
            .through_body(GrpcStatus::new());
        let channel = ServiceBuilder::new().timeout(LIMIT).service($channel);
        // What tonic wants of an error.
        layer.layer(channel).map_err(CallError::into_boxed)
    }};
}

/// Calls and reads all messages; an error is the status that the client is told.
async fn call<S>(service: S) -> Result<usize, Status>
where
    S: GrpcService<Body>,
    S::ResponseBody: http_body::Body<Data = bytes::Bytes> + Send + 'static,
    <S::ResponseBody as http_body::Body>::Error: Into<BoxError>,
{
    let mut client = tonic::client::Grpc::new(service);
    client
        .ready()
        .await
        .map_err(|error| Status::from_error(error.into()))?;
    let path = PathAndQuery::from_static("/test.Teller/Tell");
    let request = Request::new("tell me".to_owned());
    let mut messages = client
        .server_streaming(request, path, Text)
        .await?
        .into_inner();
    let mut received = 0;
    while messages.message().await?.is_some() {
        received += 1;
    }
    Ok(received)
}

fn code(answer: Result<usize, Status>) -> Result<usize, Code> {
    answer.map_err(|status| status.code())
}

#[tokio::test]
async fn an_outage_from_end_to_end() {
    use Cause::{FailureRatio, ProbeFailed, ProbesPassed, WaitElapsed};
    use State::{Closed, HalfOpen, Open};

    let guarded = Guarded::new("upstream");
    let (upstream, channel) = Upstream::start().await;
    let client = client!(guarded, channel);
    let call = || call(client.clone());

    // All is well; a mistake of the caller's is an answer, not held against the upstream.
    assert_eq!(code(call().await), Ok(2));
    upstream.set(Mood::Fails(Status::not_found("no such thing")));
    assert_eq!(code(call().await), Err(Code::NotFound));
    assert_eq!(guarded.samples(), 2);

    // It fails before the first message and after good ones, and is left alone.
    upstream.set(Mood::Fails(Status::unavailable("down")));
    assert_eq!(code(call().await), Err(Code::Unavailable));
    assert_eq!(guarded.events(), []);
    upstream.set(Mood::BreaksOff(Status::internal("broken")));
    assert_eq!(code(call().await), Err(Code::Internal));
    assert_eq!(guarded.events(), [(Closed, Open, FailureRatio)]);
    let calls = upstream.calls();
    let status = call().await.unwrap_err();
    let rejected = status
        .source()
        .and_then(|source| source.downcast_ref::<Rejected>());
    assert_eq!(rejected.unwrap().retry_after(), Some(WAIT), "{status}");
    assert_eq!(upstream.calls(), calls);

    // A probe whose trailers tell of a failure opens it again.
    guarded.wait();
    assert_eq!(code(call().await), Err(Code::Internal));
    assert_eq!(
        guarded.events(),
        [(Open, HalfOpen, WaitElapsed), (HalfOpen, Open, ProbeFailed)]
    );

    // It recovers.
    upstream.set(Mood::Answers);
    guarded.wait();
    assert_eq!(code(call().await), Ok(2));
    assert_eq!(
        guarded.events(),
        [
            (Open, HalfOpen, WaitElapsed),
            (HalfOpen, Closed, ProbesPassed)
        ]
    );
}

#[tokio::test]
async fn a_rejection_that_was_boxed_on_its_way_is_unavailable_and_says_how_long() {
    let guarded = Guarded::new("upstream");
    let (upstream, channel) = Upstream::start().await;
    let client = ServiceBuilder::new()
        .map_result(|result: Result<http::Response<_>, BoxError>| match result {
            Ok(response) => Ok(response.map(Body::new)),
            Err(error) => error
                .downcast()
                .map(|rejected| Rejected::into_grpc(*rejected)),
        })
        .layer(
            BreakerLayer::new(guarded.breaker.clone())
                .classify(GrpcStatus::new())
                .through_body(GrpcStatus::new())
                .boxed(),
        )
        .timeout(LIMIT)
        .service(channel);
    assert_eq!(code(call(client.clone()).await), Ok(2));

    guarded.breaker.force_open(Some(WAIT), "drill");
    let status = call(client.clone()).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    let text = "circuit breaker `upstream` is forced open (operator action); retry in 10.0s";
    assert_eq!(status.message(), text);
    let pushback = status.metadata().get("grpc-retry-pushback-ms");
    assert_eq!(pushback.unwrap(), "10000");
    assert_eq!(upstream.calls(), 1);

    // The upstream's own status passes as it is.
    guarded.breaker.close("drill is over");
    upstream.set(Mood::Fails(Status::resource_exhausted("later")));
    let status = call(client).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert!(!status.metadata().contains_key("grpc-retry-pushback-ms"));
}

#[tokio::test]
async fn a_deadline_that_the_upstream_reports_is_a_timeout() {
    let guarded = Guarded::new("upstream");
    let (upstream, channel) = Upstream::start().await;
    let client = client!(guarded, channel);
    upstream.set(Mood::Fails(Status::deadline_exceeded("too late")));
    assert_eq!(code(call(client).await), Err(Code::DeadlineExceeded));
    assert_eq!(guarded.breaker.snapshot().counts().timeouts, 1);
}

#[tokio::test]
async fn a_stream_that_its_reader_leaves_is_no_failure() {
    let guarded = Guarded::new("upstream");
    let (upstream, channel) = Upstream::start().await;
    let client = client!(guarded, channel);
    upstream.set(Mood::Hangs);
    for _ in 0..4 {
        let left = tokio::time::timeout(LIMIT / 5, call(client.clone())).await;
        assert!(left.is_err());
    }
    assert_eq!(guarded.breaker.state(), State::Closed);
    assert_eq!(guarded.samples(), 0);
    assert_eq!(guarded.breaker.totals().unwrap().calls.abandoned, 4);
}
