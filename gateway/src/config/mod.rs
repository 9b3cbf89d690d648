//! The configuration: one TOML file, checked as a whole before any of it is used.
//!
//! [`File::parse`] reads and checks a text; [`edit`] changes one field of it;
//! [`watch`] notices that the file has changed. What is legal is said at each field.

mod check;
pub mod edit;
mod file;
mod place;
mod secret;
mod span;
pub mod watch;

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;

pub use file::{File, Problem, Version};
pub use secret::KeySource;
pub use span::Span;

/// Everything that the file says.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The HTTP face: where it listens, and for whom.
    pub server: Server,
    /// The database of what must survive a restart; without it nothing is kept.
    pub store: Option<Store>,
    /// Who is told of each transition.
    pub webhook: Option<Webhook>,
    /// The upstreams.
    pub provider: Vec<Provider>,
    /// The models that clients may ask for, each with its queue of providers.
    pub route: Vec<Route>,
}

/// Where the gateway listens, and how much one client may take of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// The address to listen on; a change needs a restart.
    pub listen: SocketAddr,
    /// The token for `/admin` and the dashboard. Without it they answer loopback only.
    pub admin_token: Option<KeySource>,
    /// The keys that clients must present as `Authorization: Bearer`; none means no check.
    pub client_keys: Vec<KeySource>,
    /// The largest request body, in bytes.
    pub max_body_bytes: usize,
    /// How much memory the bodies of all requests may take together, in bytes; more get 503.
    pub max_body_memory: usize,
    /// The largest request head, in bytes, at least 8192.
    pub max_header_bytes: usize,
    /// How many header fields a request may have.
    pub max_headers: usize,
    /// How many connections may be open at once; more wait to be accepted.
    pub max_connections: usize,
    /// How many requests may be in flight at once; more get 503.
    pub max_requests: usize,
    /// How many answers may be streaming at once; more get 503.
    pub max_streams: usize,
    /// How long a client may take to send the head of a request, and how long its connection may stay unused: longer than
    /// clients keep theirs, so that none sends a request on one that is just being closed.
    pub header_timeout: Span,
    /// How long a client may take to send the body of a request.
    pub body_timeout: Span,
    /// How long a client may leave a streamed answer unread before it is cut off.
    pub stall_timeout: Span,
    /// How long requests and streams in flight may take to end once the gateway is told to stop.
    pub drain_timeout: Span,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            admin_token: None,
            client_keys: Vec::new(),
            max_body_bytes: 8 << 20,
            max_body_memory: 256 << 20,
            max_header_bytes: 32 << 10,
            max_headers: 64,
            max_connections: 4096,
            max_requests: 4096,
            max_streams: 1024,
            header_timeout: Span::seconds(75),
            body_timeout: Span::seconds(30),
            stall_timeout: Span::seconds(30),
            drain_timeout: Span::seconds(30),
        }
    }
}

/// The database of health.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// The file; relative to the configuration's folder.
    pub path: PathBuf,
    /// How long transitions and probe results are kept.
    #[serde(default = "Store::default_keep")]
    pub keep: Span,
    /// How many rows of each kind are kept at most.
    #[serde(default = "Store::default_max_rows")]
    pub max_rows: u32,
}

impl Store {
    fn default_keep() -> Span {
        Span::seconds(7 * 24 * 3600)
    }

    fn default_max_rows() -> u32 {
        100_000
    }
}

/// A URL that gets each transition as a JSON `POST`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// An `http` or `https` URL.
    pub url: String,
    /// Sent as `Authorization: Bearer`.
    pub token: Option<KeySource>,
}

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

/// One model that clients may ask for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The model's name as clients give it, unique.
    pub model: String,
    /// The providers in the order in which they are tried; at least one.
    pub queue: Vec<Target>,
    /// A share of the traffic that tries a new provider or model first.
    pub canary: Option<Canary>,
    /// The request header by which a conversation stays with the provider that served it last.
    pub sticky_header: Option<String>,
    /// How long a recovered provider takes to get its full share of traffic back.
    #[serde(default)]
    pub ramp: Option<Span>,
    /// What may be answered when nothing in the queue is left.
    #[serde(default)]
    pub degraded: Degraded,
}

impl Route {
    /// All providers that it may ask, canary and older models included, with the model to ask them for.
    pub fn targets(&self) -> impl Iterator<Item = (&String, &str)> {
        let queue = self.queue.iter().chain(&self.degraded.models);
        let queue = queue.map(|target| (&target.provider, &target.model));
        let canary = self
            .canary
            .iter()
            .map(|canary| (&canary.provider, &canary.model));
        queue
            .chain(canary)
            .map(|(provider, model)| (provider, model.as_deref().unwrap_or(&self.model)))
    }
}

/// A provider, and the model to ask it for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The provider's name.
    pub provider: String,
    /// The model's name there; the route's own by default.
    pub model: Option<String>,
}

/// A target on trial.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Canary {
    /// The provider's name.
    pub provider: String,
    /// The model's name there; the route's own by default.
    pub model: Option<String>,
    /// The share of requests that try it first, above 0 and at most 1.
    pub share: f64,
}

/// Lesser answers, each only if it is asked for, each marked by the header `x-cutout-degraded`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Degraded {
    /// How many good answers are kept, to answer the very same request with; 0 for none.
    pub cached_answers: usize,
    /// Older models, tried in order.
    pub models: Vec<Target>,
}
