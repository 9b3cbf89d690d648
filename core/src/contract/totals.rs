//! What a breaker has counted since it was built, as plain values.

use alloc::vec::Vec;

use crate::contract::state::{Cause, State};

/// What a breaker has counted since it was built; see [`Builder::totals`](crate::Builder::totals).
///
/// The numbers of a `Totals` are read one after the other while calls go on. Each only
/// grows.
///
/// # Examples
///
/// ```
/// use cutout::Breaker;
///
/// let breaker = Breaker::builder().totals(true).build()?;
/// breaker.allow().unwrap().success();
/// drop(breaker.allow().unwrap());
///
/// let totals = breaker.totals().unwrap();
/// assert_eq!((totals.calls.success, totals.calls.abandoned), (1, 1));
/// # Ok::<(), cutout::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Calls that were admitted other than as probes, by how they ended.
    pub calls: Endings,
    /// Probes, by how they ended.
    pub probes: Endings,
    /// Calls that were not admitted, by the state that rejected them.
    pub rejections: Rejections,
    /// Transitions that have happened: the state after, the cause, how many.
    pub transitions: Vec<(State, Cause, u64)>,
}

/// How many permits were settled with which outcome, stale ones among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Endings {
    /// Settled as [`Outcome::Success`](crate::Outcome::Success).
    pub success: u64,
    /// Settled as [`Outcome::Answered`](crate::Outcome::Answered).
    pub answered: u64,
    /// Settled as [`Outcome::Failure`](crate::Outcome::Failure).
    pub failure: u64,
    /// Settled as [`Outcome::Timeout`](crate::Outcome::Timeout).
    pub timeout: u64,
    /// Settled as [`Outcome::Ignored`](crate::Outcome::Ignored).
    pub ignored: u64,
    /// Dropped, whatever [`Config::abandoned`](crate::Config::abandoned) and
    /// [`Config::panicked`](crate::Config::panicked) take that for.
    pub abandoned: u64,
}

/// How many calls were rejected in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rejections {
    /// By an open breaker.
    pub open: u64,
    /// By a half-open one whose probes were all out.
    pub half_open: u64,
    /// By one that an operator forced open.
    pub forced_open: u64,
    /// By one that was closed, as one of a share: by a [`Throttle`](crate::Throttle), or on a [ramp](crate::Config::ramp).
    pub closed: u64,
}
