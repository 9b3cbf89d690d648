#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
// On docs.rs alone: a label on all that needs a feature.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

extern crate alloc;

// The rooms, lowest first: each uses those above it in this list, and none below.
pub mod adapters;
mod breaker;
mod contract;
mod engine;
#[cfg(any(doc, doctest))]
pub mod guide;
#[cfg(any(test, feature = "model"))]
pub mod model;
#[cfg(feature = "odds")]
pub mod odds;
#[cfg(feature = "record")]
pub mod record;
#[cfg(feature = "registry")]
pub mod registry;
#[cfg(feature = "router")]
pub mod router;
mod throttle;
mod wrap;

pub use breaker::Breaker;
pub use breaker::breaker_ref::BreakerRef;
pub use breaker::builder::Builder;
pub use breaker::fallback::Fallback;
pub use breaker::gate::{AnyPermit, Gate};
#[cfg(feature = "std")]
pub use breaker::listener_set::{ListenerId, ListenerSet};
pub use breaker::manual_clock::ManualClock;
pub use breaker::permit::{OwnedPermit, Permit};
pub use breaker::rejected::{CallError, Rejected};
pub use breaker::watch::CallEvent;
pub use contract::clock::{Clock, SystemClock};
pub use contract::config::{Config, OpenWait, Overdue, SlowRule, Window};
pub use contract::cusum::{Cusum, SlowScore};
pub use contract::error::ConfigError;
pub use contract::event::Event;
pub use contract::evidence::{Evidence, OperatorAction, Threshold, Trip};
pub use contract::label::Label;
pub use contract::outcome::{Counts, Outcome, Report, Sample, Settled};
pub use contract::score::Score;
pub use contract::snapshot::{Bucket, HeldScore, Interrupted, Scores, Snapshot};
pub use contract::stages::Stages;
pub use contract::state::{Cause, State};
pub use contract::throttle::{Share, ThrottleConfig};
pub use contract::totals::{Endings, Rejections, Totals};
pub use contract::verdict;
pub use throttle::Throttle;
pub use throttle::builder::ThrottleBuilder;
pub use throttle::permit::{OwnedThrottlePermit, ThrottlePermit};
pub use wrap::classify;
