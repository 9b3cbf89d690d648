//! The families of endpoints.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use serde::Deserialize;

/// A family of endpoints: what a provider speaks, and what all targets of a route share.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// OpenAI's: chat completions, completions, responses, embeddings.
    #[default]
    OpenAi,
    /// Anthropic's: messages, and the counting of their tokens.
    Anthropic,
    /// Gemini's: `generateContent`, its stream, and the counting of tokens.
    Gemini,
}

impl Dialect {
    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// What a client speaks. `/v1/models` is OpenAI's and Anthropic's: who speaks the latter says its version.
    pub(crate) fn of_request(uri: &Uri, headers: &HeaderMap) -> Self {
        Self::of_path(uri.path(), headers.contains_key("anthropic-version"))
    }

    fn of_path(path: &str, says_version: bool) -> Self {
        if path.starts_with("/v1beta/") || path.starts_with("/v1/models/") && path.contains(':') {
            Self::Gemini
        } else if path.starts_with("/v1/messages") || path.starts_with("/v1/models") && says_version
        {
            Self::Anthropic
        } else {
            Self::OpenAi
        }
    }

    /// The header in which its providers want the key, and what stands before it.
    pub fn key_header(self) -> (HeaderName, &'static str) {
        match self {
            Self::OpenAi => (header::AUTHORIZATION, "Bearer "),
            Self::Anthropic => (HeaderName::from_static("x-api-key"), ""),
            Self::Gemini => (HeaderName::from_static("x-goog-api-key"), ""),
        }
    }

    /// Whether a header of a client is this protocol's own, and so for the provider.
    pub(super) fn owns_header(self, name: &str) -> bool {
        match self {
            Self::OpenAi => matches!(
                name,
                "openai-beta" | "openai-organization" | "openai-project"
            ),
            Self::Anthropic => name.starts_with("anthropic-"),
            Self::Gemini => matches!(name, "x-goog-api-client" | "x-server-timeout"),
        }
    }

    /// A header that each request must have, for who does not send it.
    pub(super) fn needed_header(self) -> Option<(HeaderName, HeaderValue)> {
        (self == Self::Anthropic).then(|| {
            (
                HeaderName::from_static("anthropic-version"),
                HeaderValue::from_static("2023-06-01"),
            )
        })
    }

    /// Whether a parameter of a client's query is for the provider. A key is not.
    pub(crate) fn owns_parameter(self, name: &str) -> bool {
        self == Self::Anthropic && name == "beta"
    }

    /// What keeps a client's connection alive while there is nothing to say. A comment, where clients know comments; Google's take
    /// each line for a piece of JSON, but for an empty one.
    pub(crate) fn keep_alive(self) -> Bytes {
        match self {
            Self::OpenAi | Self::Anthropic => Bytes::from_static(b": keep-alive\n"),
            Self::Gemini => Bytes::from_static(b"\n"),
        }
    }

    /// A comment with this text, or what stands in its place where clients know none.
    pub(crate) fn comment(self, text: &str) -> Bytes {
        match self {
            Self::OpenAi | Self::Anthropic => Bytes::from(format!(": {text}\n")),
            Self::Gemini => self.keep_alive(),
        }
    }

    /// What of an event that says nothing is passed on: its comments, or what only keeps the connection alive. Without a blank line: some
    /// clients take one for the end of an empty event, if an event before it had an id or a field without data came.
    pub(crate) fn comments(self, event: &[u8]) -> Bytes {
        if self == Self::Gemini {
            return self.keep_alive();
        }
        let lines = event.split(|byte| matches!(byte, b'\n' | b'\r'));
        let mut kept = Vec::new();
        for line in lines.filter(|line| line.starts_with(b":")) {
            kept.extend_from_slice(line);
            kept.push(b'\n');
        }
        if kept.is_empty() {
            return self.keep_alive();
        }
        kept.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_event_that_says_nothing_its_comments_are_left_without_a_blank_line() {
        for (event, left) in [
            (": PROCESSING\n\n", ": PROCESSING\n"),
            (": one\r\n: two\r\n\r\n", ": one\n: two\n"),
            ("id: 7\n: one\n\n", ": one\n"),
            ("event: ping\ndata:\n\n", ": keep-alive\n"),
            ("\n", ": keep-alive\n"),
        ] {
            assert_eq!(
                Dialect::OpenAi.comments(event.as_bytes()),
                left,
                "{event:?}"
            );
            assert_eq!(
                Dialect::Gemini.comments(event.as_bytes()),
                "\n",
                "{event:?}"
            );
        }
    }

    #[test]
    fn a_path_tells_the_dialect() {
        for (path, says_version, dialect) in [
            ("/v1/chat/completions", false, Dialect::OpenAi),
            ("/v1/chat/completions", true, Dialect::OpenAi),
            ("/v1/models", false, Dialect::OpenAi),
            ("/v1/models", true, Dialect::Anthropic),
            ("/v1/models/m", true, Dialect::Anthropic),
            ("/v1/messages/count_tokens", false, Dialect::Anthropic),
            ("/v1/models/m:generateContent", false, Dialect::Gemini),
            ("/v1beta/models", true, Dialect::Gemini),
        ] {
            assert_eq!(Dialect::of_path(path, says_version), dialect, "{path}");
        }
    }
}
