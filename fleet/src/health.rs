//! How a fleet is, as one of its members sees it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::statement::{Action, Ignored, Phase};

/// How a fleet is, as one of its members sees it: [`Fleet::health`](crate::Fleet::health).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Health {
    /// The name of this member.
    pub member: Arc<str>,
    /// Whether the bus is connected.
    pub is_connected: bool,
    /// Why it is not, or was not last.
    pub trouble: Option<Arc<str>>,
    /// The other members that live.
    pub members: Vec<MemberHealth>,
    /// Statements that this member has sent.
    pub sent: u64,
    /// And that it could not send.
    pub not_sent: u64,
    /// Statements of others that were listened to.
    pub heard: u64,
    /// How long ago the last of them came.
    pub last_heard: Option<Duration>,
    /// What came and was not listened to, by reason, without those that never were.
    pub ignored: Vec<(Ignored, u64)>,
    /// What this member had no room for.
    pub dropped: u64,
    /// How often it has opened a breaker by what others had found.
    pub takeovers: u64,
    /// The names that it has the right to probe.
    pub probes: Vec<Arc<str>>,
    /// What operators have ordered and not ended, as far as this member knows.
    pub orders: Vec<OrderHealth>,
}

/// An order that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OrderHealth {
    /// Of which name; none: of all. It need not be one that this member uses.
    pub name: Option<Arc<str>>,
    /// What is ordered.
    pub what: Action,
    /// For how long yet; none: until it is ended.
    pub left: Option<Duration>,
    /// Why.
    pub reason: Arc<str>,
    /// Who has ordered it.
    pub author: Arc<str>,
    /// The member that was told to.
    pub member: Arc<str>,
    /// Larger than that of the orders that this member knew: another order of the name has another number, or another member.
    pub number: u64,
}

/// What is known of another member.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MemberHealth {
    /// Its name.
    pub name: Arc<str>,
    /// Which start of it this is.
    pub incarnation: u64,
    /// How long ago it was heard.
    pub heard: Duration,
    /// The names that it speaks of, how its breaker stands, and whether it has opened by what it has seen itself.
    pub names: Vec<(Arc<str>, Phase, bool)>,
}

impl Health {
    /// How often something was not listened to for this reason.
    pub fn ignored(&self, why: Ignored) -> u64 {
        let found = self.ignored.iter().find(|(reason, _)| *reason == why);
        found.map_or(0, |(_, times)| *times)
    }
}

/// `connected, 7 other members, 3 takeovers`.
impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_connected, &self.trouble) {
            (true, _) => f.write_str("connected")?,
            (false, Some(trouble)) => write!(f, "not connected: {trouble}")?,
            (false, None) => f.write_str("not connected yet")?,
        }
        let (members, takeovers) = (self.members.len(), self.takeovers);
        write!(f, ", {members} other members, {takeovers} takeovers")
    }
}
