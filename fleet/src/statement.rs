//! What a member says, and how it is read: JSON, bounded, of which any bytes may come.

use std::sync::Arc;
use std::time::Duration;

use cutout::{Counts, Label};
use serde::{Deserialize, Serialize};

/// The longest name of a breaker, or of a member, in bytes.
pub(crate) const MAX_NAME: usize = 256;
/// How many names a member speaks of at once.
pub(crate) const MAX_NAMES: usize = 128;
/// The longest statement that is read, in bytes.
pub(crate) const MAX_STATEMENT: usize = 128 * 1024;
/// How many names may have orders.
pub(crate) const MAX_ORDERS: usize = 1000;
/// The longest text of an order, in bytes.
pub(crate) const MAX_REASON: usize = 199;
/// The way of writing that this release reads and writes.
const VERSION: u64 = 1;

/// All that a member says at one moment: a whole, so that each one makes those before it dispensable. No times but ages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Statement {
    pub(crate) v: u64,
    pub(crate) member: Arc<str>,
    /// Larger with each start of the member.
    pub(crate) incarnation: u64,
    /// Larger with each statement of an incarnation.
    pub(crate) seq: u64,
    #[serde(default)]
    pub(crate) names: Vec<Entry>,
    /// The newest order that it knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) order: Option<Order>,
}

/// What a member says of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) name: Arc<str>,
    /// A digest of the breaker's config: members of another one do not listen.
    pub(crate) config: u64,
    pub(crate) is: Phase,
    /// Requests per second, if it counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) calls: Option<f64>,
    /// By what it has opened, if by what it has seen itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trip: Option<SaidTrip>,
    /// What its last probes have shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) verdict: Option<SaidVerdict>,
}

/// How a breaker stands, for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The member does not use this name.
    Unused,
    /// It admits calls.
    Closed,
    /// It rejects them.
    Open,
    /// It probes.
    Probing,
    /// It is in an operator's state.
    Operated,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SaidTrip {
    /// Larger with each trip and verdict of an incarnation.
    pub(crate) number: u64,
    pub(crate) age_ms: u64,
    pub(crate) counts: Counts,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<Arc<str>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SaidVerdict {
    pub(crate) number: u64,
    pub(crate) age_ms: u64,
    pub(crate) well: bool,
    /// If it is ill: how long its breaker waits from now on.
    #[serde(default)]
    pub(crate) left_ms: u64,
    /// If it is ill: how often in a row, over the fleet.
    #[serde(default)]
    pub(crate) attempt: u32,
}

/// What an operator orders, of one name or of all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Order {
    /// None: of all names.
    pub(crate) name: Option<Arc<str>>,
    /// Of two orders the one with the larger number holds; of two equal ones that of the larger member.
    pub(crate) number: u64,
    pub(crate) member: Arc<str>,
    pub(crate) what: Action,
    /// How long it holds from now on; None: until it is ended. Of a [`Action::Close`]: how long it is carried out when it is heard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) left_ms: Option<u64>,
    pub(crate) reason: Arc<str>,
    pub(crate) author: Arc<str>,
}

/// What operators order a fleet to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Action {
    /// Reject all calls: [`Breaker::force_open`](cutout::Breaker::force_open).
    ForceOpen,
    /// Close, now: [`Breaker::close`](cutout::Breaker::close). For those that join later it is a [`Resume`](Self::Resume).
    Close,
    /// Admit all calls and record nothing: [`Breaker::disable`](cutout::Breaker::disable).
    Disable,
    /// Admit all calls and report what would have opened: [`Breaker::observe_only`](cutout::Breaker::observe_only).
    ObserveOnly,
    /// End what was ordered: [`Breaker::resume`](cutout::Breaker::resume).
    Resume,
}

/// Why what came was not listened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Ignored {
    /// More bytes than a statement may have, 128 KiB.
    TooLong,
    /// Not what a member writes.
    Malformed,
    /// Of a version of this crate that writes otherwise.
    Version,
    /// More names than a member may speak of, 128, or one of more than 256 bytes.
    Names,
    /// Said before what was heard already, or by an incarnation that is over.
    Old,
    /// Another process that goes by this member's name.
    Twin,
    /// From more members than a fleet has, 1000.
    Members,
    /// A key of the fleet that holds what the fleet has not put there.
    Key,
}

impl Ignored {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::TooLong,
        Self::Malformed,
        Self::Version,
        Self::Names,
        Self::Old,
        Self::Twin,
        Self::Members,
        Self::Key,
    ];

    /// The name in metrics and logs: `too_long`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::Malformed => "malformed",
            Self::Version => "version",
            Self::Names => "names",
            Self::Old => "old",
            Self::Twin => "twin",
            Self::Members => "members",
            Self::Key => "key",
        }
    }
}

impl Statement {
    pub(crate) fn new(member: Arc<str>, incarnation: u64, seq: u64) -> Self {
        Self {
            v: VERSION,
            member,
            incarnation,
            seq,
            names: Vec::new(),
            order: None,
        }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("plain values have a text")
    }

    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Ignored> {
        let statement: Self = read(bytes, MAX_STATEMENT)?;
        let is_name = |name: &str| !name.is_empty() && name.len() <= MAX_NAME;
        if !is_name(&statement.member)
            || statement.names.len() > MAX_NAMES
            || !statement.names.iter().all(|entry| is_name(&entry.name))
        {
            return Err(Ignored::Names);
        }
        let counts = |calls: f64| calls.is_finite() && calls >= 0.0;
        if !statement
            .names
            .iter()
            .all(|entry| entry.calls.is_none_or(counts))
        {
            return Err(Ignored::Malformed);
        }
        if let Some(order) = &statement.order {
            order.check()?;
        }
        Ok(statement)
    }
}

impl Order {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(&Kept {
            v: VERSION,
            order: self.clone(),
        })
        .expect("plain values have a text")
    }

    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Ignored> {
        let kept: Kept = read(bytes, MAX_STATEMENT)?;
        kept.order.check()?;
        Ok(kept.order)
    }

    fn check(&self) -> Result<(), Ignored> {
        let texts = [&self.reason, &self.author];
        let is_name = |name: &Arc<str>| !name.is_empty() && name.len() <= MAX_NAME;
        if !self.name.iter().chain([&self.member]).all(is_name)
            || texts.iter().any(|text| text.len() > MAX_REASON)
        {
            return Err(Ignored::Names);
        }
        // A number that no member can come to, and after which there is none.
        if self.number > u64::MAX / 2 {
            return Err(Ignored::Malformed);
        }
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
struct Kept {
    v: u64,
    order: Order,
}

#[derive(Deserialize)]
struct Versioned {
    v: u64,
}

fn read<T: for<'a> Deserialize<'a>>(bytes: &[u8], longest: usize) -> Result<T, Ignored> {
    if bytes.len() > longest {
        return Err(Ignored::TooLong);
    }
    match serde_json::from_slice(bytes) {
        // What a later release writes may look like one of ours.
        Ok(Versioned { v: VERSION }) => {}
        Ok(_) => return Err(Ignored::Version),
        Err(_) => return Err(Ignored::Malformed),
    }
    serde_json::from_slice(bytes).map_err(|_| Ignored::Malformed)
}

impl SaidTrip {
    pub(crate) fn label(&self) -> Option<Label> {
        self.label.as_deref().map(Label::new)
    }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The digest of a config, the same in all processes.
pub(crate) fn digest(config: &cutout::Config) -> u64 {
    let text = serde_json::to_vec(config).unwrap_or_default();
    // FNV-1a: it tells configs apart, and guards against nobody.
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A text, cut between characters.
pub(crate) fn cut(text: &str, longest: usize) -> &str {
    let end = (0..=longest.min(text.len())).rfind(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}
