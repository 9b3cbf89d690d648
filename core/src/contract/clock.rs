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

    /// A reading that costs less and may be a little off: at most 50 ms behind [`now`](Self::now), and hardly
    /// ever ahead of it. `None`, the default, if there is no such reading.
    ///
    /// Calls that have long to wait are rejected by it, as long as 100 ms are left by this reading. None is
    /// ever admitted by it. A [`retry_after`](crate::Rejected::retry_after) is as much too long as
    /// the reading is behind, or too short as it is ahead. A reading that is more than 100 ms behind rejects calls
    /// for that much longer.
    fn recent(&self) -> Option<u64> {
        None
    }

    /// The wall-clock time since the Unix epoch, used by snapshots alone.
    /// Zero, the default, means that it is not known.
    fn unix_time(&self) -> Duration {
        Duration::ZERO
    }
}

/// The system's monotonic clock: the processor's time-stamp counter with the
/// `quanta` feature, `std::time::Instant` without it.
///
/// On Linux with `quanta` its [`recent`](Clock::recent) readings are by the kernel's coarse clock, which moves with each
/// tick of the kernel: they are at most 20 ms behind and not ahead. A tick that comes late, as in a guest whose processors
/// are taken away, makes readings older by as much, and those after it up to 20 ms ahead.
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

    #[cfg(all(feature = "quanta", target_os = "linux"))]
    #[inline]
    fn recent(&self) -> Option<u64> {
        Some(coarse::since(self.origin))
    }

    fn unix_time(&self) -> Duration {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or(Duration::ZERO)
    }
}

/// The kernel's coarse clock, in the terms of the time-stamp counter.
///
/// The kernel moves its coarse clock with each of its ticks, of 10 ms at most, and reading it takes a third of what the
/// counter takes. Both clocks run at rates that differ by some millionths, so each thread reads both of them
/// every now and then, and goes by how far the coarse one has come since.
#[cfg(all(feature = "quanta", target_os = "linux"))]
mod coarse {
    use core::cell::Cell;

    /// How long a pair of readings serves. In this time the rates differ by less than a tenth of a millisecond.
    const SERVES: u64 = 30_000_000;
    /// The kernel's longest tick: the coarse clock is behind by as much at most.
    const TICK: u64 = 10_000_000;

    /// Readings of both clocks at one moment: the counter's first. So the coarse one may have come on a little when it is
    /// read, and what is told by the pair is older for it, not newer.
    #[derive(Clone, Copy)]
    struct Pair {
        precise: quanta::Instant,
        coarse: coarsetime::Instant,
    }

    std::thread_local! {
        static PAIR: Cell<Option<Pair>> = const { Cell::new(None) };
    }

    /// Nanoseconds since `origin`, as of 20 ms ago at the earliest if the kernel ticks in time.
    ///
    /// A pair whose coarse reading was older than a tick makes the readings after it too large by what it was older; by 20 ms at
    /// most, since it serves for no longer.
    #[inline]
    pub(super) fn since(origin: quanta::Instant) -> u64 {
        let now = coarsetime::Instant::now_without_cache_update();
        if let Some(Pair { precise, coarse }) = PAIR.get()
            && let Some(by_then) = precise.checked_duration_since(origin)
        {
            let passed = now.duration_since(coarse).as_nanos();
            if passed < SERVES {
                // The pair's coarse reading may have been older than this one is.
                return by_then.as_nanos() as u64 + passed.saturating_sub(TICK);
            }
        }
        since_by_both(origin)
    }

    #[cold]
    fn since_by_both(origin: quanta::Instant) -> u64 {
        let precise = quanta::Instant::now();
        let coarse = coarsetime::Instant::now_without_cache_update();
        PAIR.set(Some(Pair { precise, coarse }));
        precise.duration_since(origin).as_nanos() as u64
    }
}

/// A duration in nanoseconds; what does not fit is `u64::MAX` (584 years).
pub(crate) fn saturating_nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(all(test, feature = "quanta", target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_recent_reading_is_not_far_off() {
        // What a tick that comes late may make of it.
        const AHEAD: u64 = 20_000_000;
        let clock = SystemClock::new();
        let end = 200_000_000;
        let mut oldest = 0;
        while clock.now() < end {
            // Other clocks of this thread share the pairs of readings.
            let later = SystemClock::new();
            assert!(later.recent() <= Some(later.now() + AHEAD));
            let before = clock.now();
            let recent = clock.recent().unwrap();
            assert!(recent <= clock.now() + AHEAD, "{recent}");
            oldest = oldest.max(before.saturating_sub(recent));
        }
        assert!(oldest <= 50_000_000, "{oldest} ns old");
        assert!(oldest > 0, "the coarse clock was not asked");
    }
}
