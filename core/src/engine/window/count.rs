//! The last N outcomes: a ring of places, eight to an atomic word.
//!
//! The breaker's word owns the ring: it says where the next outcome goes, how
//! many places count, and what the newest outcome is. The newest outcome is *pending*: it is in the word, and not yet
//! in the ring. The next thread that records writes it to its place, and then moves the word on. Three rules
//! keep word and ring one thing:
//!
//! 1. no thread moves the word on before the pending outcome is in the ring;
//! 2. between reading a ring word and writing it, a thread makes sure that the
//!    breaker's word has not moved;
//! 3. each write gives the ring word a new version.
//!
//! For example, the pending outcome is a failure whose place is 3. Threads A and B both load the word and the ring word, version 10.
//! B writes the failure (version 11) and moves the word on. Outcomes go on until place 3 is a success (version 12 or more).
//! Now A goes on. By rule 1 the failure was written before the word moved. By rule 2 A had read the ring word before that: version
//! 10. By rule 3 A's CAS from version 10 fails, so the success stays.

use alloc::boxed::Box;

use once_cell::race::OnceBox;

use crate::contract::config::Window;
use crate::contract::outcome::{Counts, Outcome, Sample};
use crate::engine::field::Field;
use crate::engine::sync::{AcqRel, Acquire, AtomicU64, Relaxed};

/// Outcomes in a ring word, and bits for the kind of one.
const PER_WORD: u32 = 8;
const KIND_BITS: u32 = 4;
const KIND_MASK: u64 = (1 << KIND_BITS) - 1;
const OUTCOMES: Field = Field::lowest(PER_WORD * KIND_BITS);
const VERSION: Field = OUTCOMES.above(32);

/// Ring words that lie with the breaker's word: 14 in its block, the last one next to it.
pub(crate) const NEAR_WORDS: usize = 15;

/// The largest window that fits in them.
pub(crate) const NEAR_SIZE: u32 = NEAR_WORDS as u32 * PER_WORD;

/// What kind of outcome it was, in four bits; zero is a fast success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind(u32);

impl Kind {
    pub(crate) const FAST_SUCCESS: Self = Self(0);
    pub(crate) const SLOW_SUCCESS: Self = Self(Self::SLOW);
    /// Every other value.
    pub(crate) const BAD: [Self; 5] = [
        Self(0b001),
        Self(0b011),
        Self(0b100),
        Self(0b101),
        Self(0b111),
    ];
    const FAILURE: u32 = 0b001;
    const TIMEOUT: u32 = 0b010;
    const SLOW: u32 = 0b100;

    /// The kind of an outcome whose duration does not matter; `None` if it is
    /// ignored.
    #[inline]
    pub(crate) const fn of_untimed(outcome: Outcome) -> Option<Self> {
        match outcome {
            Outcome::Success | Outcome::Answered => Some(Self::FAST_SUCCESS),
            Outcome::Failure => Some(Self(Self::FAILURE)),
            Outcome::Timeout => Some(Self(Self::FAILURE | Self::TIMEOUT)),
            Outcome::Ignored => None,
        }
    }

    /// The kind of a sample; `None` if its outcome is one that no window holds.
    pub(crate) fn of(sample: Sample) -> Option<Self> {
        let slow = if sample.slow { Self::SLOW } else { 0 };
        Self::of_untimed(sample.outcome).map(|Self(kind)| Self(kind | slow))
    }

    #[inline]
    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    #[inline]
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }

    #[inline]
    pub(crate) const fn is_bad(self) -> bool {
        self.0 != 0
    }

    #[inline]
    pub(crate) const fn is_failure(self) -> bool {
        self.0 & Self::FAILURE != 0
    }

    #[inline]
    pub(crate) const fn is_slow(self) -> bool {
        self.0 & Self::SLOW != 0
    }

    pub(crate) fn unpack(self) -> Sample {
        Sample {
            outcome: match (self.is_failure(), self.0 & Self::TIMEOUT != 0) {
                (false, _) => Outcome::Success,
                (true, false) => Outcome::Failure,
                (true, true) => Outcome::Timeout,
            },
            slow: self.0 & Self::SLOW != 0,
        }
    }

    /// Outcomes that add up to these counts, by kind. Slow ones are taken to be failures
    /// as far as there are any.
    pub(crate) fn kinds_of(counts: Counts) -> [(Self, u32); 6] {
        let failures = counts.failures - counts.timeouts;
        let slow_failures = counts.slow.min(failures);
        let slow_timeouts = (counts.slow - slow_failures).min(counts.timeouts);
        let slow_successes = counts.slow - slow_failures - slow_timeouts;
        let successes = counts.samples - counts.failures;
        [
            (Self::FAST_SUCCESS, successes - slow_successes),
            (Self(Self::SLOW), slow_successes),
            (Self(Self::FAILURE), failures - slow_failures),
            (Self(Self::FAILURE | Self::SLOW), slow_failures),
            (
                Self(Self::FAILURE | Self::TIMEOUT),
                counts.timeouts - slow_timeouts,
            ),
            (
                Self(Self::FAILURE | Self::TIMEOUT | Self::SLOW),
                slow_timeouts,
            ),
        ]
    }

    /// Counts of one outcome of this kind.
    pub(crate) fn counts(self) -> Counts {
        let has = |bit| u32::from(self.0 & bit != 0);
        Counts {
            samples: 1,
            failures: has(Self::FAILURE),
            timeouts: has(Self::TIMEOUT),
            slow: has(Self::SLOW),
        }
    }
}

/// Rings for windows that are too large for the near words, by size: a power of two each, up to the largest window.
/// Nothing is freed before the breaker is, so a thread may read them without a guard.
///
/// Their numbers are three bits of the config; there is no ring of the first number and of the last.
#[derive(Debug, Default)]
pub(crate) struct Far([OnceBox<Box<[AtomicU64]>>; 8]);

const FAR_RINGS: core::ops::RangeInclusive<usize> = 1..=6;
const _: () = assert!(NEAR_SIZE < places(1) && places(6) == Window::MAX_COUNT);

/// Places of a far ring.
const fn places(ring: usize) -> u32 {
    64 << ring
}

impl Far {
    /// Which ring a window of `size` is kept in: the smallest that is there, or a new one if all of them are too small. No
    /// smaller one than that is ever made, so the answer for a size stays the same.
    pub(crate) fn reserve(&self, size: u32) -> usize {
        let fits = FAR_RINGS.filter(|&ring| places(ring) >= size);
        let mut there = fits.clone().filter(|&ring| self.0[ring].get().is_some());
        let ring = there.next().or(fits.min()).unwrap_or(*FAR_RINGS.end());
        let words = places(ring).div_ceil(PER_WORD);
        let new = || Box::new((0..words).map(|_| AtomicU64::new(0)).collect());
        self.0[ring].get_or_init(new);
        ring
    }

    #[inline]
    pub(crate) fn words(&self, ring: usize) -> Option<&[AtomicU64]> {
        Some(self.0[ring % self.0.len()].get()?)
    }
}

/// Where the ring of a window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RingAt {
    /// In the near words; or nowhere, if it is no count window.
    Near,
    /// In a far ring.
    Far(usize),
}

/// The ring words of a window: the near ones, or those of one far ring.
#[derive(Clone, Copy)]
pub(crate) struct Ring<'a>(&'a [AtomicU64]);

impl<'a> Ring<'a> {
    #[inline]
    pub(crate) const fn new(words: &'a [AtomicU64]) -> Self {
        Self(words)
    }

    /// The ring word that holds the outcome at `position`. There is one: room is made before a word moves to a larger window.
    #[inline]
    fn word(self, position: u32) -> Option<&'a AtomicU64> {
        self.0.get((position / PER_WORD) as usize)
    }

    /// What is at `position`, and a way to write there. Acquire: pairs with the release in [`Place::put`]. A reader that sees a
    /// later outcome here finds, when it looks at the breaker's word again, that the word has moved.
    #[inline]
    pub(crate) fn place(self, position: u32) -> Option<Place<'a>> {
        let word = self.word(position)?;
        Some(Place {
            word,
            position,
            seen: word.load(Acquire),
        })
    }

    /// The kind of the outcome at `position`, for a reader that does not move the word.
    pub(crate) fn look_at(self, position: u32) -> Kind {
        self.place(position).map_or(Kind::FAST_SUCCESS, Place::kind)
    }

    /// The kind of the outcome at `position`. Relaxed: the caller has loaded the breaker's word
    /// before, with acquire, and its CAS of the word validates what was read in between.
    #[inline]
    pub(crate) fn kind_at(self, position: u32) -> Option<Kind> {
        Some(kind_in(self.word(position)?.load(Relaxed), position))
    }

    /// Writes the pending outcome `kind` to its place, unless it is there already. Gives up, and says
    /// false, when the breaker's word is not `current` any more. A caller that is told so must not move the
    /// word, even if it should come to have the same bits again.
    #[must_use = "a word may not be left whose pending outcome is not in the ring"]
    #[inline]
    pub(crate) fn write(self, position: u32, kind: Kind, current: impl Fn() -> bool) -> bool {
        let Some(place) = self.place(position) else {
            return false;
        };
        if place.kind() == kind {
            return true;
        }
        if !current() {
            return false;
        }
        place.put(kind);
        true
    }

    /// The outcomes of ring words from the `first` on. Relaxed: as in `kind_at`.
    fn outcomes(self, first: u32) -> impl Iterator<Item = u64> {
        let words = self.0.get(first as usize..).unwrap_or_default();
        words.iter().map(|word| OUTCOMES.get(word.load(Relaxed)))
    }

    /// Counts the first `end` outcomes.
    pub(crate) fn counts(self, end: u32) -> Counts {
        let mut lanes = Lanes::default();
        let mut left = end;
        for outcomes in self.outcomes(0).take(end.div_ceil(PER_WORD) as usize) {
            lanes.add(outcomes & lowest_places(left.min(PER_WORD)));
            left = left.saturating_sub(PER_WORD);
        }
        lanes.counts(end)
    }

    /// Whether all outcomes in `start..end` are failures.
    pub(crate) fn all_failures(self, start: u32, end: u32) -> bool {
        let first = start / PER_WORD;
        (first..end.div_ceil(PER_WORD))
            .zip(self.outcomes(first))
            .all(|(index, outcomes)| {
                let base = index * PER_WORD;
                let below = lowest_places(end.saturating_sub(base).min(PER_WORD));
                let above = lowest_places(start.saturating_sub(base).min(PER_WORD));
                let wanted = EACH & below & !above;
                outcomes & wanted == wanted
            })
    }
}

/// A place of a ring, as it was seen.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    word: &'a AtomicU64,
    position: u32,
    seen: u64,
}

impl Place<'_> {
    #[inline]
    pub(crate) const fn kind(self) -> Kind {
        kind_in(self.seen, self.position)
    }

    /// Writes another kind of outcome here. The caller has made sure that the breaker's word has not moved since this was seen.
    #[inline]
    pub(crate) fn put(self, kind: Kind) {
        let change = u64::from(self.kind().0 ^ kind.0) << shift(self.position);
        // The version is topmost: what it overflows by is lost.
        let changed = (self.seen ^ change).wrapping_add(VERSION.put(1));
        // Release: pairs with the load in `Ring::place`. Relaxed: a failure is not looked into. Another
        // thread has written this outcome, or the breaker's word has moved.
        let _ = self
            .word
            .compare_exchange(self.seen, changed, AcqRel, Relaxed);
    }
}

/// The lowest bit of each place of a ring word.
const EACH: u64 = OUTCOMES.max() / KIND_MASK;

/// Counts of failures, timeouts and slow calls over many ring words, eight
/// outcomes at a time: each kind has a lane of eight four-bit counters.
#[derive(Default)]
struct Lanes {
    each: [u64; 3],
    /// How many words have been added; at 15 they could overflow.
    words: u32,
    totals: [u32; 3],
}

impl Lanes {
    #[inline]
    fn add(&mut self, outcomes: u64) {
        if self.words == 15 {
            self.fold();
        }
        for (kind, lane) in self.each.iter_mut().enumerate() {
            *lane += outcomes >> kind & EACH;
        }
        self.words += 1;
    }

    fn fold(&mut self) {
        const HALF: u64 = 0x0F0F_0F0F;
        for (total, lane) in self.totals.iter_mut().zip(&mut self.each) {
            let pairs = (*lane & HALF) + (*lane >> KIND_BITS & HALF);
            // Four bytes of at most 30 each, summed up in the topmost of the product.
            *total += ((pairs * 0x0101_0101) >> 24 & 0xFF) as u32;
            *lane = 0;
        }
        self.words = 0;
    }

    fn counts(mut self, samples: u32) -> Counts {
        self.fold();
        let [failures, timeouts, slow] = self.totals;
        Counts {
            samples,
            failures,
            timeouts,
            slow,
        }
    }
}

/// Near words of an empty ring.
pub(crate) fn near_words() -> [AtomicU64; NEAR_WORDS] {
    core::array::from_fn(|_| AtomicU64::new(0))
}

#[inline]
const fn shift(position: u32) -> u32 {
    position % PER_WORD * KIND_BITS
}

#[inline]
const fn kind_in(word: u64, position: u32) -> Kind {
    Kind((word >> shift(position) & KIND_MASK) as u32)
}

/// A mask of the lowest `count` places, at most eight.
const fn lowest_places(count: u32) -> u64 {
    (1 << (count * KIND_BITS)) - 1
}
