//! axum upstream, hyper client, the layer between them.

use std::error::Error;
use std::net::SocketAddr;

use bytes::Bytes;
use cutout::adapters::http::HttpStatus;
use cutout::adapters::tower::BreakerLayer;
use cutout::classify::ErrorsBy;
use cutout::{CallError, Cause, Outcome, Rejected, State};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tower::timeout::error::Elapsed;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Layer, ServiceBuilder, ServiceExt};

use crate::upstream::{Mood, Upstream};
use crate::{Guarded, LIMIT, WAIT};

type Page = axum::body::Body;

/// A client that calls through a breaker.
#[derive(Clone)]
pub(crate) struct Caller {
    service: BoxCloneSyncService<Request<Empty<Bytes>>, Response<Page>, CallError<BoxError>>,
    address: SocketAddr,
}

/// How a call ended, its body read to the end.
#[derive(Debug)]
enum Answer {
    Whole(StatusCode, Bytes),
    Broken,
    Failed,
    TimedOut,
    Rejected(Rejected),
}

impl Caller {
    /// The breaker is outside the timeout, so it knows of timeouts, and hands its permit on to
    /// bodies.
    pub(crate) fn new(guarded: &Guarded, address: SocketAddr) -> Self {
        let errors = |error: &BoxError| match error.is::<Elapsed>() {
            true => Outcome::Timeout,
            false => Outcome::Failure,
        };
        let layer = BreakerLayer::new(guarded.breaker.clone())
            .classify(ErrorsBy::new(HttpStatus::new(), errors))
            .through_body(HttpStatus::new());
        let client = ServiceBuilder::new()
            .timeout(LIMIT)
            .service(Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>());
        let service = layer
            .layer(client)
            .map_response(|response: Response<_>| response.map(Page::new));
        Self {
            service: BoxCloneSyncService::new(service),
            address,
        }
    }

    async fn call(&self) -> Answer {
        match self.service.clone().oneshot(get_from(self.address)).await {
            Ok(response) => {
                let status = response.status();
                match response.into_body().collect().await {
                    Ok(body) => Answer::Whole(status, body.to_bytes()),
                    Err(_) => Answer::Broken,
                }
            }
            Err(CallError::Rejected(rejected)) => Answer::Rejected(rejected),
            Err(CallError::Inner(error)) if error.is::<Elapsed>() => Answer::TimedOut,
            Err(CallError::Inner(error)) => {
                let error: &(dyn Error + 'static) = &*error;
                assert!(error.is::<hyper_util::client::legacy::Error>(), "{error}");
                Answer::Failed
            }
        }
    }

    async fn call_well(&self) {
        let answer = self.call().await;
        assert!(
            matches!(&answer, Answer::Whole(StatusCode::OK, body) if body == "whole"),
            "{answer:?}"
        );
    }
}

fn get_from(address: SocketAddr) -> Request<Empty<Bytes>> {
    Request::get(format!("http://{address}/"))
        .body(Empty::new())
        .unwrap()
}

/// The whole story of an upstream that goes down in every way and comes back.
pub(crate) async fn story(guarded: &Guarded, upstream: &Upstream, caller: &Caller) {
    use Cause::{FailureRatio, ProbeFailed, ProbeTimedOut, ProbesPassed, WaitElapsed};
    use State::{Closed, HalfOpen, Open};

    // All is well; what the caller asks wrong is an answer, not held against the upstream.
    for _ in 0..3 {
        caller.call_well().await;
    }
    upstream.set(Mood::DoesNotKnow);
    assert!(matches!(
        caller.call().await,
        Answer::Whole(StatusCode::NOT_FOUND, _)
    ));
    assert_eq!(guarded.samples(), 4);

    // It fails, and is left alone.
    upstream.set(Mood::Fails);
    for _ in 0..4 {
        let answer = caller.call().await;
        assert!(
            matches!(answer, Answer::Whole(StatusCode::INTERNAL_SERVER_ERROR, _)),
            "{answer:?}"
        );
    }
    assert_eq!(guarded.events(), [(Closed, Open, FailureRatio)]);
    let requests = upstream.requests();
    for _ in 0..3 {
        let answer = caller.call().await;
        assert!(
            matches!(answer, Answer::Rejected(rejected) if rejected.retry_after() == Some(WAIT)),
            "{answer:?}"
        );
    }
    assert_eq!(upstream.requests(), requests);

    // A probe finds that it hangs, the next one that its bodies break.
    upstream.set(Mood::Hangs);
    guarded.wait();
    assert!(matches!(caller.call().await, Answer::TimedOut));
    assert_eq!(
        guarded.events(),
        [
            (Open, HalfOpen, WaitElapsed),
            (HalfOpen, Open, ProbeTimedOut)
        ]
    );
    upstream.set(Mood::BreaksItsBodies);
    guarded.wait();
    assert!(matches!(caller.call().await, Answer::Broken));
    assert_eq!(
        guarded.events(),
        [(Open, HalfOpen, WaitElapsed), (HalfOpen, Open, ProbeFailed)]
    );

    // It recovers. A probe is only judged when its body has ended.
    upstream.set(Mood::Answers);
    guarded.wait();
    caller.call_well().await;
    assert_eq!(
        guarded.events(),
        [
            (Open, HalfOpen, WaitElapsed),
            (HalfOpen, Closed, ProbesPassed)
        ]
    );
    assert_eq!(guarded.samples(), 0);
    caller.call_well().await;
    assert_eq!(guarded.samples(), 1);
}

#[tokio::test]
async fn an_outage_from_end_to_end() {
    let guarded = Guarded::new("upstream");
    let (upstream, address) = Upstream::start().await;
    let caller = Caller::new(&guarded, address);
    story(&guarded, &upstream, &caller).await;
}

#[tokio::test]
async fn bodies_that_break_after_good_headers_open_the_breaker() {
    let guarded = Guarded::new("upstream");
    let (upstream, address) = Upstream::start().await;
    let caller = Caller::new(&guarded, address);
    upstream.set(Mood::BreaksItsBodies);
    for _ in 0..4 {
        assert!(matches!(caller.call().await, Answer::Broken));
    }
    assert_eq!(
        guarded.events(),
        [(State::Closed, State::Open, Cause::FailureRatio)]
    );
}

#[tokio::test]
async fn timeouts_open_the_breaker() {
    let guarded = Guarded::new("upstream");
    let (upstream, address) = Upstream::start().await;
    let caller = Caller::new(&guarded, address);
    upstream.set(Mood::Hangs);
    let calls = (0..4).map(|_| caller.call());
    for answer in futures_util::future::join_all(calls).await {
        assert!(matches!(answer, Answer::TimedOut));
    }
    assert_eq!(guarded.breaker.state(), State::Open);
    assert_eq!(guarded.breaker.totals().unwrap().calls.timeout, 4);
}

#[tokio::test]
async fn an_upstream_that_is_gone_opens_the_breaker() {
    let guarded = Guarded::new("upstream");
    // Nobody listens on a port that was just given back.
    let gone = std::net::TcpListener::bind(("127.0.0.1", 0))
        .unwrap()
        .local_addr()
        .unwrap();
    let caller = Caller::new(&guarded, gone);
    for _ in 0..4 {
        assert!(matches!(caller.call().await, Answer::Failed));
    }
    assert_eq!(
        guarded.events(),
        [(State::Closed, State::Open, Cause::FailureRatio)]
    );
}

#[tokio::test]
async fn the_upstreams_own_wait_is_kept() {
    let guarded = Guarded::new("upstream");
    let (upstream, address) = Upstream::start().await;
    let caller = Caller::new(&guarded, address);
    upstream.set(Mood::AsksForPatience);
    for _ in 0..4 {
        assert!(matches!(
            caller.call().await,
            Answer::Whole(StatusCode::TOO_MANY_REQUESTS, _)
        ));
    }
    let Answer::Rejected(rejected) = caller.call().await else {
        panic!("it is open");
    };
    assert_eq!(rejected.retry_after().unwrap().as_secs(), 25);
}

#[tokio::test]
async fn clients_that_hang_up_are_no_failures() {
    let guarded = Guarded::new("upstream");
    let (upstream, address) = Upstream::start().await;
    let caller = Caller::new(&guarded, address);
    upstream.set(Mood::Hangs);
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let caller = caller.clone();
            tokio::spawn(async move { caller.call().await })
        })
        .collect();
    // All of them have reached the upstream.
    let arrived = async {
        while upstream.requests() < 20 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, arrived).await.unwrap();
    for call in calls {
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
    }
    assert_eq!(guarded.breaker.state(), State::Closed);
    assert_eq!(guarded.samples(), 0);
    assert_eq!(guarded.breaker.totals().unwrap().calls.abandoned, 20);
}

#[tokio::test]
async fn a_server_answers_rejected_calls_with_a_503() {
    let guarded = Guarded::new("upstream");
    guarded.breaker.force_open(Some(WAIT), "maintenance");
    let (_, upstream) = Upstream::start().await;
    let upstream = Caller::new(&guarded, upstream);
    // A server whose handler calls the upstream through the breaker.
    let handler = move || {
        let upstream = upstream.clone();
        async move {
            let result = upstream.service.oneshot(get_from(upstream.address)).await;
            let response = result.or_else(CallError::answer);
            response.map_err(|_| StatusCode::BAD_GATEWAY)
        }
    };
    let front =
        crate::upstream::serve(axum::Router::new().route("/", axum::routing::get(handler))).await;
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    let response = client
        .get(format!("http://{front}/").parse().unwrap())
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response.headers()["retry-after"], "10");
}
