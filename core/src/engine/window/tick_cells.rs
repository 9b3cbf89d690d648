//! The cells of a time window: how many outcomes of each kind came in a tick.
//!
//! A tick has a cell for each kind of outcome. A cell says of which tick and generation its count is. So no thread ever
//! clears one: whoever finds an older count begins anew.
//!
//! Fast successes, which are most outcomes, are counted in shards: each thread in its own, so that threads do not
//! write to each other's lines. All other kinds have one cell for all threads, so that nobody needs to go through the
//! shards to know how many bad outcomes there are.

use alloc::boxed::Box;

use once_cell::race::OnceBox;

use crate::contract::outcome::Counts;
use crate::engine::field::seldom;
use crate::engine::lines::{CELLS, Line, lines};
use crate::engine::sync::{AtomicU64, SeqCst, shards};
use crate::engine::window::cell::{Tag, Tagged};
use crate::engine::window::count::Kind;

/// The cells of a window of up to so many buckets. A breaker that is given a window with
/// more appends a larger set. Nothing is freed before the breaker is, so a thread may read it without a guard.
#[derive(Debug)]
pub(super) struct Cells {
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
    pub(super) fn new(buckets: usize) -> Self {
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
    pub(super) fn bad(&self, tick: u64, kind: Kind) -> &AtomicU64 {
        let cell = self.bucket(tick) * KINDS + kind.bits() as usize;
        &self.bad[cell / CELLS][cell % CELLS]
    }

    #[inline]
    pub(super) fn good(&self, tick: u64, shard: usize) -> &AtomicU64 {
        let cell = self.bucket(tick);
        let lines = self.good.len() / self.shards;
        let first = (shard & (self.shards - 1)) * lines;
        &self.good[first + cell / CELLS][cell % CELLS]
    }

    /// The bad outcomes of one tick, by kind.
    #[inline]
    pub(super) fn bad_counts(&self, tick: u64, tag: Tag) -> impl Iterator<Item = (Kind, u64)> {
        // Acquire: pairs with the release in `Timeline::count`. SeqCst: see there.
        Kind::BAD.into_iter().map(move |kind| {
            let cell = self.bad(tick, kind).load(SeqCst);
            (kind, Tagged::from_bits(cell).count(tag))
        })
    }

    /// All outcomes of one tick.
    pub(super) fn sums(&self, tick: u64, tag: Tag) -> Sums {
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
    pub(super) fn reserve(&self, buckets: usize) {
        if self.buckets < buckets {
            self.larger
                .get_or_init(|| Box::new(Self::new(buckets)))
                .reserve(buckets);
        }
    }

    /// The cells of a window of so many buckets.
    #[inline]
    pub(super) fn for_buckets(&self, buckets: u64) -> &Self {
        let mut cells = self;
        while (cells.buckets as u64) < buckets {
            seldom();
            // Room is made before a word goes with a window. If there is none, the side was filled anew
            // meanwhile, and the caller's check of the word fails.
            match cells.larger.get() {
                Some(larger) => cells = larger,
                None => break,
            }
        }
        cells
    }
}

/// Counts that do not overflow.
#[derive(Clone, Copy, Default)]
pub(super) struct Sums {
    samples: u64,
    failures: u64,
    timeouts: u64,
    slow: u64,
}

impl Sums {
    pub(super) fn plus(self, other: Self) -> Self {
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
    pub(super) fn counts(self) -> Counts {
        let shift = (u64::BITS - self.samples.leading_zeros()).saturating_sub(u32::BITS);
        Counts {
            samples: (self.samples >> shift) as u32,
            failures: (self.failures >> shift) as u32,
            timeouts: (self.timeouts >> shift) as u32,
            slow: (self.slow >> shift) as u32,
        }
    }
}
