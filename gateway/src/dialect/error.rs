//! Errors, before they take the shape of a dialect.

use std::time::Duration;

use http::{HeaderName, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value};

/// An error as the client gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The HTTP status.
    pub status: StatusCode,
    /// OpenAI's `type`, say `invalid_request_error`.
    pub kind: &'static str,
    /// A short name for programs.
    pub code: &'static str,
    /// The field of the request that is at fault.
    pub param: Option<&'static str>,
    /// What went wrong, and what to do about it.
    pub message: String,
    /// The provider's own words, in place of the four above.
    pub words: Option<Box<Map<String, Value>>>,
    /// The wait to ask for.
    pub retry_after: Option<Duration>,
    /// Whether another try is useless, which keeps clients from making one unasked.
    pub is_final: bool,
    /// What was tried.
    pub tried: Box<[Tried]>,
}

/// One target that was tried or skipped.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct Tried {
    /// The provider's name.
    pub provider: String,
    /// The model asked for there.
    pub model: String,
    /// What came of it.
    pub what: String,
}

impl ApiError {
    /// A request that is at fault itself.
    pub fn invalid(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            kind: "invalid_request_error",
            code,
            param: None,
            message: message.into(),
            words: None,
            retry_after: None,
            is_final: false,
            tried: Box::default(),
        }
    }

    /// A failure on this side of the client.
    pub fn server(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind: "server_error",
            ..Self::invalid(status, code, message)
        }
    }

    /// A method that the path does not have.
    pub fn wrong_method() -> Self {
        let message = "this path has no such method";
        Self::invalid(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", message)
    }

    /// Names the field at fault.
    #[must_use]
    pub fn param(mut self, param: &'static str) -> Self {
        self.param = Some(param);
        self
    }

    /// Asks the client to wait.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Gives the client the provider's own words. They stand alone: what was tried is told in a header.
    #[must_use]
    pub fn words(mut self, words: Map<String, Value>) -> Self {
        self.words = Some(Box::new(words));
        self
    }
}

/// Tells the official clients, which try again by themselves, whether to. Providers say it too.
pub const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// Says on each answer which targets were tried before it.
pub const TRIED: HeaderName = HeaderName::from_static("x-cutout-tried");

/// The targets tried, on one line that a header can carry.
pub fn listed(tried: &[Tried]) -> String {
    let entries = tried
        .iter()
        .map(|tried| format!("{}={}", tried.provider, tried.what));
    let listed = entries.collect::<Vec<_>>().join(", ");
    listed
        .replace('µ', "u")
        .replace(|c: char| !(' '..='~').contains(&c), "?")
}
