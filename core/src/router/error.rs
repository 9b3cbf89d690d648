//! Why no target was chosen, and why a queue was not changed.

use alloc::sync::Arc;
use core::error::Error;
use core::fmt;
use core::time::Duration;

use super::positions::Positions;
use crate::breaker::rejected::Rejected;
use crate::breaker::told::source_of_rejection;
use crate::contract::error::ConfigError;

/// Why no target was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoTarget {
    /// The targets that are left all reject.
    Rejected {
        /// The name of the target whose rejection ends first.
        name: Arc<str>,
        /// That rejection.
        rejected: Rejected,
    },
    /// The request has tried every target that it may be sent to.
    Exhausted {
        /// How many it has tried.
        tried: usize,
    },
}

impl NoTarget {
    /// The time until some target may admit a call again.
    ///
    /// `None` when no clock can tell, and when all targets have been tried.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Rejected { rejected, .. } => rejected.retry_after(),
            Self::Exhausted { .. } => None,
        }
    }
}

impl fmt::Display for NoTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected { name, rejected } => {
                write!(
                    f,
                    "every target rejects; the first to end is `{name}`: {rejected}"
                )
            }
            Self::Exhausted { tried: 0 } => f.write_str("no target is eligible for this request"),
            Self::Exhausted { tried } => {
                write!(f, "no target is left for this request: {tried} tried")
            }
        }
    }
}

impl Error for NoTarget {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Rejected { rejected, .. } => Some(rejected),
            Self::Exhausted { .. } => source_of_rejection(),
        }
    }
}

/// Why a router was not built or not changed. It is as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RouterError {
    /// A config value is not legal.
    Config(ConfigError),
    /// No target would be left that takes ordinary calls: one that is neither a
    /// canary nor a last resort.
    LastTarget,
    /// There is a target of this name already.
    DuplicateName(Arc<str>),
    /// There is no target of this name.
    UnknownName(Arc<str>),
    /// The position is beyond the end of the queue.
    NoSuchPosition {
        /// The position that was asked for.
        position: usize,
        /// How many targets the queue has.
        len: usize,
    },
    /// The queue has all the targets it can hold, 128.
    Full,
}

impl fmt::Display for RouterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::LastTarget => f.write_str(
                "the queue needs a target that is neither a canary nor a last resort: add one first",
            ),
            Self::DuplicateName(name) => {
                write!(f, "the queue has a target `{name}` already: remove it or use another name")
            }
            Self::UnknownName(name) => write!(f, "the queue has no target `{name}`"),
            Self::NoSuchPosition { position, len } => write!(
                f,
                "position {position} is beyond the end of the queue, which has {len} targets"
            ),
            Self::Full => write!(
                f,
                "the queue holds {} targets, the most it can: remove one first",
                Positions::MAX
            ),
        }
    }
}

impl Error for RouterError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Config(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ConfigError> for RouterError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}
