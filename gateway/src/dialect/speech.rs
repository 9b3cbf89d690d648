//! How answers are read: whole ones, and the events of streams.

use std::fmt::Debug;

use serde::Deserialize;
use serde_json::Value;

use super::{ApiError, Refusal, Usage};

/// What an event says of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Nothing: a comment, as providers send to keep a connection alive.
    Nothing,
    /// That an answer begins, and nothing of it yet.
    Head,
    /// A piece of the answer; `finished` if it says why the answer ends.
    Piece {
        /// Whether it says why the answer ends.
        finished: bool,
    },
    /// The proper end.
    Done {
        /// Whether it is an answer by itself, though no piece came before it.
        is_answer: bool,
    },
    /// An error.
    Error(Box<Refusal>),
    /// What no client could read, and why.
    Broken(&'static str),
}

/// Why a whole answer is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// It is an error.
    Refused(Box<Refusal>),
    /// It is not one of the protocol, or empty.
    Invalid(&'static str),
}

impl From<Refusal> for Unfit {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

/// One event of a stream, taken apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event<'a> {
    /// Its name; empty if it has none.
    pub(crate) name: &'a str,
    /// Its data, which is not blank.
    pub(crate) data: &'a str,
}

impl<'a> Event<'a> {
    /// What its data says.
    pub(super) fn parse<T: Deserialize<'a>>(&self) -> Result<T, Said> {
        serde_json::from_str(self.data).map_err(|_| NO_JSON)
    }

    /// The error that it is, if it is one.
    pub(super) fn refusal(&self, is_error: bool) -> Option<Said> {
        let value = serde_json::from_str(self.data);
        let value = value.unwrap_or_else(|_| Value::String(self.data.to_owned()));
        let refusal = Refusal::inside(value, is_error)?;
        Some(Said::Error(Box::new(refusal)))
    }
}

pub(super) const NO_JSON: Said = Said::Broken("an event that is not JSON");

/// How the answers of an endpoint are read, and how its clients are told of failures.
pub(crate) trait Speech: Debug + Sync {
    /// Looks at a whole answer.
    ///
    /// # Errors
    ///
    /// It is an error, no answer of this endpoint, or empty.
    fn whole(&self, text: &str) -> Result<(), Unfit>;

    /// Looks at an event of a stream.
    fn event(&self, event: Event<'_>) -> Said;

    /// What an answer, or the data of an event, says of the tokens it cost.
    fn usage(&self, text: &[u8]) -> Option<Usage>;

    /// An event that its clients raise as an error.
    fn failure(&self, error: &ApiError) -> String;
}

/// A whole answer, taken apart.
pub(super) fn parse<'a, T: Default + Deserialize<'a>>(text: &'a str) -> Result<T, Unfit> {
    let value: Option<T> = serde_json::from_str(text)
        .map_err(|_| Unfit::Invalid("a body that is not a JSON object"))?;
    Ok(value.unwrap_or_default())
}

/// The error that a whole answer is, if it is one.
pub(super) fn refusal(text: &str) -> Option<Refusal> {
    Refusal::inside(serde_json::from_str(text).unwrap_or_default(), false)
}
