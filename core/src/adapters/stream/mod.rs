//! Streams that settle a permit when they end (feature `stream`).
//!
//! The outcome of a streaming call is not known at its first item. [`GuardedStream`] carries the
//! call's permit along and settles it once:
//!
//! | the stream | settles as |
//! | --- | --- |
//! | ends | what its [`Judge`](crate::wrap::classify::Judge) says of an end: success |
//! | yields an item on which the judge has a verdict | that verdict; an `Err` is a failure |
//! | reaches a limit ([`GuardedStream::limits`]) | timeout; ignored if the limit [ends much too late](crate::Report::timed_out) |
//! | panics while it is polled | [`Config::panicked`](crate::Config::panicked): failure |
//! | is dropped before any of these | [`Config::abandoned`](crate::Config::abandoned): ignored |
//!
//! What comes after the verdict passes through unjudged. A slow rule measures from `allow` to the
//! end of the stream; see [`Report::elapsed`](crate::Report::elapsed) for another measure.
//!
//! # Examples
//!
//! ```
//! use std::pin::pin;
//! use std::sync::Arc;
//! use cutout::adapters::stream::GuardedStream;
//! use cutout::Breaker;
//! use futures_util::{StreamExt, stream};
//!
//! # futures_executor::block_on(async {
//! let breaker = Arc::new(Breaker::builder().consecutive_failures(1).build()?);
//! let permit = breaker.allow_owned()?;
//! let tokens = stream::iter([Ok("to"), Ok("ken"), Err("connection reset")]);
//! let mut tokens = pin!(GuardedStream::new(tokens, permit));
//! while let Some(token) = tokens.next().await {
//!     println!("{token:?}");
//! }
//! assert!(breaker.allow().is_err(), "the stream broke");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

mod guarded;
mod limited;

pub use crate::wrap::stream_limits::{Elapsed, Limits, Timer};
pub use guarded::GuardedStream;
pub use limited::LimitedStream;
