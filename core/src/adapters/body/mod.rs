//! HTTP bodies that settle a permit when they end (feature `body`).
//!
//! [`GuardedBody`] does for `http_body::Body` what `GuardedStream` does for streams. It settles
//! its permit once:
//!
//! | the body | settles as |
//! | --- | --- |
//! | ends, or says after a frame that it has ended | what its [`Judge`](crate::wrap::classify::Judge) says of an end: success |
//! | yields a frame or an error on which the judge has a verdict | that verdict; an error is a failure |
//! | yields trailers with a gRPC status, judged by `GrpcStatus` | what the status means |
//! | reaches a limit ([`GuardedBody::limits`]) | timeout; ignored if the limit [ends much too late](crate::Report::timed_out) |
//! | panics while it is polled | [`Config::panicked`](crate::Config::panicked): failure |
//! | is dropped before any of these | [`Config::abandoned`](crate::Config::abandoned): ignored |
//!
//! That a body "says that it has ended" matters: who sees `is_end_stream` need not poll for the
//! end, and seldom does. `size_hint` and `is_end_stream` are those of the body inside.
//!
//! A slow rule measures from `allow` to the end of the body; see
//! [`Report::elapsed`](crate::Report::elapsed) for another measure.
//!
//! With the feature `tower`, `BreakerLayer::through_body` hands the permit of a call on to the
//! body of its response.
//!
//! # Examples
//!
//! ```
//! use std::sync::Arc;
//! use cutout::adapters::body::GuardedBody;
//! use cutout::Breaker;
//! use http_body_util::{BodyExt, Full};
//!
//! # futures_executor::block_on(async {
//! let breaker = Arc::new(Breaker::builder().build()?);
//! let body = Full::new(&b"pong"[..]);
//! let body = GuardedBody::new(body, breaker.allow_owned()?);
//! assert_eq!(body.collect().await?.to_bytes(), "pong");
//! assert_eq!(breaker.snapshot().counts().samples, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

mod guarded;
mod limited;

pub use crate::wrap::stream_limits::{Elapsed, Limits, Timer};
pub use guarded::GuardedBody;
pub use limited::{BodyError, LimitedBody};
