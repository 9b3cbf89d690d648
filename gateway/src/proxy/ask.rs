//! What a client asks for: its body, read within limits and looked at as little as needed.

use std::ops::Range;
use std::sync::Arc;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::BodyExt;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::config::Server;
use crate::dialect::{self, ApiError};
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
    /// The body, byte for byte.
    pub(super) body: Bytes,
    /// Where in it the model's name stands, quotes included.
    model_at: Range<usize>,
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

impl Ask {
    /// Reads the body within its limits of size, time and memory.
    ///
    /// # Errors
    ///
    /// What the client should be told.
    pub(super) async fn read(
        headers: &HeaderMap,
        hop: HeaderValue,
        body: Body,
        server: &Server,
        memory: &Arc<Semaphore>,
    ) -> Result<Self, ApiError> {
        let reading = collect(body, server.max_body_bytes, memory);
        let limit = server.body_timeout.get();
        let (body, memory) = timeout(limit, reading).await.map_err(|_| {
            let message = format!("the request's body did not come within {limit:?}");
            ApiError::invalid(StatusCode::REQUEST_TIMEOUT, "slow_body", message)
        })??;
        let (model, model_at, stream) = look(&body)?;
        Ok(Self {
            model,
            stream,
            headers: sent_on(headers, &server.pass_headers, hop),
            body,
            model_at,
            _memory: Some(memory),
        })
    }

    /// The gateway's own request, whose body begins with the model `""`.
    pub(super) fn own(body: &'static str, hop: HeaderValue) -> Self {
        const BEFORE: usize = r#"{"model":"#.len();
        Self {
            model: String::new(),
            stream: false,
            headers: sent_on(&HeaderMap::new(), &[], hop),
            body: Bytes::from_static(body.as_bytes()),
            model_at: BEFORE..BEFORE + 2,
            _memory: None,
        }
    }

    /// The body with another model's name in it, all else byte for byte as it was.
    pub(super) fn body_for(&self, model: &str) -> Bytes {
        if model == self.model {
            return self.body.clone();
        }
        let name = serde_json::Value::from(model).to_string();
        let mut body = BytesMut::with_capacity(self.body.len() + name.len());
        body.extend_from_slice(&self.body[..self.model_at.start]);
        body.extend_from_slice(name.as_bytes());
        body.extend_from_slice(&self.body[self.model_at.end..]);
        body.freeze()
    }
}

fn sent_on(headers: &HeaderMap, pass: &[String], hops: HeaderValue) -> HeaderMap {
    let mut headers = dialect::headers::to_provider(headers, pass);
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
    let text = std::str::from_utf8(body).map_err(|error| {
        let message = format!("the body is not UTF-8 from byte {} on", error.valid_up_to());
        ApiError::invalid(StatusCode::BAD_REQUEST, "invalid_utf8", message)
    })?;
    let fields: Fields<'_> = serde_json::from_str(text).map_err(|error| {
        let message = format!("the body cannot be read: {error}");
        let code = if error.is_data() {
            "invalid_body"
        } else {
            "invalid_json"
        };
        ApiError::invalid(StatusCode::BAD_REQUEST, code, message)
    })?;
    let model: String = serde_json::from_str(fields.model.get()).map_err(|_| {
        let message = "the model must be a string";
        ApiError::invalid(StatusCode::BAD_REQUEST, "invalid_body", message).param("model")
    })?;
    // The raw value is a part of the text.
    let start = fields.model.get().as_ptr().addr() - text.as_ptr().addr();
    let end = start + fields.model.get().len();
    Ok((model, start..end, fields.stream.unwrap_or(false)))
}
