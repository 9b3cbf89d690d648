//! A `provider` table.

use std::collections::BTreeMap;
use std::path::PathBuf;

use http::{HeaderName, header};
use serde::Deserialize;

use super::{FaultRules, KeySource, Proxy, Span, StatusRules};
use crate::dialect::Dialect;

/// One upstream.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// The name, unique, as queues, breakers and metrics have it.
    pub name: String,
    /// What it speaks. Nothing is translated: a route's providers all speak the same.
    #[serde(default)]
    pub dialect: Dialect,
    /// What the paths are appended to; `{model}` in it stands for the model's name. Say `https://api.example.com/v1`.
    pub base_url: String,
    /// The key that the provider gets, in place of any that the client sent.
    pub api_key: Option<KeySource>,
    /// The header that it gets it in; that of its dialect by default.
    pub key_header: Option<KeyHeader>,
    /// Headers that all requests to it have, none of them secret.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Parameters that the query of all requests to it has.
    #[serde(default)]
    pub query: BTreeMap<String, String>,
    /// Fields of a request's body that it refuses, and so does not get.
    #[serde(default)]
    pub drop: Vec<String>,
    /// Certificates, as PEM, of authorities that sign its own, besides those that the world trusts.
    pub ca_file: Option<PathBuf>,
    /// Through whom it is reached; by default as the environment says (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`).
    pub proxy: Option<Proxy>,
    /// What its statuses mean, where that is not what they usually mean.
    #[serde(default)]
    pub verdicts: StatusRules,
    /// Whose fault its refusals are, by code, type or status, where that is not what they usually mean.
    #[serde(default)]
    pub faults: FaultRules,
    /// What one breaker guards.
    #[serde(default)]
    pub scope: Scope,
    /// How many requests may be in flight to it at once; further ones go to the next in the queue.
    #[serde(default = "Provider::default_in_flight")]
    pub max_in_flight: usize,
    /// When its breaker opens and how it recovers, as the core's `serde` module describes it.
    #[serde(default)]
    pub breaker: cutout::Config,
    /// Beside its breaker, what refuses a share of the requests when it does not accept all, as `cutout`'s `ThrottleConfig`.
    pub throttle: Option<cutout::ThrottleConfig>,
    /// How long it may take.
    #[serde(default)]
    pub limits: Limits,
    /// How often one request is tried at it.
    #[serde(default)]
    pub retry: Retry,
    /// A tiny real request on a schedule.
    pub check: Option<Check>,
    /// How long it is left out when it refuses the key, or the key has nothing left to spend.
    #[serde(default = "Provider::default_suspend")]
    pub suspend: Span,
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

    fn default_suspend() -> Span {
        Span::seconds(600)
    }
}

/// A header in which providers want their key.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum KeyHeader {
    /// `Authorization: Bearer …`.
    Authorization,
    /// `x-api-key`.
    XApiKey,
    /// `x-goog-api-key`.
    XGoogApiKey,
    /// `api-key`.
    ApiKey,
}

impl KeyHeader {
    /// Its name, and what stands before the key.
    pub fn written(self) -> (HeaderName, &'static str) {
        match self {
            Self::Authorization => (header::AUTHORIZATION, "Bearer "),
            Self::XApiKey => (HeaderName::from_static("x-api-key"), ""),
            Self::XGoogApiKey => (HeaderName::from_static("x-goog-api-key"), ""),
            Self::ApiKey => (HeaderName::from_static("api-key"), ""),
        }
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
    /// From the request to the first content of a stream. Comments of the provider do not count.
    pub first_byte: Span,
    /// From the request to the first byte of an answer that comes as a whole, which is when all of it has been thought of.
    pub whole: Span,
    /// After which share of these two a call that has shown no sign of life counts as a timeout while it is still in
    /// flight, above 0 and at most 1.
    pub overdue: f64,
    /// How long a call must have been silent for a client that leaves it to be evidence of a timeout. Never shorter than
    /// the provider's usual time to its first byte.
    pub silence: Span,
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
            whole: Span::seconds(300),
            overdue: 0.5,
            silence: Span::seconds(1),
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
    /// When there are more than one.
    pub when: When,
    /// The wait before the second attempt; each further wait is twice the last, with jitter.
    pub base: Span,
    /// The longest wait. A provider that asks for a longer one (`Retry-After`) is not tried again.
    pub max: Span,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 3,
            when: When::Last,
            base: Span::millis(200),
            max: Span::seconds(5),
        }
    }
}

/// When a provider is asked again.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// When no other target of the queue would take the request.
    #[default]
    Last,
    /// Before the next target is asked.
    Always,
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
