//! Errors in the shapes that the clients of each dialect know.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};

use super::Dialect;
use super::error::{ApiError, SHOULD_RETRY, TRIED, listed};

impl ApiError {
    /// The answer that the clients of a dialect get.
    pub fn to_response(&self, dialect: Dialect) -> Response {
        let body = match dialect {
            Dialect::OpenAi => openai(self),
            Dialect::Anthropic => anthropic(self),
            Dialect::Gemini => gemini(self),
        };
        let mut response = (self.status, body.to_string()).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(wait) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds(wait)));
        }
        if self.is_final {
            headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        if !self.tried.is_empty()
            && let Ok(tried) = HeaderValue::try_from(listed(&self.tried))
        {
            headers.insert(TRIED, tried);
        }
        response
    }
}

/// For those who speak no dialect, like operators: OpenAI's shape.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        self.to_response(Dialect::OpenAi)
    }
}

/// `{"error": {"message", "type", "param", "code"}}`. Of these four, those that a provider's own words do not have are added.
pub(super) fn openai(error: &ApiError) -> Value {
    let (kind, code) = match error.status.as_u16() {
        404 => ("invalid_request_error", "model_not_found"),
        429 => ("rate_limit_error", "rate_limit_exceeded"),
        400..500 => ("invalid_request_error", "refused_by_provider"),
        _ => ("server_error", "provider_error"),
    };
    let object = match &error.words {
        Some(words) => completed(
            words,
            [
                ("type", kind.into()),
                ("param", Value::Null),
                ("code", code.into()),
            ],
        ),
        None => told(
            error,
            [
                ("message", error.message.as_str().into()),
                ("type", error.kind.into()),
                ("param", error.param.into()),
                ("code", error.code.into()),
            ],
        ),
    };
    json!({ "error": object })
}

/// `{"type": "error", "error": {"type", "message"}}`.
pub(super) fn anthropic(error: &ApiError) -> Value {
    let kind = match error.status.as_u16() {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 | 405 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        400..500 => "invalid_request_error",
        503 | 529 => "overloaded_error",
        504 => "timeout_error",
        _ => "api_error",
    };
    let object = match &error.words {
        Some(words) => completed(words, [("type", kind.into())]),
        None => told(
            error,
            [
                ("type", kind.into()),
                ("message", error.message.as_str().into()),
                ("code", error.code.into()),
                ("param", error.param.into()),
            ],
        ),
    };
    json!({ "type": "error", "error": object })
}

/// `{"error": {"code", "message", "status", "details"}}`.
pub(super) fn gemini(error: &ApiError) -> Value {
    let status = match error.status.as_u16() {
        401 => "UNAUTHENTICATED",
        402 => "FAILED_PRECONDITION",
        403 => "PERMISSION_DENIED",
        404 | 405 => "NOT_FOUND",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        500 => "INTERNAL",
        501 => "UNIMPLEMENTED",
        502 | 503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        505.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    };
    let code = error.status.as_u16();
    if let Some(words) = &error.words {
        let object = completed(words, [("code", code.into()), ("status", status.into())]);
        return json!({ "error": object });
    }
    let mut metadata = Map::new();
    if let Some(param) = error.param {
        metadata.insert("param".to_owned(), param.into());
    }
    if !error.tried.is_empty() {
        metadata.insert("tried".to_owned(), listed(&error.tried).into());
    }
    let mut details = vec![json!({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": error.code.to_ascii_uppercase(),
        "domain": "cutout-gateway",
        "metadata": metadata,
    })];
    if let Some(wait) = error.retry_after {
        details.push(json!({
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": format!("{}s", seconds(wait)),
        }));
    }
    json!({ "error": { "code": code, "message": error.message, "status": status, "details": details } })
}

/// A provider's own words, with those of these fields that they do not have.
fn completed<const N: usize>(
    words: &Map<String, Value>,
    absent: [(&str, Value); N],
) -> Map<String, Value> {
    let mut object = words.clone();
    for (field, value) in absent {
        object.entry(field).or_insert(value);
    }
    object
}

/// The gateway's own words, and what was tried.
fn told<const N: usize>(error: &ApiError, fields: [(&str, Value); N]) -> Map<String, Value> {
    let fields = fields.map(|(field, value)| (field.to_owned(), value));
    let mut object = Map::from_iter(fields);
    if !error.tried.is_empty() {
        object.insert("tried".to_owned(), json!(error.tried));
    }
    object
}

/// Whole seconds, rounded up: a client that waits for them does not come too early.
fn seconds(wait: Duration) -> u64 {
    wait.as_secs()
        .saturating_add(u64::from(wait.subsec_nanos() > 0))
        .clamp(1, 86_400)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_rounded_up() {
        assert_eq!(seconds(Duration::from_millis(1)), 1);
        assert_eq!(seconds(Duration::from_secs(3)), 3);
        assert_eq!(seconds(Duration::ZERO), 1);
        assert_eq!(seconds(Duration::MAX), 86_400);
    }

    #[test]
    fn each_dialect_has_its_own_shape() {
        let error = ApiError::server(StatusCode::GATEWAY_TIMEOUT, "deadline", "too late")
            .retry_after(Duration::from_secs(2));
        assert_eq!(
            openai(&error),
            json!({"error": {"message": "too late", "type": "server_error", "param": null, "code": "deadline"}})
        );
        assert_eq!(
            anthropic(&error),
            json!({"type": "error", "error": {"type": "timeout_error", "message": "too late", "code": "deadline", "param": null}})
        );
        assert_eq!(
            gemini(&error),
            json!({"error": {"code": 504, "message": "too late", "status": "DEADLINE_EXCEEDED", "details": [
                {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "DEADLINE", "domain": "cutout-gateway", "metadata": {}},
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s"},
            ]}})
        );
    }

    #[test]
    fn a_providers_own_words_stay_and_are_completed() {
        let words = json!({"message": "no", "type": "their_own"});
        let error = ApiError::invalid(StatusCode::NOT_FOUND, "x", "no")
            .words(words.as_object().cloned().unwrap_or_default());
        assert_eq!(
            openai(&error),
            json!({"error": {"message": "no", "type": "their_own", "param": null, "code": "model_not_found"}})
        );
        assert_eq!(
            anthropic(&error),
            json!({"type": "error", "error": {"message": "no", "type": "their_own"}})
        );
        assert_eq!(
            gemini(&error),
            json!({"error": {"message": "no", "type": "their_own", "code": 404, "status": "NOT_FOUND"}})
        );
    }
}
