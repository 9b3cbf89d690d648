#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod allow;
mod annex;
mod bits;
#[cfg(feature = "body")]
pub mod body;
mod breaker;
mod builder;
mod by_time;
mod call;
mod call_async;
pub mod classify;
mod clock;
mod config;
mod deadline;
mod engine;
mod error;
mod event;
mod fallback;
mod flights;
#[cfg(any(feature = "tower", feature = "stream", feature = "body"))]
mod guard;
#[cfg(any(doc, doctest))]
pub mod guide;
mod held;
#[cfg(feature = "http")]
pub mod http;
mod hub;
#[cfg(any(feature = "stream", feature = "body"))]
mod limit;
mod line;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(any(test, feature = "model"))]
pub mod model;
mod operate;
mod outcome;
mod overdue;
mod permit;
mod refusal;
#[cfg(feature = "registry")]
pub mod registry;
mod restore;
#[cfg(feature = "router")]
pub mod router;
mod rules;
#[cfg(feature = "serde")]
pub mod serde;
mod settings;
mod settle;
mod side;
mod snapshot;
mod state;
#[cfg(feature = "stream")]
pub mod stream;
mod sync;
mod tally;
#[cfg(feature = "tokio")]
pub mod tokio;
mod totals;
#[cfg(feature = "tower")]
pub mod tower;
#[cfg(feature = "tracing")]
pub mod tracing;
mod window;
mod word;

pub use breaker::Breaker;
pub use builder::Builder;
pub use clock::{Clock, ManualClock, SystemClock};
pub use config::{Config, OpenWait, Overdue, SlowRule, Window};
pub use error::{CallError, ConfigError, Rejected};
pub use event::Event;
pub use fallback::Fallback;
pub use held::{AnyPermit, BreakerRef};
pub use outcome::{Counts, Outcome, Report, Sample, Settled};
pub use permit::{OwnedPermit, Permit};
pub use snapshot::{Bucket, Snapshot};
pub use state::{Cause, State};
pub use totals::{Endings, Rejections, Totals};
