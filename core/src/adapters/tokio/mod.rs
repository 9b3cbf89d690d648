//! For async code on tokio: calls with a timeout, waiting for admission, a clock that
//! tests can pause. Needs the `tokio` feature.
//!
//! | to do | use |
//! | --- | --- |
//! | make an async call; no timeout, no feature needed | [`Breaker::call_async`](crate::Breaker::call_async) |
//! | give the call a timeout, and count it as one | [`Breaker::call_timeout`](crate::Breaker::call_timeout), [`Throttle::call_timeout`](crate::Throttle::call_timeout) |
//! | wait for admission in place of a rejection | [`WaitingRoom`] |
//! | let the breaker follow `tokio::time::pause` | [`TokioClock`] |
//!
//! The feature pulls in `tokio` with `sync` and `time`, and nothing else.
//!
//! # Examples
//!
//! A call of at most two seconds, and what each way to end means to the breaker:
//!
//! ```
//! use std::time::Duration;
//! use cutout::adapters::tokio::TimedCallError;
//! use cutout::{Breaker, Config};
//!
//! # async fn fetch() -> Result<String, std::io::Error> { Ok("answer".into()) }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), cutout::ConfigError> {
//! let breaker = Breaker::new(Config::default())?;
//! match breaker.call_timeout(Duration::from_secs(2), async || fetch().await).await {
//!     Ok(answer) => println!("{answer}"),                               // a success
//!     Err(TimedCallError::Inner(error)) => println!("{error}"),         // a failure
//!     Err(TimedCallError::TimedOut(limit)) => println!("{limit:?}"),    // a timeout
//!     Err(TimedCallError::Rejected(rejected)) => println!("{rejected}"),// no call was made
//! }
//! # Ok(())
//! # }
//! ```

mod clock;
mod timeout;
mod waiting;

pub use clock::TokioClock;
pub use timeout::TimedCallError;
pub use waiting::WaitingRoom;
