//! Answers as the client gets them.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use cutout::Outcome;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use tokio::sync::OwnedSemaphorePermit;

use super::attempt::Answer;
use super::failover::Found;
use super::pour::pour;
use crate::dialect::{TRIED, Tried, Usage, listed};
use crate::requests::{End, Ended, Record};

/// Says on an answer who gave it.
const PROVIDER: HeaderName = HeaderName::from_static("x-cutout-provider");

/// Says of an answer that it is a lesser one, and which kind.
const DEGRADED: HeaderName = HeaderName::from_static("x-cutout-degraded");

/// Says on each answer by which name the log has the request.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-cutout-request-id");

/// A good answer, or one that has begun well, with all that goes with it.
#[derive(Debug)]
pub(super) struct Good {
    from: From,
    tried: Vec<Tried>,
    degraded: Option<&'static str>,
}

#[derive(Debug)]
enum From {
    /// A provider; the place is that of a stream.
    Provider(Found, Option<OwnedSemaphorePermit>, Duration),
    /// An answer that was kept.
    Kept(Bytes),
}

impl Good {
    /// A provider's answer. Streams have a place, and a time for which the client may leave them unread.
    pub(super) fn of(
        found: Found,
        tried: Vec<Tried>,
        place: Option<OwnedSemaphorePermit>,
        stall: Duration,
    ) -> Self {
        Self {
            from: From::Provider(found, place, stall),
            tried,
            degraded: None,
        }
    }

    /// An answer that was kept.
    pub(super) fn cached(body: Bytes, tried: Vec<Tried>) -> Self {
        Self {
            from: From::Kept(body),
            tried,
            degraded: Some("cached"),
        }
    }

    /// It as a lesser answer.
    pub(super) fn degraded(self, kind: &'static str) -> Self {
        Self {
            degraded: Some(kind),
            ..self
        }
    }
}

/// The answer as the client gets it. A stream takes the record along; of any other it ends here.
pub(super) fn respond(good: Good, mut record: Record) -> Response {
    let mut response = match good.from {
        From::Provider(found, place, stall) => of_provider(found, place, stall, record),
        From::Kept(body) => {
            record.head(StatusCode::OK);
            record.end(End::Complete);
            whole(StatusCode::OK, HeaderMap::new(), body)
        }
    };
    if let Some(kind) = good.degraded {
        let kind = HeaderValue::from_static(kind);
        response.headers_mut().insert(DEGRADED, kind);
    }
    note_tried(&mut response, &good.tried);
    response
}

fn of_provider(
    found: Found,
    place: Option<OwnedSemaphorePermit>,
    stall: Duration,
    mut record: Record,
) -> Response {
    let Found { answer, call } = found;
    record.answered_by(call.target());
    let provider = HeaderValue::try_from(call.target().provider.settings.name.as_str());
    let mut response = match (answer, place) {
        (
            Answer::Whole {
                status,
                headers,
                body,
            },
            _,
        ) => {
            record.attempted(Ended::well(status));
            call.settle(Outcome::Success);
            record.head(status);
            record.tokens(|| Usage::of_answer(&body));
            record.end(End::Complete);
            whole(status, headers, body)
        }
        (Answer::Stream(stream), Some(place)) => {
            let headers = stream.headers.clone();
            let body = pour(stream, call, stall, place, record);
            let mut response = Response::new(Body::new(body));
            *response.headers_mut() = headers;
            let headers = response.headers_mut();
            headers.insert(
                header::CONTENT_TYPE,
                HeaderValue::from_static("text/event-stream"),
            );
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            // Proxies in between must not wait for more.
            headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
            response
        }
        (Answer::Stream(_), None) => unreachable!("a stream is begun only for who asked for one"),
    };
    if let Ok(provider) = provider {
        response.headers_mut().insert(PROVIDER, provider);
    }
    response
}

fn whole(status: StatusCode, headers: HeaderMap, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

fn note_tried(response: &mut Response, tried: &[Tried]) {
    if !tried.is_empty()
        && let Ok(tried) = HeaderValue::try_from(listed(tried))
    {
        response.headers_mut().insert(TRIED, tried);
    }
}
