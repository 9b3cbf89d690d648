//! The configuration: one TOML file, checked as a whole before any of it is used.
//!
//! [`File::parse`] reads and checks a text; [`edit`] changes one field of it;
//! [`watch`] notices that the file has changed. What is legal is said at each field.

mod check;
mod client_key;
pub mod edit;
mod file;
mod fleet;
mod log;
mod place;
mod provider;
mod proxy;
mod restart;
mod route;
mod rules;
mod secret;
mod server;
mod span;
mod warnings;
pub mod watch;

use std::path::PathBuf;

use serde::Deserialize;

pub use client_key::{ClientKey, KeyLimits};
pub use file::{File, Problem, Version};
pub use fleet::Fleet;
pub use log::{Log, RequestLog};
pub use provider::{Check, CheckKind, KeyHeader, Limits, Provider, Retry, Scope, When};
pub use proxy::Proxy;
pub use restart::needing_restart;
pub use route::{Canary, Degraded, Fallback, Policy, Route, Target};
pub use rules::{FaultRules, StatusRules, fault_of};
pub use secret::KeySource;
pub use server::{Server, Tls};
pub use span::Span;
pub use warnings::warnings;

/// Everything that the file says.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The HTTP face: where it listens, and for whom.
    pub server: Server,
    /// What is written down of requests.
    pub log: Log,
    /// The database of what must survive a restart; without it nothing is kept.
    pub store: Option<Store>,
    /// Who is told of each transition.
    pub webhook: Option<Webhook>,
    /// The other replicas, if they share what they find.
    pub fleet: Option<Fleet>,
    /// The upstreams.
    pub provider: Vec<Provider>,
    /// The models that clients may ask for, each with its queue of providers.
    pub route: Vec<Route>,
}

/// The database of health.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
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
