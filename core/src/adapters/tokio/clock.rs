//! A clock that follows tokio's.

use core::time::Duration;
use std::time::SystemTime;

use tokio::time::Instant;

use crate::contract::clock::{Clock, saturating_nanos};

/// Tokio's clock: stands still under `tokio::time::pause` and moves with
/// `tokio::time::advance`, its wall time too.
///
/// With it a breaker, a [`WaitingRoom`](super::WaitingRoom) and the timeouts of a test
/// share one time. In production it is `std::time::Instant`, which costs about twice as
/// much as [`SystemClock`](crate::SystemClock) with the `quanta` feature.
///
/// Only threads that are in the paused runtime see the paused time. A thread that tokio
/// does not know reads the real one.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use cutout::adapters::tokio::TokioClock;
/// use cutout::{Breaker, Config, State};
///
/// #[tokio::main(flavor = "current_thread", start_paused = true)]
/// async fn main() -> Result<(), cutout::ConfigError> {
///     let breaker = Breaker::builder()
///         .config(Config::low_traffic())
///         .clock(TokioClock::new())
///         .build()?;
///     for _ in 0..3 {
///         breaker.allow().unwrap().failure();
///     }
///     assert_eq!(breaker.state(), State::Open);
///     tokio::time::advance(Duration::from_secs(10)).await;
///     assert_eq!(breaker.state(), State::HalfOpen);
///     Ok(())
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    origin: Instant,
    origin_unix: Duration,
}

impl TokioClock {
    /// A clock whose origin is now.
    pub fn new() -> Self {
        Self {
            origin: Instant::now(),
            origin_unix: SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default(),
        }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    fn now(&self) -> u64 {
        saturating_nanos(self.origin.elapsed())
    }

    /// The wall time at the origin, and what has passed since by tokio's clock.
    fn unix_time(&self) -> Duration {
        self.origin_unix.saturating_add(self.origin.elapsed())
    }
}
