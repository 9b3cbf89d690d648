//! What all that wraps calls shares.

pub mod classify;
#[cfg(any(feature = "stream", feature = "body"))]
pub(crate) mod stream_limits;
