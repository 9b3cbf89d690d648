//! What a breaker means: plain values and pure decisions, with no atomics and no engine.

pub(crate) mod clock;
pub(crate) mod config;
pub(crate) mod cusum;
pub(crate) mod deadline;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod evidence;
pub(crate) mod label;
pub(crate) mod outcome;
pub(crate) mod ratio;
pub(crate) mod rules;
pub(crate) mod score;
pub(crate) mod snapshot;
pub(crate) mod stages;
pub(crate) mod state;
pub(crate) mod throttle;
pub(crate) mod totals;
pub mod verdict;
