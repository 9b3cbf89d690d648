//! A clock for tests.

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use crate::contract::clock::{Clock, saturating_nanos};
use crate::engine::sync::{AtomicU64, Relaxed};

/// A clock that moves only when told to, for tests. Clones share their time.
///
/// # Examples
///
/// ```
/// use core::time::Duration;
/// use cutout::{Breaker, Config, ManualClock, Outcome, State};
///
/// let clock = ManualClock::new();
/// let breaker = Breaker::builder()
///     .config(Config::low_traffic())
///     .clock(clock.clone())
///     .build()?;
/// for _ in 0..3 {
///     breaker.allow().unwrap().done(Outcome::Failure);
/// }
/// assert_eq!(breaker.state(), State::Open);
/// clock.advance(Duration::from_secs(10));
/// assert_eq!(breaker.state(), State::HalfOpen);
/// # Ok::<(), cutout::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct ManualClock {
    time: Arc<Time>,
}

struct Time {
    monotonic: AtomicU64,
    unix: AtomicU64,
}

impl ManualClock {
    /// A clock at zero, its wall time at the Unix epoch.
    pub fn new() -> Self {
        Self {
            time: Arc::new(Time {
                monotonic: AtomicU64::new(0),
                unix: AtomicU64::new(0),
            }),
        }
    }

    /// Moves the clock and its wall time forward, saturating.
    pub fn advance(&self, by: Duration) {
        let by = saturating_nanos(by);
        // Relaxed, in all of this clock: a reading orders nothing but itself.
        for time in [&self.time.monotonic, &self.time.unix] {
            let _ = time.fetch_update(Relaxed, Relaxed, |now| Some(now.saturating_add(by)));
        }
    }

    /// Sets the monotonic reading, backwards too.
    pub fn set(&self, since_origin: Duration) {
        // Relaxed: as in `advance`.
        self.time
            .monotonic
            .store(saturating_nanos(since_origin), Relaxed);
    }

    /// Sets the wall time, backwards too.
    pub fn set_unix_time(&self, since_epoch: Duration) {
        // Relaxed: as in `advance`, since a reading orders nothing.
        self.time.unix.store(saturating_nanos(since_epoch), Relaxed);
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManualClock")
            .field("now", &Duration::from_nanos(self.now()))
            .field("unix_time", &self.unix_time())
            .finish()
    }
}

impl Clock for ManualClock {
    #[inline]
    fn now(&self) -> u64 {
        // Relaxed: a reading orders nothing but itself.
        self.time.monotonic.load(Relaxed)
    }

    fn unix_time(&self) -> Duration {
        // Relaxed: as in `now`.
        Duration::from_nanos(self.time.unix.load(Relaxed))
    }
}
