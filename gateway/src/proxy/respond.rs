//! Answers as the client gets them.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use cutout::Outcome;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use super::failover::{Found, From};
use super::pour::{Pace, Pipe, pipe, pour};
use super::reading::Answer;
use crate::dialect::{ApiError, Endpoint, TRIED, Tried, listed};
use crate::requests::{End, Ended, Record};

/// Says on an answer who gave it.
const PROVIDER: HeaderName = HeaderName::from_static("x-cutout-provider");

/// Says of an answer that it is a lesser one, and which kind.
const DEGRADED: HeaderName = HeaderName::from_static("x-cutout-degraded");

/// Says on an answer which other route gave it.
const FALLBACK: HeaderName = HeaderName::from_static("x-cutout-fallback");

/// Says on each answer by which name the log has the request.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-cutout-request-id");

/// An error, which ends the account of the request.
pub(super) fn refuse(endpoint: Endpoint, error: &ApiError, mut record: Record) -> Response {
    record.refused(error.status, error.code);
    record.end(End::Complete);
    error.to_response(endpoint.dialect())
}

/// What was found; streams have a pace. A stream takes the account along; of any other answer it ends here.
pub(super) fn respond(
    endpoint: Endpoint,
    found: Found,
    pace: Option<Pace>,
    mut record: Record,
) -> Response {
    let mut provider = None;
    let mut response = match (found.from, pace) {
        (From::Kept(body), _) => {
            record.head(StatusCode::OK);
            record.end(End::Complete);
            whole(StatusCode::OK, HeaderMap::new(), body)
        }
        (From::Call(answer, call), pace) => {
            record.answered_by(call.target());
            provider = HeaderValue::try_from(call.target().provider.settings.name.as_str()).ok();
            match (answer, pace) {
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
                    record.tokens(endpoint.usage(&body));
                    record.end(End::Complete);
                    whole(status, headers, body)
                }
                (Answer::Stream(stream), Some(pace)) => {
                    let headers = stream.headers.clone();
                    let body = pipe(endpoint, pace, |client| pour(stream, call, client, record));
                    head_of_stream(headers, body)
                }
                (Answer::Stream(_), None) => {
                    unreachable!("a stream is begun only for who asked for one")
                }
            }
        }
    };
    let headers = response.headers_mut();
    if let Some(provider) = provider {
        headers.insert(PROVIDER, provider);
    }
    if let Some(kind) = found.degraded {
        headers.insert(DEGRADED, HeaderValue::from_static(kind));
    }
    if let Some(Ok(route)) = found.fallback.map(HeaderValue::try_from) {
        headers.insert(FALLBACK, route);
    }
    note_tried(headers, &found.tried);
    response
}

/// The head of a stream, with what its provider adds.
pub(super) fn head_of_stream(headers: HeaderMap, body: Pipe) -> Response {
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

fn whole(status: StatusCode, headers: HeaderMap, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

fn note_tried(headers: &mut HeaderMap, tried: &[Tried]) {
    if !tried.is_empty()
        && let Ok(tried) = HeaderValue::try_from(listed(tried))
    {
        headers.insert(TRIED, tried);
    }
}
