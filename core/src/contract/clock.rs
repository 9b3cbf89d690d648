//! Where time comes from.

use core::time::Duration;

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

/// A duration in nanoseconds; what does not fit is `u64::MAX` (584 years).
pub(crate) fn saturating_nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
