//! How the replicas are, for the dashboard and for machines.

use serde::Serialize;

/// How the replicas are, as this one sees it: `fleet` in `GET /admin/state`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Status {
    /// This replica.
    pub member: String,
    /// Whether the server is connected.
    pub connected: bool,
    /// Why it is not, or was not last.
    pub trouble: Option<String>,
    /// The others that live.
    pub members: Vec<Member>,
    /// The breakers for which this replica probes.
    pub probing: Vec<String>,
    /// What operators have ordered and not ended.
    pub orders: Vec<Ordered>,
    /// Breakers opened by what others had found.
    pub takeovers: u64,
    /// Statements sent.
    pub sent: u64,
    /// Those that could not be.
    pub not_sent: u64,
    /// Statements of others.
    pub heard: u64,
    /// How long ago the last came.
    pub last_heard_ms: Option<u64>,
    /// What came and is nothing that a replica says.
    pub ignored: u64,
    /// What this replica had no room for.
    pub dropped: u64,
}

/// Another replica.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// How long ago it was heard.
    pub heard_ms: u64,
    /// Its breakers, as far as there is something to say of them.
    pub breakers: Vec<Told>,
}

/// What another replica says of a breaker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Told {
    /// Its name.
    pub name: String,
    /// `closed`, `open`, `probing`, `set by an operator`.
    pub state: &'static str,
    /// Whether it has opened by what that replica has seen itself.
    pub tripped: bool,
}

/// An order that holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ordered {
    /// Of which breaker; null: of all.
    pub breaker: Option<String>,
    /// What.
    pub order: &'static str,
    /// For how long yet; null: until it is ended.
    pub remaining_ms: Option<u64>,
    /// Why.
    pub reason: String,
    /// Who.
    pub author: String,
    /// At which replica.
    pub member: String,
}
