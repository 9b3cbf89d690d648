//! What a provider says when it refuses, in whatever shape it says it.
//!
//! OpenAI's shape is `{"error": {"message", "type", "param", "code"}}`. Others send `{"object": "error", "message": …}`
//! (vLLM), `{"detail": …}` (FastAPI), `{"message": …}`, or plain text; and some send their errors with the status 200, in
//! the body or in an event of a stream. What they say is kept as it is, so that clients can go by it.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::fault::{Fault, details, fault_in, fault_of, status_inside};

/// A refusal, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its status: that of the answer, or the one that an error inside a 200 amounts to.
    pub status: StatusCode,
    /// Whose fault it is.
    pub fault: Fault,
    /// Whether it came inside an answer with the status 200.
    pub inside: bool,
    /// The provider's error object, as the provider said it; a message is added if it has none.
    pub error: Map<String, Value>,
}

/// Why a request is at fault, where another model may think otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It is longer than the model can take.
    TooLong,
    /// Its content is refused.
    Content,
}

/// How providers say, without a name for it, that a request is too long: Anthropic, Gemini, OpenAI and vLLM.
const TOO_LONG: [&str; 4] = [
    "prompt is too long",
    "exceeds the maximum number of tokens",
    "maximum context length",
    "context window",
];

/// And that its content is refused: Anthropic, OpenAI.
const REFUSED_CONTENT: [&str; 2] = ["content filtering policy", "content management policy"];

impl Refusal {
    /// What an answer with this status says. `kind` is its media type.
    pub fn of_status(status: StatusCode, kind: &str, body: &[u8]) -> Self {
        let value = serde_json::from_slice(body).unwrap_or(Value::Null);
        let error = error_of(value, true).or_else(|| plain(kind, body));
        Self::new(status, false, error.unwrap_or_default())
    }

    /// What a value inside an answer with the status 200 says, if it is an error. In an event that is named `error` it
    /// always is.
    pub fn inside(value: Value, is_named: bool) -> Option<Self> {
        Some(Self::named(error_of(value, is_named)?))
    }

    /// What an error object inside an answer with the status 200 says.
    pub(super) fn named(error: Map<String, Value>) -> Self {
        let status = status_inside(&error).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self::new(status, true, error)
    }

    fn new(status: StatusCode, inside: bool, mut error: Map<String, Value>) -> Self {
        let fault = fault_in(&error).unwrap_or_else(|| fault_of(status));
        if !error.get("message").is_some_and(Value::is_string) {
            let said = match error.get("message") {
                None | Some(Value::Null) => "no message".to_owned(),
                Some(other) => other.to_string(),
            };
            error.insert("message".to_owned(), said.into());
        }
        Self {
            status,
            fault,
            inside,
            error,
        }
    }

    /// Whether its code, its type or a reason of its details is this.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let fields = ["code", "type"].into_iter();
        let fields = fields.filter_map(|field| self.error.get(field));
        let reasons = details(&self.error).map(|detail| &detail["reason"]);
        fields.chain(reasons).any(|value| match value {
            Value::String(text) => text.eq_ignore_ascii_case(name),
            Value::Number(number) => number.to_string() == name,
            _ => false,
        })
    }

    /// Why it is the request's fault, as far as another model may think otherwise.
    pub fn cause(&self) -> Option<Cause> {
        if self.fault != Fault::Request {
            return None;
        }
        let names = ["code", "type"].map(|field| self.error.get(field).and_then(Value::as_str));
        let named = names.into_iter().flatten().find_map(|name| {
            Some(match name.to_ascii_lowercase().as_str() {
                "context_length_exceeded" | "string_above_max_length" | "request_too_large" => {
                    Cause::TooLong
                }
                "content_filter" | "content_policy_violation" | "responsibleaipolicyviolation" => {
                    Cause::Content
                }
                _ => return None,
            })
        });
        named.or_else(|| {
            let message = self.message().to_ascii_lowercase();
            let says = |texts: &[&str]| texts.iter().any(|text| message.contains(text));
            if self.status == StatusCode::PAYLOAD_TOO_LARGE || says(&TOO_LONG) {
                Some(Cause::TooLong)
            } else if says(&REFUSED_CONTENT) {
                Some(Cause::Content)
            } else {
                None
            }
        })
    }

    /// The wait that it asks for in its details, which is where Google's errors have it.
    pub(crate) fn asked_wait(&self) -> Option<Duration> {
        let mut delays = details(&self.error).filter_map(|detail| detail["retryDelay"].as_str());
        let seconds: f64 = delays.next()?.strip_suffix('s')?.parse().ok()?;
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// The message, in at most 300 characters.
    pub fn message(&self) -> String {
        let message = self.error.get("message").and_then(Value::as_str);
        message.unwrap_or_default().chars().take(300).collect()
    }

    /// The message without what may be a key.
    pub fn masked(&self) -> String {
        let message = self.message();
        let words = message.split_inclusive(char::is_whitespace);
        let masked = words.map(|word| {
            let secret = word
                .split(|c: char| !(c.is_ascii_alphanumeric() || "-_*".contains(c)))
                .any(|part| part.starts_with("sk-") || part.contains("**") || part.len() >= 20);
            if secret { "[masked] " } else { word }
        });
        masked.collect::<String>().trim_end().to_owned()
    }
}

/// The error object of a value, if it is one. `is_error` says that it must be, whatever its shape.
fn error_of(value: Value, is_error: bool) -> Option<Map<String, Value>> {
    let message = |text: String| Map::from_iter([("message".to_owned(), Value::from(text))]);
    match value {
        Value::Object(mut object) => match object.remove("error") {
            // A field that is always there, and empty where there is no error.
            nothing if nothing.as_ref().is_none_or(is_nothing) => {
                let says_so = object.get("object").is_some_and(|object| object == "error");
                if !says_so && !is_error {
                    return None;
                }
                object.remove("object");
                if let Some(detail) = object.remove("detail")
                    && !object.contains_key("message")
                {
                    object.insert("message".to_owned(), detailed(&detail).into());
                }
                Some(object)
            }
            Some(Value::Object(error)) => Some(error),
            Some(Value::String(text)) => Some(message(text)),
            other => Some(message(other.unwrap_or_default().to_string())),
        },
        // Google's way to stream an error.
        Value::Array(mut values) if values.len() == 1 => error_of(values.remove(0), is_error),
        Value::String(text) if is_error => Some(message(text)),
        _ => None,
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Object(object) => object.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

/// FastAPI's `detail`: a text, or a list of what is wrong with which field.
fn detailed(detail: &Value) -> String {
    match detail {
        Value::String(text) => text.clone(),
        Value::Array(faults) => {
            let fault = |fault: &Value| {
                let message = fault["msg"].as_str().map(str::to_owned);
                let message = message.unwrap_or_else(|| fault.to_string());
                let place = fault["loc"].as_array().map(|place| {
                    let part = |part: &Value| match part {
                        Value::String(name) => name.clone(),
                        other => other.to_string(),
                    };
                    place.iter().map(part).collect::<Vec<_>>().join(".")
                });
                place.map_or(message.clone(), |place| format!("{place}: {message}"))
            };
            faults.iter().map(fault).collect::<Vec<_>>().join("; ")
        }
        other => other.to_string(),
    }
}

/// A text that is no JSON. A page is for people with a browser, and says more of some proxy than of the request.
fn plain(kind: &str, body: &[u8]) -> Option<Map<String, Value>> {
    let text = std::str::from_utf8(body).ok()?.trim();
    if text.is_empty() || text.starts_with('<') || !matches!(kind, "" | "text/plain") {
        return None;
    }
    let text: String = text.chars().take(2000).collect();
    json!({ "message": text }).as_object().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(text: &str) -> Option<(u16, Fault)> {
        let refusal = Refusal::inside(serde_json::from_str(text).unwrap(), false)?;
        Some((refusal.status.as_u16(), refusal.fault))
    }

    #[test]
    fn an_error_inside_a_200_has_the_status_that_it_names() {
        for (text, understood) in [
            (r#"{"choices":[]}"#, None),
            (r#"{"error":null,"choices":[]}"#, None),
            (r#"{"error":"","choices":[]}"#, None),
            (r#"{"error":{},"choices":[]}"#, None),
            (r#"{"error":{"code":400}}"#, Some((400, Fault::Request))),
            (r#"{"error":{"code":"413"}}"#, Some((413, Fault::Request))),
            (
                r#"{"error":{"code":"insufficient_quota"}}"#,
                Some((429, Fault::Credit)),
            ),
            (
                r#"{"error":{"status":"UNAUTHENTICATED"}}"#,
                Some((401, Fault::Key)),
            ),
            (
                r#"{"error":{"type":"overloaded_error"}}"#,
                Some((529, Fault::Provider)),
            ),
            (r#"{"error":{"code":1301}}"#, Some((500, Fault::Provider))),
            (r#"{"error":"no"}"#, Some((500, Fault::Provider))),
            (r#"{"error":true}"#, Some((500, Fault::Provider))),
            (r#"[{"error":{"code":429}}]"#, Some((429, Fault::Provider))),
            (
                r#"{"object":"error","code":404}"#,
                Some((404, Fault::Absent)),
            ),
        ] {
            assert_eq!(inside(text), understood, "{text}");
        }
    }

    #[test]
    fn a_name_decides_whose_fault_it_is_whatever_the_status() {
        for (status, code, fault) in [
            (400, "invalid_api_key", Fault::Key),
            (500, "context_length_exceeded", Fault::Request),
            (403, "content_policy_violation", Fault::Request),
            (429, "billing_not_active", Fault::Credit),
            (400, "model_not_found", Fault::Absent),
            (429, "rate_limit_exceeded", Fault::Provider),
            (402, "invalid_request_error", Fault::Credit),
        ] {
            let body = json!({ "error": { "code": code } }).to_string();
            let status = StatusCode::from_u16(status).unwrap();
            let refusal = Refusal::of_status(status, "application/json", body.as_bytes());
            assert_eq!(refusal.fault, fault, "{code}");
        }
    }

    #[test]
    fn why_a_request_is_at_fault_is_known_by_names_and_by_what_is_said() {
        for (body, cause) in [
            (
                r#"{"error":{"code":"context_length_exceeded"}}"#,
                Some(Cause::TooLong),
            ),
            (
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}"#,
                Some(Cause::TooLong),
            ),
            (
                r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}"#,
                Some(Cause::TooLong),
            ),
            (
                r#"{"error":{"code":"content_filter"}}"#,
                Some(Cause::Content),
            ),
            (
                r#"{"type":"error","error":{"message":"Output blocked by content filtering policy"}}"#,
                Some(Cause::Content),
            ),
            (r#"{"error":{"message":"no such field"}}"#, None),
            (
                r#"{"error":{"code":"invalid_api_key","message":"prompt is too long"}}"#,
                None,
            ),
        ] {
            let refusal = Refusal::of_status(StatusCode::BAD_REQUEST, "", body.as_bytes());
            assert_eq!(refusal.cause(), cause, "{body}");
        }
    }

    #[test]
    fn what_google_says_stands_in_the_details() {
        let body = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":[
            {"@type":"type.googleapis.com/google.rpc.QuotaFailure"},
            {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"26.5s"}]}}"#;
        let refusal = Refusal::of_status(StatusCode::TOO_MANY_REQUESTS, "", body.as_bytes());
        assert_eq!(refusal.asked_wait(), Some(Duration::from_millis(26_500)));
        for none in ["-1s", "NaNs", "1e999s", "soon", ""] {
            let body = json!({"error": {"details": [{"retryDelay": none}]}}).to_string();
            let refusal = Refusal::of_status(StatusCode::TOO_MANY_REQUESTS, "", body.as_bytes());
            assert_eq!(refusal.asked_wait(), None, "{none}");
        }
    }

    #[test]
    fn spent_credit_is_known_by_what_anthropic_says_of_it() {
        let body = r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#;
        let refusal = Refusal::of_status(StatusCode::BAD_REQUEST, "", body.as_bytes());
        assert_eq!(refusal.fault, Fault::Credit);
    }

    #[test]
    fn what_may_be_a_key_is_masked() {
        let body = r#"{"message":"Incorrect key sk-abc, or (abcdefghijklmnopqrstuvwxyz), or ab***yz: see https://x.example"}"#;
        let refusal = Refusal::of_status(StatusCode::UNAUTHORIZED, "", body.as_bytes());
        assert_eq!(
            refusal.masked(),
            "Incorrect key [masked] or [masked] or [masked] see https://x.example"
        );
    }
}
