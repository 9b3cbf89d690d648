//! HTTP bodies that carry a permit, alone and behind the layer.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use cutout::adapters::body::{BodyError, GuardedBody, Limits};
use cutout::adapters::http::{GrpcStatus, HttpStatus};
use cutout::adapters::tower::BreakerLayer;
use cutout::{Breaker, Builder, ManualClock, Outcome, OwnedPermit, Settled, State};
use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use tower::{Layer, Service, ServiceExt};

/// A breaker that opens at the third failure in a row.
fn breaker() -> Arc<Breaker<ManualClock>> {
    Arc::new(
        Builder::new(ManualClock::new())
            .consecutive_failures(3)
            .build()
            .unwrap(),
    )
}

fn permit(breaker: &Arc<Breaker<ManualClock>>) -> OwnedPermit<ManualClock> {
    breaker.allow_owned().unwrap()
}

/// What a breaker has recorded, and how often: a permit that settled twice would show.
fn recorded(breaker: &Breaker<ManualClock>) -> Vec<Outcome> {
    let samples = breaker.snapshot().samples;
    samples.iter().map(|sample| sample.outcome).collect()
}

/// A body of these frames.
#[derive(Clone, Debug, Default)]
struct Frames {
    frames: VecDeque<Part>,
    /// Whether it says that it has ended before it is asked for more.
    foresees_its_end: bool,
}

#[derive(Clone, Debug)]
enum Part {
    Data,
    Trailers(&'static str),
    Broken,
    Never,
}

fn frames<const N: usize>(frames: [Part; N]) -> Frames {
    Frames {
        frames: frames.into(),
        foresees_its_end: false,
    }
}

impl Body for Frames {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        if let Some(Part::Never) = self.frames.front() {
            return Poll::Pending;
        }
        Poll::Ready(self.frames.pop_front().map(|part| match part {
            Part::Data => Ok(Frame::data(Bytes::from_static(b"data"))),
            Part::Trailers(status) => {
                let mut trailers = HeaderMap::new();
                trailers.insert("grpc-status", HeaderValue::from_static(status));
                Ok(Frame::trailers(trailers))
            }
            Part::Broken | Part::Never => Err("reset"),
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.foresees_its_end && self.frames.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(4 * self.frames.len() as u64)
    }
}

type Next<B> = Option<Result<Frame<<B as Body>::Data>, <B as Body>::Error>>;

fn poll<B: Body + Unpin>(body: &mut B) -> Poll<Next<B>> {
    Pin::new(body).poll_frame(&mut Context::from_waker(Waker::noop()))
}

fn read_to_end(body: impl Body<Error = &'static str>) -> Result<(), &'static str> {
    body.collect().now_or_never().unwrap().map(drop)
}

#[test]
fn a_clean_end_is_one_success_however_often_it_is_polled() {
    let breaker = breaker();
    let mut body = GuardedBody::new(frames([Part::Data, Part::Data]), permit(&breaker));
    for _ in 0..2 {
        assert!(matches!(poll(&mut body), Poll::Ready(Some(Ok(_)))));
        assert_eq!(recorded(&breaker), []);
    }
    for _ in 0..3 {
        assert!(matches!(poll(&mut body), Poll::Ready(None)));
    }
    drop(body);
    assert_eq!(recorded(&breaker), [Outcome::Success]);
}

#[test]
fn a_body_that_foresees_its_end_is_a_success_at_its_last_frame() {
    let breaker = breaker();
    let known = Frames {
        foresees_its_end: true,
        ..frames([Part::Data])
    };
    let mut body = GuardedBody::new(known, permit(&breaker));
    assert!(!body.is_end_stream());
    assert!(poll(&mut body).is_ready());
    assert!(body.is_end_stream(), "so nobody asks again");
    drop(body);
    assert_eq!(recorded(&breaker), [Outcome::Success]);
}

#[test]
fn an_empty_body_is_a_success_at_once() {
    let breaker = breaker();
    let empty = Frames {
        foresees_its_end: true,
        ..frames([])
    };
    assert!(GuardedBody::new(empty, permit(&breaker)).is_settled());
    assert_eq!(recorded(&breaker), [Outcome::Success]);
}

#[test]
fn a_body_that_breaks_is_one_failure() {
    let breaker = breaker();
    let body = frames([Part::Data, Part::Broken, Part::Broken]);
    let mut body = GuardedBody::new(body, permit(&breaker));
    for _ in 0..4 {
        assert!(poll(&mut body).is_ready());
    }
    assert_eq!(recorded(&breaker), [Outcome::Failure]);
}

#[test]
fn a_body_that_is_dropped_early_is_ignored() {
    let breaker = breaker();
    let mut body = GuardedBody::new(frames([Part::Data, Part::Data]), permit(&breaker));
    assert!(poll(&mut body).is_ready());
    drop(body);
    assert_eq!(recorded(&breaker), []);
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn trailers_with_a_grpc_status_are_judged_by_it() {
    for (status, expected) in [
        ("0", vec![Outcome::Success]),
        ("14", vec![Outcome::Failure]),
        ("4", vec![Outcome::Timeout]),
        ("5", vec![Outcome::Success]),
        ("no number", vec![Outcome::Failure]),
    ] {
        let breaker = breaker();
        let body = frames([Part::Data, Part::Trailers(status)]);
        let body = GuardedBody::with_judge(body, permit(&breaker), GrpcStatus::new());
        read_to_end(body).unwrap();
        assert_eq!(recorded(&breaker), expected, "{status}");
    }
}

#[test]
fn a_grpc_body_that_ends_or_breaks_without_a_status_is_a_failure() {
    for body in [frames([Part::Data]), frames([])] {
        let breaker = breaker();
        let body = GuardedBody::with_judge(body, permit(&breaker), GrpcStatus::new());
        read_to_end(body).unwrap();
        assert_eq!(recorded(&breaker), [Outcome::Failure]);
    }
    let breaker = breaker();
    let body = GuardedBody::with_judge(frames([Part::Broken]), permit(&breaker), GrpcStatus::new());
    assert_eq!(read_to_end(body), Err("reset"));
    assert_eq!(recorded(&breaker), [Outcome::Failure]);
}

#[test]
fn size_and_end_are_those_of_the_body_inside() {
    let breaker = breaker();
    let known = Frames {
        foresees_its_end: true,
        ..frames([Part::Data])
    };
    let mut body = GuardedBody::new(known.clone(), permit(&breaker));
    assert_eq!(
        (body.size_hint().exact(), body.is_end_stream()),
        (Some(4), false)
    );
    assert!(poll(&mut body).is_ready());
    assert_eq!(
        (body.size_hint().exact(), body.is_end_stream()),
        (Some(0), true)
    );
    let body = GuardedBody::new(known, permit(&breaker)).limits(Limits::new(), tokio::time::sleep);
    assert_eq!(
        (body.size_hint().exact(), body.is_end_stream()),
        (Some(4), false)
    );
}

#[test]
fn a_consumer_that_knows_better_settles_once() {
    let breaker = breaker();
    let mut body = GuardedBody::new(frames([Part::Data]), permit(&breaker));
    for expected in [Some(Settled::Recorded), None] {
        assert_eq!(Pin::new(&mut body).settle(Outcome::Timeout), expected);
    }
    read_to_end(body).unwrap();
    assert_eq!(recorded(&breaker), [Outcome::Timeout]);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_falls_silent_is_a_timeout_and_ends_with_an_error() {
    let limits = Limits::new()
        .first(Duration::from_secs(20))
        .idle(Duration::from_secs(5));
    for (body, seconds) in [
        (frames([Part::Never]), 20),
        (frames([Part::Data, Part::Never]), 5),
    ] {
        let breaker = breaker();
        let started = tokio::time::Instant::now();
        let body = GuardedBody::new(body, permit(&breaker)).limits(limits, tokio::time::sleep);
        let mut body = pin!(body);
        let error = loop {
            match body.frame().await {
                Some(Err(error)) => break error,
                frame => assert!(frame.is_some(), "the body ended without an error"),
            }
        };
        assert_eq!(started.elapsed().as_secs(), seconds);
        let BodyError::Elapsed(elapsed) = error else {
            panic!("{error}");
        };
        assert_eq!(elapsed.limit().as_secs(), seconds);
        assert!(body.is_end_stream());
        assert!(body.frame().await.is_none());
        assert_eq!(recorded(&breaker), [Outcome::Timeout]);
    }
}

/// What is recorded of a call that is answered so, and of its body read to the end.
fn through_the_layer(status: u16, body: Frames) -> (Vec<Outcome>, Vec<Outcome>) {
    let breaker = breaker();
    let layer = BreakerLayer::new(breaker.clone())
        .classify(HttpStatus::new())
        .through_body(HttpStatus::new());
    let mut service = layer.layer(tower::service_fn(move |()| {
        let response = Response::builder().status(status).body(body.clone());
        std::future::ready(Ok::<_, Infallible>(response.unwrap()))
    }));
    let call = async { service.ready().await.unwrap().call(()).await.unwrap() };
    let response = call.now_or_never().unwrap();
    let at_headers = recorded(&breaker);
    let _ = read_to_end(response.into_body());
    (at_headers, recorded(&breaker))
}

#[test]
fn the_layer_hands_its_permit_to_the_body() {
    use Outcome::{Failure, Success};
    let whole = frames([Part::Data]);
    let broken = frames([Part::Data, Part::Broken]);
    let empty = Frames {
        foresees_its_end: true,
        ..frames([])
    };
    assert_eq!(
        through_the_layer(200, whole.clone()),
        (vec![], vec![Success])
    );
    assert_eq!(
        through_the_layer(200, broken.clone()),
        (vec![], vec![Failure])
    );
    assert_eq!(
        through_the_layer(204, empty),
        (vec![Success], vec![Success])
    );
    assert_eq!(
        through_the_layer(500, whole),
        (vec![Failure], vec![Failure])
    );
    assert_eq!(
        through_the_layer(404, broken),
        (vec![Success], vec![Success]),
        "answered, whatever becomes of its body"
    );
}

#[test]
fn three_bodies_that_break_after_good_headers_open_the_breaker() {
    let breaker = breaker();
    let layer = BreakerLayer::new(breaker.clone()).through_body(cutout::classify::ByResult);
    let mut service = layer.layer(tower::service_fn(async |()| {
        Ok::<_, Infallible>(Response::new(frames([Part::Data, Part::Broken])))
    }));
    for _ in 0..3 {
        let call = async { service.ready().await?.call(()).await };
        let response = call.now_or_never().unwrap().unwrap();
        assert_eq!(read_to_end(response.into_body()), Err("reset"));
    }
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn a_grpc_answer_of_headers_alone_is_judged_by_them() {
    for (status, expected) in [("0", Outcome::Success), ("14", Outcome::Failure)] {
        let breaker = breaker();
        let layer = BreakerLayer::new(breaker.clone())
            .classify(GrpcStatus::new())
            .through_body(GrpcStatus::new());
        let mut service = layer.layer(tower::service_fn(async |()| {
            let empty = Frames {
                foresees_its_end: true,
                ..frames([])
            };
            Response::builder()
                .header("grpc-status", status)
                .body(empty)
        }));
        let call = async { service.ready().await?.call(()).await };
        let response = call.now_or_never().unwrap().unwrap();
        read_to_end(response.into_body()).unwrap();
        assert_eq!(recorded(&breaker), [expected]);
    }
}
