//! The outcomes of the last so long: counts by tick.
//!
//! Time is divided into ticks, one bucket's length each. A tick has a cell for each
//! kind of outcome, so that recording one is a single change of one cell; a cell says
//! of which tick and generation its count is, so nothing is ever cleared: an older
//! count is replaced. Fast successes, which are most outcomes, are counted in
//! one shard of several, by thread; all others in one place, so that how many there
//! are is known without a walk over the shards.
//!
//! No rule is evaluated as long as the breaker is known to be quiet:
//! see [`Timeline::is_quiet`].

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use once_cell::race::OnceBox;

use crate::contract::clock::saturating_nanos;
use crate::contract::config::Window;
use crate::contract::outcome::Counts;
use crate::contract::snapshot::Bucket;
use crate::engine::field::{Field, seldom};
use crate::engine::lines::{CELLS, Line, lines};
use crate::engine::sync::{
    AcqRel, Acquire, AtomicU64, Backoff, Relaxed, Release, SeqCst, shard, shards,
};
use crate::engine::window::cell::{Tag, Tagged};
use crate::engine::window::count::Kind;
use crate::engine::window::ruler::{FIRST_TICK, Ruler};

/// How far the ticks jump when their length changes, so that whoever still counts by
/// the old length is behind: more than may pass while a thread changes the breaker's word.
const JUMP: u64 = 1 << 16;

/// The words of a config side.
const WIDTH: usize = 0;
const ORIGIN: usize = 1;
const LENGTH: usize = 2;
const BUCKETS: usize = 3;
/// What [`Timeline::is_quiet`] reads.
const QUIET: usize = 4;
const SIDE_WORDS: usize = 5;

const LIMIT: Field = Field::lowest(20);
const QUIET_VERSION: Field = LIMIT.above(6);
const QUIET_TAG: Field = QUIET_VERSION.above(38);

/// A line that is read on each call and written a few times a tick: those that are
/// written on each call lie elsewhere.
#[derive(Debug)]
#[repr(C, align(128))]
pub(crate) struct Timeline {
    /// The latest tick in which anything was counted: a clock that steps back, or was read
    /// a while ago, does not make an earlier one of it.
    latest: AtomicU64,
    sides: [[AtomicU64; SIDE_WORDS]; 2],
    cells: Cells,
}

/// Cells for a window of up to so many buckets. A breaker that is given one with
/// more appends a larger set; nothing is freed before the breaker is.
#[derive(Debug)]
struct Cells {
    /// A power of two.
    buckets: usize,
    /// Per bucket, a cell for each kind but fast successes.
    bad: Box<[Line]>,
    /// Per shard, a cell of fast successes for each bucket.
    good: Box<[Line]>,
    /// A power of two.
    shards: usize,
    larger: OnceBox<Cells>,
}

/// A cell for each kind of outcome.
const KINDS: usize = 8;

impl Cells {
    fn new(buckets: usize) -> Self {
        let shards = shards();
        Self {
            buckets,
            bad: lines(buckets * KINDS),
            good: lines(buckets.next_multiple_of(CELLS) * shards),
            shards,
            larger: OnceBox::new(),
        }
    }

    #[inline]
    fn bucket(&self, tick: u64) -> usize {
        tick as usize & (self.buckets - 1)
    }

    #[inline]
    fn bad(&self, tick: u64, kind: Kind) -> &AtomicU64 {
        let cell = self.bucket(tick) * KINDS + kind.bits() as usize;
        &self.bad[cell / CELLS][cell % CELLS]
    }

    #[inline]
    fn good(&self, tick: u64, shard: usize) -> &AtomicU64 {
        let cell = self.bucket(tick);
        let lines = self.good.len() / self.shards;
        let first = (shard & (self.shards - 1)) * lines;
        &self.good[first + cell / CELLS][cell % CELLS]
    }

    /// The bad outcomes of one tick, by kind.
    #[inline]
    fn bad_counts(&self, tick: u64, tag: Tag) -> impl Iterator<Item = (Kind, u64)> {
        // Acquire: pairs with the CAS in `Timeline::count`. SeqCst: see there.
        Kind::BAD.into_iter().map(move |kind| {
            let cell = self.bad(tick, kind).load(SeqCst);
            (kind, Tagged::from_bits(cell).count(tag))
        })
    }

    /// All outcomes of one tick.
    fn sums(&self, tick: u64, tag: Tag) -> Sums {
        let good = (0..self.shards).map(|shard| {
            // Acquire and SeqCst: as above.
            let cell = self.good(tick, shard).load(SeqCst);
            (Kind::FAST_SUCCESS, Tagged::from_bits(cell).count(tag))
        });
        good.chain(self.bad_counts(tick, tag))
            .fold(Sums::default(), |sums, (kind, count)| {
                sums.plus(Sums::of(kind, count))
            })
    }

    /// Makes room for a window of so many buckets, a power of two.
    fn reserve(&self, buckets: usize) {
        if self.buckets < buckets {
            self.larger
                .get_or_init(|| Box::new(Self::new(buckets)))
                .reserve(buckets);
        }
    }

    /// The cells of a window of so many buckets.
    #[inline]
    fn for_buckets(&self, buckets: u64) -> &Self {
        let mut cells = self;
        while (cells.buckets as u64) < buckets {
            seldom();
            // A number of buckets that no room was made for is of a side filled meanwhile.
            match cells.larger.get() {
                Some(larger) => cells = larger,
                None => break,
            }
        }
        cells
    }
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
            // Another value than before, so that nobody who is late makes it quiet; and
            // not quiet, since the limit is zero.
            (
                quiet,
                next_quiet(self.read(side, QUIET), Tag::from_bits(0), 0),
            ),
        ] {
            // Release: pairs with `read`; whoever sees this value also sees that the
            // breaker's word has left the side.
            word.store(value, Release);
        }
    }

    #[inline]
    fn read(&self, side: usize, word: usize) -> u64 {
        // Acquire: pairs with `write`, and with `be_quiet`.
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
    /// Fills a side that the breaker's word does not go with. The ticks go on as they are if
    /// the other side has this very window (`keeps`), else with a jump.
    pub(crate) fn fill(&self, side: usize, window: (Duration, u32), keeps: bool, now: u64) {
        let (length, buckets) = window;
        let origin = if keeps {
            self.read(1 - side, ORIGIN)
        } else {
            let next = self.latest.load(Acquire).wrapping_add(JUMP);
            next.wrapping_sub(now / Ruler::width(length, buckets))
        };
        self.cells.reserve(buckets.next_power_of_two() as usize);
        self.write(side, length, buckets, origin);
    }

    /// Makes the tick at `now` the latest, unless there is a later one.
    pub(crate) fn start(&self, side: usize, now: u64) {
        if let Some(later) = self.ruler(side).later(self.latest.load(Acquire), now) {
            self.raise(later);
        }
    }

    /// Makes `tick` the latest, unless there is a later one. Gives the latest.
    fn raise(&self, tick: u64) -> u64 {
        // Release and Acquire: pairs with itself and with the loads of `latest`. SeqCst: see `count`.
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

    /// Counts so many outcomes of `generation` at `now`. `is_current` tells whether the
    /// breaker's word still goes with the generation and the side.
    ///
    /// A cell with an older count is taken over. One with a newer count tells that
    /// this call is late; or it was left by another length of ticks, or by one that was late.
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
            // Acquire: pairs with the raise below; whoever counts in a tick sees those before it.
            let mut tick = self.latest.load(Acquire);
            if let Some(later) = ruler.later(tick, now) {
                // A ruler that is not the word's might tell any tick.
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
                if self.latest.load(Acquire) != tick {
                    continue;
                }
            }
            let counted = seen.and(how_many, tag, now);
            // Release: pairs with the loads of those who count, here and in `Cells::sums`. SeqCst:
            // of two who count, each in a cell of its own, and then look at both, one sees both; of
            // one who counts and then looks for a later tick, and another who raises the tick and
            // then looks at the counts, one sees what the other has done.
            let exchanged = cell.compare_exchange(seen.bits(), counted.bits(), SeqCst, Relaxed);
            if exchanged.is_ok() {
                return Counted::In(tick);
            }
            backoff.pause();
        }
    }

    /// Whether no ratio can be reached now that `outcome` is counted in `tick`.
    ///
    /// A side is quiet, from an evaluation in this tick on until the tick ends, as long as
    /// the tick has fewer bad outcomes than the limit that the evaluation
    /// found ([`be_quiet`](Self::be_quiet)). Within a tick no outcome leaves the window. Then
    /// - a success can only lower a ratio, or be the one that reaches `min_calls`;
    ///   the limit is low enough that even then no ratio is reached;
    /// - a bad outcome can reach one only if it is the limit's.
    ///
    /// The first outcome of a tick, for which older ones have left the window, finds the tag of
    /// another tick; and a side that was filled anew has no limit. Both are evaluated. So is one that
    /// was counted as its tick ended: an evaluation in the next tick may have missed it.
    #[inline]
    pub(crate) fn is_quiet(&self, side: usize, generation: u32, outcome: Kind, tick: u64) -> bool {
        let tag = Tag::of(generation, tick);
        let quiet = self.read(side, QUIET);
        // Acquire: pairs with the raise. SeqCst: see `count`.
        if Tag::from_bits(QUIET_TAG.get(quiet)) != tag || self.latest.load(SeqCst) != tick {
            return false;
        }
        let limit = LIMIT.get(quiet);
        limit > 0 && (!outcome.is_bad() || self.bad_in(side, tick, tag) < limit)
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

    /// Says that it takes `slack` more bad outcomes than at this look to reach a ratio. To be
    /// called only while the word goes with the side: so the side's words are
    /// those that the slack is by, or have been changed since, and nothing happens.
    ///
    /// False if another evaluation has come between, which may have missed what this one saw.
    #[must_use = "what another evaluation has missed must be looked at again"]
    pub(crate) fn be_quiet(&self, side: usize, look: &Look, slack: u32) -> bool {
        let limit = if slack == 0 {
            0
        } else {
            look.bad + u64::from(slack)
        };
        let quiet = next_quiet(look.quiet, look.tag, limit);
        // Release: pairs with `read`.
        self.sides[side][QUIET]
            .compare_exchange(look.quiet, quiet, AcqRel, Relaxed)
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
            cell.store(Tagged::new(tag, u64::from(count)).bits(), Relaxed);
        }
    }
}

/// What an evaluation is by.
#[derive(Debug)]
pub(crate) struct Look {
    quiet: u64,
    tag: Tag,
    /// Bad outcomes of the tick.
    bad: u64,
    pub(crate) counts: Counts,
}

/// What [`Timeline::is_quiet`] reads, in another version.
fn next_quiet(quiet: u64, tag: Tag, limit: u64) -> u64 {
    let version = QUIET_VERSION.get(quiet).wrapping_add(1) & QUIET_VERSION.max();
    QUIET_TAG.put(tag.bits()) | QUIET_VERSION.put(version) | LIMIT.put(limit.min(LIMIT.max()))
}

/// Counts that do not overflow.
#[derive(Clone, Copy, Default)]
struct Sums {
    samples: u64,
    failures: u64,
    timeouts: u64,
    slow: u64,
}

impl Sums {
    fn plus(self, other: Self) -> Self {
        Self {
            samples: self.samples + other.samples,
            failures: self.failures + other.failures,
            timeouts: self.timeouts + other.timeouts,
            slow: self.slow + other.slow,
        }
    }

    /// `count` outcomes of one kind.
    fn of(kind: Kind, count: u64) -> Self {
        let one = kind.counts();
        Self {
            samples: count,
            failures: u64::from(one.failures) * count,
            timeouts: u64::from(one.timeouts) * count,
            slow: u64::from(one.slow) * count,
        }
    }

    /// As counts; above `u32::MAX`, divided so that the ratios stay.
    fn counts(self) -> Counts {
        let shift = (u64::BITS - self.samples.leading_zeros()).saturating_sub(u32::BITS);
        Counts {
            samples: (self.samples >> shift) as u32,
            failures: (self.failures >> shift) as u32,
            timeouts: (self.timeouts >> shift) as u32,
            slow: (self.slow >> shift) as u32,
        }
    }
}
