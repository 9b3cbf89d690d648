//! What HTTP and gRPC answers say about an upstream, and what a rejected call is answered
//! (feature `http`).
//!
//! [`HttpStatus`] and [`GrpcStatus`] are a [`Classify`](crate::wrap::classify::Classify) for responses
//! and a [`Judge`](crate::wrap::classify::Judge) for their bodies. They need no client or server; ask
//! them directly where there is no `tower`:
//!
//! ```
//! use core::time::Duration;
//! use cutout::adapters::http::HttpStatus;
//! use cutout::{Breaker, Outcome};
//! use http::header::RETRY_AFTER;
//! use http::{HeaderMap, HeaderValue, StatusCode};
//!
//! let breaker = Breaker::builder().consecutive_failures(1).build()?;
//! let permit = breaker.allow().unwrap();
//! // ... the upstream answers:
//! let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static("90"))]);
//! let report = HttpStatus::new().report(StatusCode::TOO_MANY_REQUESTS, &headers);
//! assert_eq!(report.outcome, Outcome::Failure);
//! permit.done(report);
//!
//! let rejected = breaker.allow().unwrap_err();
//! assert!(rejected.retry_after() > Some(Duration::from_secs(60)));
//! let answer: http::Response<String> = rejected.into();
//! assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
//! assert_eq!(answer.headers()[RETRY_AFTER], "90");
//! # Ok::<(), cutout::ConfigError>(())
//! ```

mod answer;
mod grpc;
mod retry_after;
mod status;

pub use grpc::{GrpcStatus, retry_pushback};
pub use retry_after::{parse_retry_after, retry_after};
pub use status::HttpStatus;
