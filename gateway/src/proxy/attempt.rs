//! One attempt at one provider: the request sent once, and the answer read.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, header};
use http_body_util::Full;
use tokio::time::timeout_at;

use super::due::Due;
use super::failed::{Failed, Limit};
use super::reading::{Answer, begin, collect, first, kind, refusal, whole, why};
use super::signs::Signs;
use super::way::Way;
use crate::client::ProxyError;
use crate::dialect::Refusal;
use crate::providers::Target;

/// Sends the request and waits for the answer, or for the first content of a stream.
///
/// # Cancel safety
///
/// Dropping the future closes the connection, or ends its stream of one, so that the provider stops too.
pub(super) async fn attempt(target: &Target, way: &Way, signs: &Signs) -> Result<Answer, Failed> {
    let limits = &target.provider.settings.limits;
    let (limit, first) = if way.ask.stream {
        (Limit::FirstByte, limits.first_byte.get())
    } else {
        (Limit::Whole, limits.whole.get())
    };
    // One at a time asks and counts.
    way.left.store(way.left().saturating_sub(1), Relaxed);
    signs.begin();
    let answer = tokio::select! {
        biased;
        answer = answer(target, way, signs, Due::in_time(limit, first)) => answer,
        never = signs.overdue(first) => never,
    };
    answer.map_err(|failed| failed.judged(&target.provider.settings))
}

async fn answer(target: &Target, way: &Way, signs: &Signs, due: Due) -> Result<Answer, Failed> {
    let limits = &target.provider.settings.limits;
    let late = |_| due.passed();
    let sent = target.provider.client.send(request(target, way)?);
    let unsent = |error| unsent(&error, limits.connect.get());
    let response = timeout_at(due.at, sent).await.map_err(late)?;
    let response = response.map_err(unsent)?;
    if !response.status().is_success() {
        return Err(refusal(response, limits.idle.get()).await);
    }
    if response
        .headers()
        .get(header::CONTENT_ENCODING)
        .is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
    {
        return Err(Failed::Invalid(
            "compressed, though not asked to be".to_owned(),
        ));
    }
    match (kind(response.headers()).as_str(), way.ask.stream) {
        ("text/event-stream", true) => {
            let begun = begin(response, limits, way, signs);
            timeout_at(due.at, begun)
                .await
                .map_err(late)?
                .map(Answer::Stream)
        }
        ("application/json", false) => {
            let first = timeout_at(due.at, first(response, limits, signs));
            let (response, first) = first.await.map_err(late)??;
            whole(response, first, limits, way.endpoint, signs).await
        }
        // Some tell with JSON what is wrong with a stream.
        ("application/json", true) => {
            let body = collect(response.into_body(), limits.idle.get()).await?;
            let value = serde_json::from_slice(&body).unwrap_or_default();
            Err(Refusal::inside(value, false).map_or_else(
                || Failed::Invalid("JSON in place of a stream".to_owned()),
                Failed::from,
            ))
        }
        (kind, stream) => {
            let wanted = if stream { "a stream" } else { "JSON" };
            Err(Failed::Invalid(format!("{kind:?} in place of {wanted}")))
        }
    }
}

fn request(target: &Target, way: &Way) -> Result<Request<Full<Bytes>>, Failed> {
    let ask = &way.ask;
    let model = target.model_for(&ask.model);
    let drop = &target.provider.settings.drop;
    let mut request = Request::new(Full::new(ask.body_for(model, drop)));
    *request.method_mut() = http::Method::POST;
    let parameters = ask.parameters.as_deref();
    let address = target.provider.address(way.endpoint, model, parameters);
    *request.uri_mut() = address.map_err(Failed::Unreachable)?;
    let headers = request.headers_mut();
    *headers = ask.headers.clone();
    let accepted = if ask.stream {
        "text/event-stream"
    } else {
        "application/json"
    };
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    headers.insert(header::ACCEPT, HeaderValue::from_static(accepted));
    // So that the answer can be looked at.
    headers.insert(
        header::ACCEPT_ENCODING,
        HeaderValue::from_static("identity"),
    );
    for (name, value) in &target.provider.headers {
        headers.insert(name, value.clone());
    }
    if let Some((name, key)) = &target.provider.key {
        headers.insert(name, key.clone());
    }
    Ok(request)
}

/// What kept a request from being answered.
fn unsent(error: &hyper_util::client::legacy::Error, connect: Duration) -> Failed {
    let why = why(error);
    if !error.is_connect() {
        return Failed::Broken(why);
    }
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if let Some(error) = cause.downcast_ref::<ProxyError>() {
            return Failed::Proxy(error.clone());
        }
        let kind = cause
            .downcast_ref::<std::io::Error>()
            .map(std::io::Error::kind);
        if kind == Some(std::io::ErrorKind::TimedOut) {
            return Failed::TimedOut(Limit::Connect, connect);
        }
        source = cause.source();
    }
    Failed::Unreachable(why)
}
