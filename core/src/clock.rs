//! Where time comes from.

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use crate::sync::{AtomicU64, Relaxed};

/// A monotonic clock.
///
/// A breaker reads it in nanoseconds and keeps the reading of its own start,
/// so any fixed origin will do. A clock that stands still or steps back only
/// makes waits longer; it never admits a call early.
pub trait Clock: Send + Sync {
    /// Nanoseconds since an origin that stays the same for the clock's life.
    fn now(&self) -> u64;

    /// The wall-clock time since the Unix epoch, used by snapshots alone.
    /// Zero, the default, means that it is not known.
    fn unix_time(&self) -> Duration {
        Duration::ZERO
    }
}

/// The system's monotonic clock: the processor's time-stamp counter with the
/// `quanta` feature, `std::time::Instant` without it.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    #[cfg(feature = "quanta")]
    origin: quanta::Instant,
    #[cfg(not(feature = "quanta"))]
    origin: std::time::Instant,
}

/// The system's clock, of which there is none without the `std` feature: name
/// a clock of your own in [`Breaker`](crate::Breaker)'s type.
#[cfg(not(feature = "std"))]
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    none: core::convert::Infallible,
}

#[cfg(not(feature = "std"))]
impl Clock for SystemClock {
    fn now(&self) -> u64 {
        match self.none {}
    }
}

#[cfg(feature = "std")]
impl SystemClock {
    /// A clock whose origin is now.
    pub fn new() -> Self {
        Self {
            #[cfg(feature = "quanta")]
            origin: quanta::Instant::now(),
            #[cfg(not(feature = "quanta"))]
            origin: std::time::Instant::now(),
        }
    }
}

#[cfg(feature = "std")]
impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(feature = "std")]
impl Clock for SystemClock {
    #[inline]
    fn now(&self) -> u64 {
        // Truncates after 584 years.
        self.origin.elapsed().as_nanos() as u64
    }

    fn unix_time(&self) -> Duration {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or(Duration::ZERO)
    }
}

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
        for time in [&self.time.monotonic, &self.time.unix] {
            let _ = time.fetch_update(Relaxed, Relaxed, |now| Some(now.saturating_add(by)));
        }
    }

    /// Sets the monotonic reading, backwards too.
    pub fn set(&self, since_origin: Duration) {
        self.time
            .monotonic
            .store(saturating_nanos(since_origin), Relaxed);
    }

    /// Sets the wall time, backwards too.
    pub fn set_unix_time(&self, since_epoch: Duration) {
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
        self.time.monotonic.load(Relaxed)
    }

    fn unix_time(&self) -> Duration {
        Duration::from_nanos(self.time.unix.load(Relaxed))
    }
}

/// A duration in nanoseconds; what does not fit is `u64::MAX` (584 years).
pub(crate) fn saturating_nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
