//! The breaker in other crates' terms: one module a feature.
//!
//! They are gathered here, and not at the crate's root, so that `use cutout::*` never hides the
//! crates that they are named for.

#[cfg(feature = "body")]
pub mod body;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(feature = "serde")]
pub mod serde;
#[cfg(feature = "stream")]
pub mod stream;
#[cfg(feature = "tokio")]
pub mod tokio;
#[cfg(feature = "tower")]
pub mod tower;
#[cfg(feature = "tracing")]
pub mod tracing;
