//! A `provider` table.

use serde::Deserialize;

use super::{KeySource, Span};

/// One upstream that speaks the OpenAI protocol.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// The name, unique, as queues, breakers and metrics have it.
    pub name: String,
    /// What the paths are appended to, say `https://api.example.com/v1`.
    pub base_url: String,
    /// The key that the provider gets, in place of any that the client sent.
    pub api_key: Option<KeySource>,
    /// What one breaker guards.
    #[serde(default)]
    pub scope: Scope,
    /// How many requests may be in flight to it at once; further ones go to the next in the queue.
    #[serde(default = "Provider::default_in_flight")]
    pub max_in_flight: usize,
    /// When its breaker opens and how it recovers, as the core's `serde` module describes it.
    #[serde(default)]
    pub breaker: cutout::Config,
    /// How long it may take.
    #[serde(default)]
    pub limits: Limits,
    /// How often one request is tried at it.
    #[serde(default)]
    pub retry: Retry,
    /// A tiny real request on a schedule.
    pub check: Option<Check>,
}

impl Provider {
    /// What its breakers are told. A probe may be a stream as long as any: its lease lasts at
    /// least as long as the total limit.
    pub fn breaker_config(&self) -> cutout::Config {
        let mut config = self.breaker;
        config.probe_lease = config
            .probe_lease
            .map(|lease| lease.max(self.limits.total.get()));
        config
    }

    fn default_in_flight() -> usize {
        256
    }
}

/// What one breaker guards.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// All of the provider. A model that it does not have is no sign of illness.
    #[default]
    Provider,
    /// Each model of the provider by itself. A model that it does not have is a failure of that model.
    Model,
}

/// How long a provider may take.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// To accept a connection.
    pub connect: Span,
    /// From the request to the first byte of an answer, or the first event of a stream.
    pub first_byte: Span,
    /// Between two pieces of an answer.
    pub idle: Span,
    /// For one request with all its attempts, to the end of its answer.
    pub total: Span,
    /// The largest answer, and the largest event of a stream, in bytes.
    pub max_answer_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Span::seconds(5),
            first_byte: Span::seconds(60),
            idle: Span::seconds(30),
            total: Span::seconds(600),
            max_answer_bytes: 16 << 20,
        }
    }
}

/// How often one request is tried at one provider. All attempts are one outcome for its breaker.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retry {
    /// Attempts in all, 1 to 10.
    pub attempts: usize,
    /// The wait before the second attempt; each further wait is twice the last, with jitter.
    pub base: Span,
    /// The longest wait. A provider that asks for a longer one (`Retry-After`) is not tried again.
    pub max: Span,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 3,
            base: Span::millis(200),
            max: Span::seconds(5),
        }
    }
}

/// A tiny real request on a schedule.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The time between two.
    pub every: Span,
    /// The model that it asks for.
    pub model: String,
    /// What kind of request it is.
    #[serde(default)]
    pub kind: CheckKind,
    /// Whether its result counts for the breaker when there was no traffic since the last one.
    #[serde(default = "Check::default_counts")]
    pub counts: bool,
}

/// The kind of request that a check is.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum CheckKind {
    /// A chat of one token.
    #[default]
    Chat,
    /// The embedding of one word.
    Embeddings,
}

impl Check {
    fn default_counts() -> bool {
        true
    }
}
