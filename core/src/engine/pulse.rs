//! Whether the process itself ran.
//!
//! A process that stands still (stopped, swapped out, its machine paused) finds at the thaw that every
//! call in flight took as long as it stood. That is nobody's latency. The breaker's own clock readings tell:
//! calls are read as they start and end, so under steady load hardly a moment passes without a reading, and a
//! gap out of the blue is time in which nobody was there to read. Running time is the clock's less such
//! gaps; slow calls, overdue calls and calls given up too late are judged by it.
//!
//! Time is divided into ticks, a sixteenth of the shortest limit each. A gap counts as a pause
//! if it is four ticks or longer and comes after two limits' worth of ticks of which nearly each had a
//! reading. After a pause, two more limits of steady readings must pass before the next gap can count as one. So a load whose
//! threads are *all* stuck in a hanging upstream, which looks the same, has its first gap excused by mistake and no second one. Where other calls go on arriving, or
//! somebody calls [`heartbeat`](crate::Breaker::heartbeat), there is no gap, and nobody is let off.

use crate::engine::field::Field;
use crate::engine::sync::{AcqRel, Acquire, AtomicU64, Relaxed};

/// Ticks to the shortest limit.
const TICKS: u64 = 16;

/// How steady the readings are: up by one with each tick that has one, down by two with each that has none.
const STEADY: Field = Field::lowest(6);
/// The ticks of all pauses together. When they do not fit any more, no further pause is told.
const PAUSED: Field = STEADY.above(32);
/// The latest tick that had a reading; wraps.
const TICK: Field = PAUSED.above(26);

/// From this on a gap is out of the blue.
const READY: u64 = 32;
const STEADIEST: u64 = 48;

/// The least gap that is a pause.
const GAP: u64 = 4;

/// Ticks wrap. One that is fewer than this before the latest is a late reading; any other is ahead of it.
const BEHIND: u64 = 1 << 20;

/// What the readings up to now came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beat(u64);

impl Beat {
    const fn paused(self) -> u64 {
        PAUSED.get(self.0)
    }

    /// Whether the latest reading was in `tick`.
    #[inline]
    const fn is_of(self, tick: u64) -> bool {
        TICK.get(self.0) == tick & TICK.max()
    }

    /// The same with a reading in `tick`, if that changes anything.
    const fn at(self, tick: u64) -> Option<Self> {
        let tick = tick & TICK.max();
        let ahead = tick.wrapping_sub(TICK.get(self.0)) & TICK.max();
        if ahead == 0 || ahead > TICK.max() - BEHIND {
            return None;
        }
        let (empty, steady, paused) = (ahead - 1, STEADY.get(self.0), self.paused());
        let is_pause = steady >= READY && empty >= GAP && paused + empty <= PAUSED.max();
        let (steady, paused) = if is_pause {
            (0, paused + empty)
        } else {
            let up = if steady < STEADIEST {
                steady + 1
            } else {
                steady
            };
            (up.saturating_sub(empty.saturating_mul(2)), paused)
        };
        Some(Self(
            TICK.put(tick) | PAUSED.put(paused) | STEADY.put(steady),
        ))
    }
}

/// The readings of a breaker whose calls are timed.
#[derive(Debug)]
pub(crate) struct Pulse {
    /// Nanoseconds of a tick. It stays when limits change, so that running time does not jump.
    width: u64,
    beat: AtomicU64,
    /// The running time at the last pause; zero if there was none.
    stood_still: AtomicU64,
}

impl Pulse {
    /// For calls whose shortest limit is so many nanoseconds.
    pub(crate) fn new(limit: u64) -> Self {
        Self {
            width: (limit / TICKS).max(1_000_000),
            beat: AtomicU64::new(0),
            stood_still: AtomicU64::new(0),
        }
    }

    /// To be called before the clock is read: a pause that this beat does not have yet must then show as a gap in the
    /// reading.
    #[inline]
    pub(crate) fn look(&self) -> Beat {
        // Acquire: pairs with the exchange below; whoever sees a pause sees when it was.
        Beat(self.beat.load(Acquire))
    }

    /// The running time at a reading of the clock, which is counted as one.
    ///
    /// For example, a tick is 1 ms and the process stands still from 100 ms to 900 ms. Threads A and B both wake with a reading of 900 ms and
    /// see the beat of tick 100. A's exchange counts a pause of 799 ticks. B's fails; B sees A's beat, which has the pause. Both take 799 ms
    /// off their readings: 101 ms.
    #[inline]
    pub(crate) fn running(&self, seen: Beat, now: u64) -> u64 {
        let tick = now / self.width;
        if seen.is_of(tick) {
            return self.less_pauses(seen, now);
        }
        self.running_on(seen, tick, now)
    }

    /// As [`running`](Self::running), at a reading of another tick than the beat that was seen.
    #[cold]
    #[inline(never)]
    fn running_on(&self, mut seen: Beat, tick: u64, now: u64) -> u64 {
        while let Some(next) = seen.at(tick) {
            let is_pause = next.paused() != seen.paused();
            if is_pause {
                self.tell_pause(seen, next, now);
            }
            // Release: pairs with the load in `look`. Acquire: pairs with the release here, in another thread that told of the pause.
            let exchanged = self.beat.compare_exchange(seen.0, next.0, AcqRel, Acquire);
            match exchanged {
                Ok(_) => return self.less_pauses(next, now),
                // Another thread was faster, and has told of the pause.
                Err(other) if is_pause => seen = Beat(other),
                // Another reading was counted in this tick, which is as good.
                Err(_) => break,
            }
        }
        self.less_pauses(seen, now)
    }

    /// Threads that find the same pause tell the same of it.
    #[cold]
    fn tell_pause(&self, seen: Beat, next: Beat, now: u64) {
        let began = self.less_pauses(next, now - now % self.width);
        debug_assert!(next.paused() > seen.paused());
        // Relaxed: the exchange of the beat releases it. The later one stays: a slow thread may
        // still tell of an earlier pause after it.
        let _ = self
            .stood_still
            .fetch_update(Relaxed, Relaxed, |last| (last < began).then_some(began));
    }

    #[inline]
    fn less_pauses(&self, beat: Beat, now: u64) -> u64 {
        now.saturating_sub(beat.paused().saturating_mul(self.width))
    }

    /// The shortest limit, as it was at first.
    pub(crate) const fn limit(&self) -> u64 {
        self.width.saturating_mul(TICKS)
    }

    /// Whether the process has stood still since a moment of running time.
    #[inline]
    pub(crate) fn has_stood_still_since(&self, started: u64) -> bool {
        // Relaxed: the caller has read the beat before, with acquire, and with it what was told of its pauses.
        started < self.stood_still.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK_NANOS: u64 = 1_000_000;

    fn steady(pulse: &Pulse, ticks: u64) -> u64 {
        let mut running = 0;
        for tick in 1..=ticks {
            running = pulse.running(pulse.look(), tick * TICK_NANOS);
        }
        running
    }

    #[test]
    fn a_gap_after_steady_readings_is_no_running_time() {
        let pulse = Pulse::new(16 * TICK_NANOS);
        let before = steady(&pulse, 100);
        assert_eq!(before, 100 * TICK_NANOS);
        let after = pulse.running(pulse.look(), 3100 * TICK_NANOS);
        assert_eq!(after, 101 * TICK_NANOS);
        assert!(pulse.has_stood_still_since(before));
        assert!(!pulse.has_stood_still_since(after));
    }

    #[test]
    fn the_next_gap_counts_until_readings_are_steady_again() {
        let pulse = Pulse::new(16 * TICK_NANOS);
        steady(&pulse, 100);
        let first = pulse.running(pulse.look(), 3100 * TICK_NANOS);
        let second = pulse.running(pulse.look(), 6100 * TICK_NANOS);
        assert_eq!(second - first, 3000 * TICK_NANOS);
    }

    #[test]
    fn seldom_readings_never_make_a_pause() {
        let pulse = Pulse::new(16 * TICK_NANOS);
        for reading in 1..1000 {
            let now = reading * 50 * TICK_NANOS;
            assert_eq!(pulse.running(pulse.look(), now), now);
        }
    }

    #[test]
    fn a_look_from_before_a_pause_is_not_charged_with_it_twice() {
        let pulse = Pulse::new(16 * TICK_NANOS);
        steady(&pulse, 100);
        let (one, other) = (pulse.look(), pulse.look());
        let now = 3100 * TICK_NANOS;
        assert_eq!(pulse.running(one, now), pulse.running(other, now));
        // A reading of before the pause that comes late stays before it.
        let late = pulse.running(other, 100 * TICK_NANOS);
        assert_eq!(late, 100 * TICK_NANOS);
    }
}
