//! The time window: the outcomes of the last so long, as counts by tick.
//!
//! Time is divided into ticks, one bucket's length each. A tick has cells for its counts (`tick_cells.rs`). To count an
//! outcome is one change of one cell.
//!
//! The latest tick that anyone has counted in is written down. An outcome counts in the tick of its own reading of the clock, or in the latest
//! tick if that is later. For example, ticks are 1 s, thread A reads 4.9 s and sleeps, and thread B counts in tick 5. A then counts in tick
//! 5 too, 0.1 s too late: a bucket that is over does not change any more.
//!
//! No rule is evaluated as long as the breaker is known to be quiet:
//! see [`Timeline::is_quiet`].

use alloc::vec::Vec;
use core::time::Duration;

use crate::contract::clock::saturating_nanos;
use crate::contract::config::Window;
use crate::contract::outcome::Counts;
use crate::contract::snapshot::Bucket;
use crate::engine::field::Field;
use crate::engine::sync::{Acquire, AtomicU64, Backoff, Relaxed, Release, SeqCst, shard};
use crate::engine::window::cell::{Tag, Tagged};
use crate::engine::window::count::Kind;
use crate::engine::window::ruler::{FIRST_TICK, Ruler};
use crate::engine::window::tick_cells::{Cells, Sums};

/// How far the ticks jump when their length changes. A thread that still counts by the old length counts in
/// ticks before the jump, so its counts are in no window: more ticks than pass while a thread changes the breaker's word.
const JUMP: u64 = 1 << 16;

/// The words of a config side.
const WIDTH: usize = 0;
const ORIGIN: usize = 1;
const LENGTH: usize = 2;
const BUCKETS: usize = 3;
/// What [`Timeline::is_quiet`] reads.
const QUIET: usize = 4;
const SIDE_WORDS: usize = 5;

const QUIET_BELOW: Field = Field::lowest(20);
const QUIET_VERSION: Field = QUIET_BELOW.above(6);
const QUIET_TAG: Field = QUIET_VERSION.above(38);

/// These fields are read on each call and written a few times a tick. The cells, which are written on each
/// call, lie in lines of their own.
#[derive(Debug)]
#[repr(C, align(128))]
pub(crate) struct Timeline {
    /// The latest tick in which anything was counted. It never goes back, whatever clocks say.
    latest: AtomicU64,
    sides: [[AtomicU64; SIDE_WORDS]; 2],
    cells: Cells,
}

/// What came of an attempt to count an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// It is in the window, in this tick.
    In(u64),
    /// The generation is over.
    Late,
}

impl Timeline {
    /// A timeline whose clock is at zero. Both sides go by `window`.
    #[cold]
    #[inline(never)]
    pub(crate) fn new(length: Duration, buckets: u32) -> Self {
        let timeline = Self {
            latest: AtomicU64::new(FIRST_TICK),
            sides: core::array::from_fn(|_| core::array::from_fn(|_| AtomicU64::new(0))),
            cells: Cells::new(buckets.next_power_of_two() as usize),
        };
        for side in 0..2 {
            timeline.write(side, length, buckets, FIRST_TICK);
        }
        timeline
    }

    fn write(&self, side: usize, length: Duration, buckets: u32, origin: u64) {
        let [to_width, to_origin, to_length, to_buckets, quiet] = &self.sides[side];
        for (word, value) in [
            (to_width, Ruler::width(length, buckets)),
            (to_origin, origin),
            (to_length, saturating_nanos(length)),
            (to_buckets, u64::from(buckets)),
            // Not quiet, and in a new version: so an evaluation by the side's last config, which is late with its CAS,
            // cannot make it quiet.
            (
                quiet,
                next_quiet(self.read(side, QUIET), Tag::from_bits(0), 0),
            ),
        ] {
            // Release: pairs with `read`; a thread that sees this value also sees that the
            // breaker's word has left the side.
            word.store(value, Release);
        }
    }

    #[inline]
    fn read(&self, side: usize, word: usize) -> u64 {
        // Acquire: pairs with the releases in `write` and in `be_quiet`.
        self.sides[side][word].load(Acquire)
    }

    #[inline]
    fn ruler(&self, side: usize) -> Ruler {
        Ruler {
            width: self.read(side, WIDTH).max(1),
            origin: self.read(side, ORIGIN),
        }
    }

    fn cells(&self, side: usize) -> &Cells {
        self.cells.for_buckets(self.read(side, BUCKETS))
    }
}

impl Timeline {
    /// Fills a side that the breaker's word does not go with. `keeps` says that the other side has this very
    /// window: then the ticks go on as they are, else with a jump.
    pub(crate) fn fill(&self, side: usize, window: (Duration, u32), keeps: bool, now: u64) {
        let (length, buckets) = window;
        let origin = if keeps {
            self.read(1 - side, ORIGIN)
        } else {
            // Acquire: pairs with the raise; the jump is from what that thread saw.
            let next = self.latest.load(Acquire).wrapping_add(JUMP);
            next.wrapping_sub(now / Ruler::width(length, buckets))
        };
        self.cells.reserve(buckets.next_power_of_two() as usize);
        self.write(side, length, buckets, origin);
    }

    /// Makes the tick at `now` the latest, unless there is a later one.
    pub(crate) fn start(&self, side: usize, now: u64) {
        // Acquire: pairs with the raise; an older value only means that the raise finds a later tick.
        if let Some(later) = self.ruler(side).later(self.latest.load(Acquire), now) {
            self.raise(later);
        }
    }

    /// Makes `tick` the latest, unless there is a later one. Gives the latest.
    fn raise(&self, tick: u64) -> u64 {
        // Release: pairs with the loads of `latest`. Acquire: pairs with the release here. SeqCst: see `count`.
        let raised = self
            .latest
            .fetch_update(SeqCst, Acquire, |latest| (latest < tick).then_some(tick));
        raised.map_or_else(|later| later, |_| tick)
    }

    /// The window of a side.
    pub(crate) fn window(&self, side: usize) -> Window {
        let length = Duration::from_nanos(self.read(side, LENGTH));
        Window::time(length, self.read(side, BUCKETS) as u32)
    }

    /// Counts outcomes of `generation` at `now`. `is_current` tells whether the
    /// breaker's word still goes with the generation and the side.
    ///
    /// A cell with an older count is begun anew. A cell with a newer count means one of three things: the generation is over, so this
    /// call is late; a later tick has begun, and the loop starts over with that; or neither, and the count is a leftover of another length of ticks or of a thread
    /// that was late, and is replaced.
    pub(crate) fn count(
        &self,
        side: usize,
        generation: u32,
        outcomes: (Kind, u64),
        now: u64,
        is_current: impl Fn() -> bool,
    ) -> Counted {
        let (outcome, how_many) = outcomes;
        let ruler = self.ruler(side);
        let cells = self.cells(side);
        let mut backoff = Backoff::new();
        loop {
            // Acquire: pairs with the raise; a thread that counts in a tick sees the counts of those before it.
            let mut tick = self.latest.load(Acquire);
            if let Some(later) = ruler.later(tick, now) {
                // By a ruler that does not go with the word, `later` may be any tick.
                if !is_current() {
                    return Counted::Late;
                }
                tick = self.raise(later);
            }
            let tag = Tag::of(generation, tick);
            let cell = if outcome.is_bad() {
                cells.bad(tick, outcome)
            } else {
                cells.good(tick, shard())
            };
            // Acquire: pairs with the CAS below.
            let seen = Tagged::from_bits(cell.load(Acquire));
            if seen.tag().is_after(tag) {
                if !is_current() {
                    return Counted::Late;
                }
                // Acquire: pairs with the raise; it came before the newer count that was seen, if that is of a later tick.
                if self.latest.load(Acquire) != tick {
                    continue;
                }
            }
            let counted = seen.and(how_many, tag, now);
            // Release: pairs with the loads of cells, here and in `Cells::sums`. SeqCst, for two pairs of threads that each write
            // one thing and then read the other's. First, A and B count in two cells, then each reads both: at least one of them must
            // see both counts, or a trip is missed. Second, A counts, then looks for a later tick (`is_quiet`); B raises the tick, then
            // sums up the counts: A must see the tick or B the count. Release and acquire alone allow that neither sees the
            // other's. Relaxed: a failure loads the cell again.
            let exchanged = cell.compare_exchange(seen.bits(), counted.bits(), SeqCst, Relaxed);
            if exchanged.is_ok() {
                return Counted::In(tick);
            }
            backoff.pause();
        }
    }

    /// Whether no ratio can be reached now that `outcome` is counted in `tick`.
    ///
    /// An evaluation finds how many bad outcomes the present tick may have before a ratio can be reached: it writes down that
    /// the side is quiet *below* that number ([`be_quiet`](Self::be_quiet)). It holds until the tick ends, since no outcome leaves
    /// the window within a tick. Meanwhile
    /// - a success can only lower a ratio, or be the one that reaches `min_calls`;
    ///   the number is low enough that no ratio is reached even then;
    /// - a bad outcome can reach a ratio only if it makes up that number.
    ///
    /// For example, the window holds 100 outcomes with 10 failures, 2 of them in this tick, and the ratio is 0.2. It takes
    /// 20 failures of 100, so 10 more at least: the side is quiet below 2 + 10 = 12 bad outcomes in this tick.
    ///
    /// Three kinds of outcomes are evaluated all the same: the first of a tick, since older ones have left the window (it finds the
    /// tag of another tick); the first after the side was filled anew (it is quiet below 0, so never); and one that
    /// was counted just as its tick ended, since an evaluation in the next tick may have missed it.
    #[inline]
    pub(crate) fn is_quiet(&self, side: usize, generation: u32, outcome: Kind, tick: u64) -> bool {
        let tag = Tag::of(generation, tick);
        let quiet = self.read(side, QUIET);
        // Acquire: pairs with the release in `raise`. SeqCst: see `count`.
        if Tag::from_bits(QUIET_TAG.get(quiet)) != tag || self.latest.load(SeqCst) != tick {
            return false;
        }
        let below = QUIET_BELOW.get(quiet);
        below > 0 && (!outcome.is_bad() || self.bad_in(side, tick, tag) < below)
    }

    /// Whether the side was found not to be quiet, or has not been looked at.
    #[inline]
    pub(crate) fn is_loud(&self, side: usize) -> bool {
        QUIET_BELOW.get(self.read(side, QUIET)) == 0
    }

    /// The same for a thread that has counted, and leaves it to others to look while it is loud: if it is found loud here, whoever makes
    /// it quiet later sees the count in the look that follows.
    pub(crate) fn is_loud_after_count(&self, side: usize) -> bool {
        // SeqCst: one thread counts, then reads the mark; another writes the mark (`be_quiet`), then sums up the counts. At least one
        // of them must see what the other wrote.
        QUIET_BELOW.get(self.sides[side][QUIET].load(SeqCst)) == 0
    }

    /// How many nanoseconds the present tick has left, at most its length.
    pub(crate) fn rest_of_tick(&self, side: usize, now: u64) -> u64 {
        let ruler = self.ruler(side);
        let end = ruler.start(self.tick(side, now).wrapping_add(1));
        end.saturating_sub(now).min(ruler.width)
    }

    fn bad_in(&self, side: usize, tick: u64, tag: Tag) -> u64 {
        let cells = self.cells(side);
        cells.bad_counts(tick, tag).map(|(_, count)| count).sum()
    }

    /// What the window of `generation` holds at `now`, or in the latest tick if that is later.
    pub(crate) fn counts(&self, side: usize, generation: u32, now: u64) -> Counts {
        let tick = self.tick(side, now);
        let of_ticks = self
            .ticks(side, tick)
            .map(|tick| self.sums(side, generation, tick));
        of_ticks.fold(Sums::default(), Sums::plus).counts()
    }

    /// The window's buckets that hold anything, oldest first.
    pub(crate) fn buckets(&self, side: usize, generation: u32, now: u64) -> Vec<Bucket> {
        let ruler = self.ruler(side);
        self.ticks(side, self.tick(side, now))
            .map(|tick| Bucket {
                age: Duration::from_nanos(ruler.age(tick, now)),
                counts: self.sums(side, generation, tick).counts(),
            })
            .filter(|bucket| bucket.counts.samples > 0)
            .collect()
    }

    fn tick(&self, side: usize, now: u64) -> u64 {
        // Acquire: pairs with the raise; the counts of the ticks before are seen.
        let latest = self.latest.load(Acquire);
        self.ruler(side).later(latest, now).unwrap_or(latest)
    }

    /// The ticks of a window that ends with `tick`, oldest first.
    fn ticks(&self, side: usize, tick: u64) -> impl Iterator<Item = u64> {
        let buckets = self.read(side, BUCKETS);
        (0..buckets).rev().map(move |back| tick.wrapping_sub(back))
    }

    fn sums(&self, side: usize, generation: u32, tick: u64) -> Sums {
        let cells = self.cells(side);
        cells.sums(tick, Tag::of(generation, tick))
    }

    /// Looks at the window in the latest tick, for an evaluation.
    pub(crate) fn look(&self, side: usize, generation: u32) -> Look {
        let quiet = self.read(side, QUIET);
        // Acquire: pairs with the raise; the counts of the ticks before are seen.
        let tick = self.latest.load(Acquire);
        let tag = Tag::of(generation, tick);
        let sums = self
            .ticks(side, tick)
            .map(|tick| self.sums(side, generation, tick));
        Look {
            quiet,
            tag,
            bad: self.bad_in(side, tick, tag),
            counts: sums.fold(Sums::default(), Sums::plus).counts(),
        }
    }

    /// Writes down that it takes `slack` more bad outcomes than at this look to reach a ratio.
    ///
    /// To be called after the word was seen to go with the side, later than the look. So either the side still has the config that
    /// the slack is by; or it has been filled since, in another version, and the CAS fails.
    ///
    /// False if another evaluation has come between. It may have missed what this one saw, so the caller looks again.
    #[must_use = "what another evaluation has missed must be looked at again"]
    pub(crate) fn be_quiet(&self, side: usize, look: &Look, slack: u32) -> bool {
        let below = if slack == 0 {
            0
        } else {
            look.bad + u64::from(slack)
        };
        let quiet = next_quiet(look.quiet, look.tag, below);
        // Release: pairs with the load in `read`. SeqCst: see `is_loud_after_count`. Relaxed: a failure is a new look.
        self.sides[side][QUIET]
            .compare_exchange(look.quiet, quiet, SeqCst, Relaxed)
            .is_ok()
    }

    /// The tick for a restored bucket that began so long ago: the last one that does not begin
    /// after it. `None` if that is out of the window.
    pub(crate) fn restored_tick(&self, age: u64) -> Option<u64> {
        let back = age.div_ceil(self.ruler(0).width);
        (back < self.read(0, BUCKETS)).then(|| FIRST_TICK - back)
    }

    /// Fills a tick of the first window; for a breaker that nobody else has.
    pub(crate) fn refill(&self, generation: u32, tick: u64, counts: Counts) {
        let tag = Tag::of(generation, tick);
        let cells = self.cells(0);
        for (kind, count) in Kind::kinds_of(counts) {
            let cell = if kind.is_bad() {
                cells.bad(tick, kind)
            } else {
                cells.good(tick, 0)
            };
            // Relaxed: it orders nothing, since nobody else has the breaker yet.
            cell.store(Tagged::new(tag, u64::from(count)).bits(), Relaxed);
        }
    }
}

/// What an evaluation saw.
#[derive(Debug)]
pub(crate) struct Look {
    quiet: u64,
    tag: Tag,
    /// How many bad outcomes the latest tick had.
    bad: u64,
    pub(crate) counts: Counts,
}

impl Look {
    /// Whether what is written down says the same: not quiet if the slack is zero, otherwise quiet in this tick.
    ///
    /// The largest number stands whatever the tick holds, since no larger one can be written down. From there on each bad
    /// outcome is evaluated.
    pub(crate) fn stands(&self, slack: u32) -> bool {
        let below = QUIET_BELOW.get(self.quiet);
        if slack == 0 {
            return below == 0;
        }
        (self.bad < below || below == QUIET_BELOW.max())
            && Tag::from_bits(QUIET_TAG.get(self.quiet)) == self.tag
    }
}

/// The next version of what [`Timeline::is_quiet`] reads: quiet in this tick, below so many bad outcomes.
fn next_quiet(quiet: u64, tag: Tag, below: u64) -> u64 {
    let version = QUIET_VERSION.get(quiet).wrapping_add(1) & QUIET_VERSION.max();
    QUIET_TAG.put(tag.bits())
        | QUIET_VERSION.put(version)
        | QUIET_BELOW.put(below.min(QUIET_BELOW.max()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_stands_with_more_bad_outcomes_than_it_can_name() {
        let (side, generation) = (0, 0);
        for bad in [
            1,
            QUIET_BELOW.max() - 1,
            QUIET_BELOW.max(),
            1 << 20,
            1 << 40,
        ] {
            let timeline = Timeline::new(Duration::from_secs(10), 10);
            let outcomes = (Kind::BAD[0], bad);
            let counted = timeline.count(side, generation, outcomes, 0, || true);
            assert_eq!(counted, Counted::In(FIRST_TICK));
            let slack = 5;
            assert!(!timeline.look(side, generation).stands(slack), "{bad}");
            assert!(timeline.be_quiet(side, &timeline.look(side, generation), slack));
            assert!(timeline.look(side, generation).stands(slack), "{bad}");
            assert!(!timeline.is_loud(side));
            assert!(!timeline.look(side, generation).stands(0));
        }
    }
}
