//! What a client asks for: its body, read within limits and looked at as little as needed.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body_util::BodyExt;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::config::Server;
use crate::dialect::{ApiError, Asks, Dialect, Endpoint, headers};
use crate::limits::PAGE;

/// A client's request, whole and well-formed.
#[derive(Debug)]
pub(super) struct Ask {
    /// The model that it names.
    pub(super) model: String,
    /// Whether it wants the answer as a stream.
    pub(super) stream: bool,
    /// What is passed on of its headers.
    pub(super) headers: HeaderMap,
    /// What is passed on of its query.
    pub(super) parameters: Option<String>,
    /// The body, byte for byte.
    pub(super) body: Bytes,
    /// Where in it the model's name stands, quotes included; nowhere if that is in the path.
    model_at: Option<Range<usize>>,
    /// The body's share of the memory for bodies.
    _memory: Option<OwnedSemaphorePermit>,
}

/// What of the body matters here. All else is passed on unread.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    model: &'a RawValue,
    #[serde(default)]
    stream: Option<bool>,
}

/// What is asked for, before the body is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    /// The kind of request.
    pub(crate) endpoint: Endpoint,
    /// The model, where the path names it.
    pub(crate) model: Option<String>,
}

impl Ask {
    /// Reads the body within its limits of size, time and memory.
    ///
    /// # Errors
    ///
    /// What the client should be told.
    pub(super) async fn read(
        path: Path,
        head: &Parts,
        hop: HeaderValue,
        body: Body,
        server: &Server,
        memory: &Arc<Semaphore>,
    ) -> Result<Self, ApiError> {
        let Path { endpoint, model } = path;
        let query = head.uri.query().unwrap_or_default();
        check_coding(&head.headers)?;
        if endpoint == Endpoint::StreamGenerate && !query.split('&').any(|one| one == "alt=sse") {
            let message = "streams are passed on as server-sent events: add '?alt=sse' to the path";
            return Err(ApiError::invalid(
                StatusCode::BAD_REQUEST,
                "no_event_stream",
                message,
            ));
        }
        let reading = collect(body, server.max_body_bytes, memory);
        let limit = server.body_timeout.get();
        let (body, memory) = timeout(limit, reading).await.map_err(|_| {
            let message = format!("the request's body did not come within {limit:?}");
            ApiError::invalid(StatusCode::REQUEST_TIMEOUT, "slow_body", message)
        })??;
        let (model, model_at, stream) = match (endpoint.asks(), model) {
            (Asks::InPath { stream }, model) => {
                parse::<HashMap<&str, IgnoredAny>>(text(&body)?)?;
                (model.unwrap_or_default(), None, stream)
            }
            (asks, _) => {
                let (model, model_at, stream) = look(&body)?;
                (model, Some(model_at), stream && asks == Asks::InBody)
            }
        };
        let dialect = endpoint.dialect();
        Ok(Self {
            model,
            stream,
            headers: sent_on(dialect, &head.headers, &server.pass_headers, hop),
            parameters: parameters(dialect, query),
            body,
            model_at,
            _memory: Some(memory),
        })
    }

    /// The gateway's own request. If its body names a model, it begins with the name `""`.
    pub(super) fn own(endpoint: Endpoint, body: &'static str, hop: HeaderValue) -> Self {
        const BEFORE: &str = r#"{"model":"#;
        let at = BEFORE.len()..BEFORE.len() + 2;
        Self {
            model: String::new(),
            stream: false,
            headers: sent_on(endpoint.dialect(), &HeaderMap::new(), &[], hop),
            parameters: None,
            body: Bytes::from_static(body.as_bytes()),
            model_at: body.starts_with(BEFORE).then_some(at),
            _memory: None,
        }
    }

    /// The body with another model's name in it, all else byte for byte as it was; without the fields to drop, if it has any.
    pub(super) fn body_for(&self, model: &str, drop: &[String]) -> Bytes {
        if !drop.is_empty()
            && let Some(rest) = self.without(model, drop)
        {
            return rest;
        }
        let Some(at) = self.model_at.as_ref().filter(|_| model != self.model) else {
            return self.body.clone();
        };
        let name = serde_json::Value::from(model).to_string();
        let mut body = BytesMut::with_capacity(self.body.len() + name.len());
        body.extend_from_slice(&self.body[..at.start]);
        body.extend_from_slice(name.as_bytes());
        body.extend_from_slice(&self.body[at.end..]);
        body.freeze()
    }
}

impl Ask {
    /// The body without these fields, its values byte for byte as they were; none if it has none of them.
    fn without(&self, model: &str, drop: &[String]) -> Option<Bytes> {
        let Object(fields) = serde_json::from_slice(&self.body).ok()?;
        let is_dropped = |name: &String| drop.contains(name);
        if !fields.iter().any(|(name, _)| is_dropped(name)) {
            return None;
        }
        let mut body = Vec::with_capacity(self.body.len());
        for (name, value) in fields.iter().filter(|(name, _)| !is_dropped(name)) {
            body.push(if body.is_empty() { b'{' } else { b',' });
            body.extend_from_slice(
                serde_json::Value::from(name.as_str())
                    .to_string()
                    .as_bytes(),
            );
            body.push(b':');
            if self.model_at.is_some() && name == "model" {
                body.extend_from_slice(serde_json::Value::from(model).to_string().as_bytes());
            } else {
                body.extend_from_slice(value.get().as_bytes());
            }
        }
        body.extend_from_slice(if body.is_empty() { b"{}" } else { b"}" });
        Some(body.into())
    }
}

/// The fields of an object in their order, each as often as it is there.
struct Object<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Object(fields))
            }
        }
        deserializer.deserialize_map(Read)
    }
}

/// A body that is packed would have to be unpacked to be looked at.
fn check_coding(headers: &HeaderMap) -> Result<(), ApiError> {
    let coding = headers.get(header::CONTENT_ENCODING);
    if coding.is_none_or(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Ok(());
    }
    let message =
        "the body has a Content-Encoding, which the gateway does not undo: send it as it is";
    Err(ApiError::invalid(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "unsupported_content_encoding",
        message,
    ))
}

/// What of a query is for the provider.
fn parameters(dialect: Dialect, query: &str) -> Option<String> {
    let all = query.split('&');
    let own = all.filter(|one| dialect.owns_parameter(one.split('=').next().unwrap_or_default()));
    let own: Vec<_> = own.collect();
    (!own.is_empty()).then(|| own.join("&"))
}

fn sent_on(dialect: Dialect, headers: &HeaderMap, pass: &[String], hops: HeaderValue) -> HeaderMap {
    let mut headers = headers::to_provider(dialect, headers, pass);
    crate::hop::sign(&mut headers, hops);
    headers
}

async fn collect(
    mut body: Body,
    limit: usize,
    memory: &Arc<Semaphore>,
) -> Result<(Bytes, OwnedSemaphorePermit), ApiError> {
    let too_large = || {
        let message = format!(
            "the request's body is larger than {limit} bytes: send less, or raise server.max_body_bytes"
        );
        ApiError::invalid(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message)
    };
    let no_memory = |_| {
        let message = "the gateway holds all the requests it can; try again soon";
        ApiError::server(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message)
            .retry_after(std::time::Duration::from_secs(1))
    };
    // What is known to be too large is not waited for, nor is a client that asks first told to go on.
    if usize::try_from(http_body::Body::size_hint(&body).lower()).unwrap_or(usize::MAX) > limit {
        return Err(too_large());
    }
    let mut held = Arc::clone(memory).try_acquire_owned().map_err(no_memory)?;
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| {
            let message = "the request's body broke off";
            ApiError::invalid(StatusCode::BAD_REQUEST, "broken_body", message)
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if all.len() + data.len() > limit {
            return Err(too_large());
        }
        all.extend_from_slice(&data);
        let wanted = all.len().div_ceil(PAGE).saturating_sub(held.num_permits());
        let more =
            Arc::clone(memory).try_acquire_many_owned(u32::try_from(wanted).unwrap_or(u32::MAX));
        held.merge(more.map_err(no_memory)?);
    }
    Ok((all.freeze(), held))
}

fn look(body: &Bytes) -> Result<(String, Range<usize>, bool), ApiError> {
    let text = text(body)?;
    let fields: Fields<'_> = parse(text)?;
    let model: String = serde_json::from_str(fields.model.get()).map_err(|_| {
        let message = "the model must be a string";
        ApiError::invalid(StatusCode::BAD_REQUEST, "invalid_body", message).param("model")
    })?;
    // The raw value is a part of the text.
    let start = fields.model.get().as_ptr().addr() - text.as_ptr().addr();
    let end = start + fields.model.get().len();
    Ok((model, start..end, fields.stream.unwrap_or(false)))
}

fn text(body: &Bytes) -> Result<&str, ApiError> {
    std::str::from_utf8(body).map_err(|error| {
        let message = format!("the body is not UTF-8 from byte {} on", error.valid_up_to());
        ApiError::invalid(StatusCode::BAD_REQUEST, "invalid_utf8", message)
    })
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, ApiError> {
    serde_json::from_str(text).map_err(|error| {
        let message = format!("the body cannot be read: {error}");
        let code = if error.is_data() {
            "invalid_body"
        } else {
            "invalid_json"
        };
        ApiError::invalid(StatusCode::BAD_REQUEST, code, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_fields_are_gone_and_the_rest_is_as_it_was() {
        let hop = HeaderValue::from_static("x");
        let body = r#"{"model":"", "a" : [1e3, {"b":"\u00e4"}],"b":1, "c":null,"b":2}"#;
        let ask = Ask::own(Endpoint::Chat, body, hop);
        let drop = |fields: &[&str]| {
            let fields: Vec<_> = fields.iter().map(|&field| field.to_owned()).collect();
            String::from_utf8(ask.body_for("m", &fields).to_vec()).unwrap()
        };
        assert_eq!(
            drop(&["b", "other"]),
            r#"{"model":"m","a":[1e3, {"b":"\u00e4"}],"c":null}"#
        );
        assert_eq!(drop(&["other"]), body.replacen("\"\"", "\"m\"", 1));
        assert_eq!(drop(&["a", "b", "c", "model"]), "{}");
    }

    #[test]
    fn of_a_query_only_what_the_dialect_knows_passes() {
        let query = "key=secret&beta=true&alt=sse&betas=1";
        assert_eq!(
            parameters(Dialect::Anthropic, query).as_deref(),
            Some("beta=true")
        );
        assert_eq!(parameters(Dialect::Gemini, query), None);
        assert_eq!(parameters(Dialect::Anthropic, ""), None);
    }
}
