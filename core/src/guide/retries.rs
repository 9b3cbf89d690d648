//! Retries, concurrency limits, timeouts and a breaker: in which order, and what follows.
//!
//! # Retry inside the breaker
//!
//! The order that serves most callers, from the outside in: **a place, a permit, the attempts,
//! each with its timeout**. Three attempts under one permit are one outcome, so the breaker counts
//! what its caller sees: a call that came right on the third attempt is a success.
//!
//! With [`backon`](https://docs.rs/backon):
//!
//! ```
//! use std::time::Duration;
//! use backon::{ExponentialBuilder, Retryable};
//! use cutout::{Breaker, CallError};
//! use tokio::sync::Semaphore;
//! use tokio::time::{error::Elapsed, timeout};
//!
//! # #[derive(Debug)]
//! # enum Failed { Down, Refused }
//! # impl From<Elapsed> for Failed { fn from(_: Elapsed) -> Self { Self::Down } }
//! /// One attempt.
//! async fn ask(attempt: u32) -> Result<&'static str, Failed> {
//!     if attempt < 3 { Err(Failed::Down) } else { Ok("answer") }
//! }
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let places = Semaphore::new(8);
//! let breaker = Breaker::builder().name("search").build()?;
//!
//! let _place = places.acquire().await?;                     // 1. a place
//! let mut attempt = 0;
//! let answer = breaker
//!     .call_async(|| {                                      // 2. a permit
//!         let attempts = || {
//!             attempt += 1;
//!             async move { timeout(Duration::from_secs(2), ask(attempt)).await? }
//!         };
//!         attempts                                          // 3. the attempts
//!             .retry(ExponentialBuilder::default().with_max_times(2))
//!             .when(|error| matches!(error, Failed::Down))
//!     })
//!     .await;
//! assert!(matches!(answer, Ok("answer")));
//! assert_eq!(attempt, 3);
//! assert_eq!(breaker.snapshot().counts().samples, 1);
//! # Ok(())
//! # }
//! ```
//!
//! Whether an error is tried again (`when`) and whether it speaks against the upstream
//! ([`call_async_with`](crate::Breaker::call_async_with)) are two questions with two answers: a
//! refused password is neither, a 429 may be both.
//!
//! Rejections are never retried here, without a word about it: they come from outside the
//! attempts. But a breaker that opens meanwhile, by other calls, does not stop the attempts of
//! this one. Keep them few.
//!
//! With `tower`, `Retry` under the layer is the same order:
//!
//! ```
//! # #[cfg(feature = "tower")] {
//! use std::future::{Ready, ready};
//! use std::sync::Arc;
//! use cutout::Breaker;
//! use cutout::adapters::tower::BreakerLayer;
//! use tower::limit::ConcurrencyLimitLayer;
//! use tower::retry::{Policy, RetryLayer};
//! use tower::{Service, ServiceBuilder, ServiceExt};
//!
//! #[derive(Clone)]
//! struct Attempts(u32);
//!
//! impl Policy<u32, u32, &'static str> for Attempts {
//!     type Future = Ready<()>;
//!
//!     fn retry(&mut self, _: &mut u32, result: &mut Result<u32, &'static str>) -> Option<Ready<()>> {
//!         self.0 -= 1;
//!         (result.is_err() && self.0 > 0).then(|| ready(()))
//!     }
//!
//!     fn clone_request(&mut self, request: &u32) -> Option<u32> {
//!         Some(*request)
//!     }
//! }
//!
//! # futures_executor::block_on(async {
//! let breaker = Arc::new(Breaker::builder().name("search").build()?);
//! let mut service = ServiceBuilder::new()
//!     .layer(ConcurrencyLimitLayer::new(8))          // 1. a place
//!     .layer(BreakerLayer::new(breaker.clone()))     // 2. a permit
//!     .layer(RetryLayer::new(Attempts(3)))           // 3. the attempts
//!     .service_fn(async |_request: u32| Err::<u32, _>("down"));
//! let answer = service.ready().await.unwrap().call(7).await;
//! assert!(answer.is_err());
//! assert_eq!(breaker.snapshot().counts().failures, 1);
//! # Ok::<(), cutout::ConfigError>(())
//! # }).unwrap();
//! # }
//! ```
//!
//! # Retry outside the breaker
//!
//! Each attempt is then a call with an outcome of its own, and the policy sees rejections. It must
//! not retry them: an attempt that is rejected at once uses up the retries and learns nothing. To
//! wait for the breaker on purpose there is `cutout::adapters::tokio::WaitingRoom`.
//!
//! ```
//! use backon::{ExponentialBuilder, Retryable};
//! use cutout::{Breaker, CallError};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let breaker = Breaker::builder().consecutive_failures(2).build()?;
//! let attempt = || breaker.call_async(async || Err::<(), _>("down"));
//! let answer = attempt
//!     .retry(ExponentialBuilder::default().with_max_times(9))
//!     .when(|error| matches!(error, CallError::Inner(_)))
//!     .await;
//! // Two attempts failed and opened the breaker; the third was rejected, and that was the end.
//! assert!(matches!(answer, Err(CallError::Rejected(_))));
//! # Ok(())
//! # }
//! ```
//!
//! # What follows from the order
//!
//! | | retry inside | retry outside |
//! | --- | --- | --- |
//! | three failed attempts are | one failure | three failures: the breaker trips after a third of the requests |
//! | a call that came right at last is | a success: an upstream that fails two times in three looks well | two failures and a success |
//! | while it waits between attempts it holds | its permit, a probe's slot too | nothing |
//! | when the breaker opens meanwhile | goes on with its attempts | stops: the next attempt is rejected |
//! | rejections are retried | never | unless the policy takes care |
//! | a slow rule judges | the call with all its attempts and pauses | each attempt |
//!
//! Inside suits a caller whose retries are few and quick, and a breaker that is to say whether
//! calls come right. Outside suits long backoff, and a breaker that is to say how the upstream does.
//!
//! | | place, then permit | permit, then place |
//! | --- | --- | --- |
//! | while the breaker is open | callers queue for a place before they learn it; places come back at once, as rejected calls are quick | callers are rejected without queueing |
//! | a probe | starts as soon as it is admitted | waits in the queue with its slot taken and its lease running |
//! | time in the queue | is not the upstream's | counts for the slow rule, and for timeouts measured from the permit |
//! | a place that does not come in time | is no call | must be settled as ignored: it says nothing of the upstream |
//!
//! Take the place first, unless the queue may be long: then ask
//! [`refusal`](crate::Breaker::refusal) before queueing and [`allow`](crate::Breaker::allow) after
//! it.
//!
//! A timeout belongs inside the permit, around each attempt: outside, it drops the call, which the
//! breaker takes for a caller that hung up.
