//! What an answer says of the upstream that gave it: one table for HTTP and one for gRPC.
//!
//! A [`Verdict`] answers four questions about a status:
//!
//! 1. Is the upstream *alive*? It is when it said something of its own: success or
//!    [answered](Outcome::Answered).
//! 2. Is it *well*? That is the [outcome](Verdict::outcome).
//! 3. Is another *try* at the same upstream worth it, in a moment?
//! 4. Is what it asks of *waiting* (`Retry-After`) to be heeded?
//!
//! `HttpStatus`, `GrpcStatus` and the gateway ask these tables, and nothing else knows a code. A caller who
//! sees a code otherwise changes its row:
//!
//! ```
//! use cutout::Outcome;
//! use cutout::verdict::{Verdict, Verdicts};
//!
//! let verdicts = Verdicts::http()
//!     .with(404, Verdict::FAILURE) // a search index that is not there
//!     .with(409, Verdict::IGNORED);
//! assert_eq!(verdicts.of(404).outcome, Outcome::Failure);
//! assert_eq!(verdicts.of(410).outcome, Outcome::Answered);
//! assert!(verdicts.of(503).retry && verdicts.of(503).waits);
//! ```
//!
//! In a config the changes are a table of names, which the feature `serde` reads as any map of
//! texts to verdicts, and [`Verdicts::with_all`] applies:
//!
//! ```
//! # #[cfg(feature = "serde")] {
//! use std::collections::BTreeMap;
//! use cutout::Outcome;
//! use cutout::verdict::{Verdict, Verdicts};
//!
//! let changes: BTreeMap<String, Verdict> = toml::from_str(
//!     r#"
//!     404 = "failure"
//!     409 = { outcome = "ignored", retry = true }
//!     "#,
//! )?;
//! let verdicts = Verdicts::http().with_all(changes)?;
//! assert_eq!(verdicts.of(404).outcome, Outcome::Failure);
//! assert!(verdicts.of(409).retry);
//!
//! let grpc = Verdicts::grpc().with_all([("NOT_FOUND", Verdict::FAILURE)])?;
//! assert_eq!(grpc.of(5).outcome, Outcome::Failure);
//! let error = Verdicts::grpc().with_all([("NOT_FUOND", Verdict::FAILURE)]).unwrap_err();
//! assert_eq!(error.value(), "NOT_FUOND");
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # HTTP
//!
#![doc = include_str!("http.md")]
//!
//! # gRPC
//!
#![doc = include_str!("grpc.md")]

mod grpc;
mod http;

use alloc::borrow::ToOwned;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;
use core::ops::RangeInclusive;
use core::str::FromStr;

use crate::contract::error::ConfigError;
use crate::contract::outcome::Outcome;

/// What an answer says of the upstream that gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Verdict {
    /// Whether the upstream is well.
    pub outcome: Outcome,
    /// Whether another try at the same upstream may do better in a moment.
    pub retry: bool,
    /// Whether to heed how long it asks to wait.
    pub waits: bool,
}

impl Verdict {
    /// It is well.
    pub const SUCCESS: Self = Self::new(Outcome::Success);
    /// It lives and said no: the fault is the request's.
    pub const ANSWERED: Self = Self::new(Outcome::Answered);
    /// It is ill. What it asks of waiting is heeded.
    pub const FAILURE: Self = Self::new(Outcome::Failure).waiting();
    /// It did not answer in time. What it asks of waiting is heeded.
    pub const TIMEOUT: Self = Self::new(Outcome::Timeout).waiting();
    /// It says nothing of the upstream.
    pub const IGNORED: Self = Self::new(Outcome::Ignored);
    /// It is ill, and may be well in a moment: a failure that is worth another try.
    pub const RETRY: Self = Self::FAILURE.again();

    const NAMES: [(&'static str, Self); 6] = [
        ("success", Self::SUCCESS),
        ("answered", Self::ANSWERED),
        ("failure", Self::FAILURE),
        ("timeout", Self::TIMEOUT),
        ("ignored", Self::IGNORED),
        ("retry", Self::RETRY),
    ];

    const fn new(outcome: Outcome) -> Self {
        Self {
            outcome,
            retry: false,
            waits: false,
        }
    }

    /// The same, worth another try.
    #[must_use]
    pub const fn again(mut self) -> Self {
        self.retry = true;
        self
    }

    /// The same, and what it asks of waiting is heeded.
    #[must_use]
    pub const fn waiting(mut self) -> Self {
        self.waits = true;
        self
    }

    /// Whether the upstream lives: it said something of its own.
    pub const fn is_alive(self) -> bool {
        self.outcome.is_alive()
    }

    /// The name that it is read by, if it has one.
    pub fn name(self) -> Option<&'static str> {
        let mut named = Self::NAMES.into_iter();
        named
            .find(|&(_, verdict)| verdict == self)
            .map(|(name, _)| name)
    }
}

/// What the outcome says by itself.
impl From<Outcome> for Verdict {
    fn from(outcome: Outcome) -> Self {
        let mut named = Self::NAMES.into_iter().map(|(_, verdict)| verdict);
        named
            .find(|verdict| verdict.outcome == outcome)
            .unwrap_or(Self::new(outcome))
    }
}

/// Reads `success`, `answered`, `failure`, `timeout`, `ignored` or `retry`.
impl FromStr for Verdict {
    type Err = UnknownVerdict;

    fn from_str(name: &str) -> Result<Self, UnknownVerdict> {
        Self::NAMES
            .into_iter()
            .find(|&(known, _)| known == name)
            .map(|(_, verdict)| verdict)
            .ok_or(UnknownVerdict)
    }
}

/// A name that no verdict has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownVerdict;

impl fmt::Display for UnknownVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a verdict is one of success, answered, failure, timeout, ignored, retry \
             (a failure that is worth another try)",
        )
    }
}

impl Error for UnknownVerdict {}

/// Some codes and what they say.
struct Row {
    codes: RangeInclusive<i32>,
    verdict: Verdict,
    why: &'static str,
}

const fn row(first: i32, last: i32, verdict: Verdict, why: &'static str) -> Row {
    Row {
        codes: first..=last,
        verdict,
        why,
    }
}

/// A protocol's codes, in order and without a gap.
struct Table {
    rows: &'static [Row],
    /// For whatever else arrives.
    other: Row,
    /// Names of codes, from zero on.
    names: &'static [&'static str],
    /// The numbers that a text may give, and how an error tells of them.
    codes: RangeInclusive<i32>,
    legal: &'static str,
}

impl Table {
    fn row(&self, code: i32) -> &Row {
        let index = self.rows.partition_point(|row| *row.codes.end() < code);
        let row = self.rows.get(index);
        row.filter(|row| row.codes.contains(&code))
            .unwrap_or(&self.other)
    }
}

/// What the codes of a protocol say, with the changes of a caller.
///
/// Clones share the changes.
#[derive(Clone)]
pub struct Verdicts {
    table: &'static Table,
    /// In the order of their codes.
    changed: Option<Arc<[(i32, Verdict)]>>,
}

impl Verdicts {
    /// What the statuses of HTTP say.
    pub const fn http() -> Self {
        Self {
            table: &http::TABLE,
            changed: None,
        }
    }

    /// What the status codes of gRPC say.
    pub const fn grpc() -> Self {
        Self {
            table: &grpc::TABLE,
            changed: None,
        }
    }

    /// Changes what a code says, whether the protocol has it or not.
    #[must_use]
    pub fn with(mut self, code: impl Into<i32>, verdict: impl Into<Verdict>) -> Self {
        let code = code.into();
        let mut changed: Vec<_> = self.changed.as_deref().unwrap_or_default().to_vec();
        changed.retain(|&(other, _)| other != code);
        changed.push((code, verdict.into()));
        changed.sort_unstable_by_key(|&(code, _)| code);
        self.changed = Some(changed.into());
        self
    }

    /// Changes what codes say that are given as text: the numbers of the protocol, and for gRPC their
    /// names too, in upper or lower case.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] on the first code that the protocol does not have (a text may be mistyped, so it is held to
    /// more than [`with`](Self::with) is) or that is given twice. Nothing is changed.
    pub fn with_all<N, V>(
        self,
        changes: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Self, ConfigError>
    where
        N: AsRef<str>,
        V: Into<Verdict>,
    {
        let mut given = Vec::new();
        let mut changed = self;
        for (name, verdict) in changes {
            let name = name.as_ref();
            let code = changed.code(name)?;
            if given.contains(&code) {
                return Err(refused(name, "given once, by its number or by its name"));
            }
            given.push(code);
            changed = changed.with(code, verdict);
        }
        Ok(changed)
    }

    /// The code that a text gives, for who has other names beside those of the protocol.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if the protocol has no such code.
    pub fn code(&self, name: &str) -> Result<i32, ConfigError> {
        let named = |known: &&str| known.eq_ignore_ascii_case(name);
        let named = self.table.names.iter().position(named);
        let number = || match name.strip_prefix('+') {
            Some(_) => None,
            None => name.parse().ok(),
        };
        let code = named.and_then(|index| i32::try_from(index).ok());
        code.or_else(number)
            .filter(|code| self.table.codes.contains(code))
            .ok_or_else(|| refused(name, self.table.legal))
    }

    /// What this code says. Any number has an answer: one that is not of the protocol
    /// comes from something that does not speak it, and is a failure.
    pub fn of(&self, code: impl Into<i32>) -> Verdict {
        let code = code.into();
        let changed = self.changed.as_deref().unwrap_or_default();
        match changed.binary_search_by_key(&code, |&(code, _)| code) {
            Ok(index) => changed[index].1,
            Err(_) => self.table.row(code).verdict,
        }
    }

    /// Why this code says what it does by default.
    pub fn why(&self, code: impl Into<i32>) -> &'static str {
        self.table.row(code.into()).why
    }

    /// The table without the changes: codes, verdict, reason; last, without codes, what
    /// holds for all others.
    pub fn rows(
        &self,
    ) -> impl Iterator<Item = (Option<RangeInclusive<i32>>, Verdict, &'static str)> {
        let known = self.table.rows.iter();
        let other = &self.table.other;
        known
            .map(|row| (Some(row.codes.clone()), row.verdict, row.why))
            .chain([(None, other.verdict, other.why)])
    }
}

fn refused(code: &str, legal: &'static str) -> ConfigError {
    ConfigError {
        field: "code",
        value: code.to_owned(),
        legal,
    }
}

impl fmt::Debug for Verdicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changed = self.changed.as_deref().unwrap_or_default();
        f.debug_map().entries(changed.iter().copied()).finish()
    }
}

/// Equal in what they say of each code.
impl PartialEq for Verdicts {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.table, other.table) && self.changed == other.changed
    }
}

impl Eq for Verdicts {}
