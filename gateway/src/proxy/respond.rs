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
use crate::dialect::{TRIED, Tried, listed};

/// Says on an answer who gave it.
const PROVIDER: HeaderName = HeaderName::from_static("x-cutout-provider");

/// Says of an answer that it is a lesser one, and which kind.
const DEGRADED: HeaderName = HeaderName::from_static("x-cutout-degraded");

/// A provider's answer; the place is that of a stream.
pub(super) fn respond(
    found: Found,
    tried: &[Tried],
    stall: Duration,
    place: Option<OwnedSemaphorePermit>,
) -> Response {
    let Found { answer, call } = found;
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
            call.settle(Outcome::Success);
            whole(status, headers, body)
        }
        (Answer::Stream(stream), Some(place)) => {
            let headers = stream.headers.clone();
            let mut response = Response::new(Body::new(pour(stream, call, stall, place)));
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
    note_tried(&mut response, tried);
    response
}

pub(super) fn whole(status: StatusCode, headers: HeaderMap, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

pub(super) fn note_tried(response: &mut Response, tried: &[Tried]) {
    if !tried.is_empty()
        && let Ok(tried) = HeaderValue::try_from(listed(tried))
    {
        response.headers_mut().insert(TRIED, tried);
    }
}

/// Marks a lesser answer.
pub(super) fn mark_degraded(response: &mut Response, kind: &'static str) {
    response
        .headers_mut()
        .insert(DEGRADED, HeaderValue::from_static(kind));
}
