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

use crate::contract::outcome::{Counts, Outcome, Sample};
use crate::engine::field::Field;
use crate::engine::sync::{AcqRel, Acquire, AtomicU64, Relaxed};

/// Outcomes in a ring word, and bits for the kind of one.
const PER_WORD: u32 = 8;
const KIND_BITS: u32 = 4;
const KIND_MASK: u64 = (1 << KIND_BITS) - 1;
const OUTCOMES: Field = Field::lowest(PER_WORD * KIND_BITS);
const VERSION: Field = OUTCOMES.above(32);

/// Ring words that lie in the block of the breaker's word.
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

/// Ring words beyond the near ones, a piece of them. A breaker that is given a larger window
/// appends a piece with what it lacks. Nothing is freed before the breaker is, so a thread may read it without a guard.
#[derive(Debug)]
struct Segment {
    words: Box<[AtomicU64]>,
    next: OnceBox<Segment>,
}

/// The ring's words past the near ones.
#[derive(Debug, Default)]
pub(crate) struct Far(OnceBox<Segment>);

impl Far {
    /// Makes room for a window of `size`.
    pub(crate) fn reserve(&self, size: u32) {
        let mut lacking = (size.div_ceil(PER_WORD) as usize).saturating_sub(NEAR_WORDS);
        let mut link = &self.0;
        while lacking > 0 {
            let segment = link.get_or_init(|| {
                Box::new(Segment {
                    words: (0..lacking).map(|_| AtomicU64::new(0)).collect(),
                    next: OnceBox::new(),
                })
            });
            lacking = lacking.saturating_sub(segment.words.len());
            link = &segment.next;
        }
    }

    #[inline]
    fn segments(&self) -> impl Iterator<Item = &[AtomicU64]> {
        core::iter::successors(self.0.get(), |segment| segment.next.get())
            .map(|segment| &*segment.words)
    }
}

/// The near words alone: all of the ring, if the window is at most 120.
#[derive(Clone, Copy)]
pub(crate) struct Near<'a>(pub(crate) &'a [AtomicU64; NEAR_WORDS]);

impl<'a> Near<'a> {
    #[inline]
    fn word(self, position: u32) -> Option<&'a AtomicU64> {
        self.0.get((position / PER_WORD) as usize)
    }

    /// As [`Ring::kind_at`]; `None` if the position is not near.
    #[inline]
    pub(crate) fn kind_at(self, position: u32) -> Option<Kind> {
        // Relaxed: the caller has loaded the breaker's word before, with acquire, and its CAS of the word
        // validates what was read in between.
        Some(kind_in(self.word(position)?.load(Relaxed), position))
    }

    /// As [`Ring::write`]; `None` if the position is not near, or the breaker's word has moved.
    #[inline]
    pub(crate) fn write(self, position: u32, kind: Kind, current: impl Fn() -> bool) -> Option<()> {
        write(self.word(position)?, position, kind, current).then_some(())
    }
}

/// A view of the whole ring.
#[derive(Clone, Copy)]
pub(crate) struct Ring<'a> {
    pub(crate) near: Near<'a>,
    /// None if there has never been a window that needs it.
    pub(crate) far: Option<&'a Far>,
}

impl<'a> Ring<'a> {
    /// The ring word that holds the outcome at `position`.
    fn word(self, position: u32) -> &'a AtomicU64 {
        match self.near.word(position) {
            Some(word) => word,
            None => self.far_word((position / PER_WORD) as usize - NEAR_WORDS),
        }
    }

    fn far_segments(self) -> impl Iterator<Item = &'a [AtomicU64]> {
        self.far.into_iter().flat_map(Far::segments)
    }

    fn far_word(self, mut index: usize) -> &'a AtomicU64 {
        for words in self.far_segments() {
            match words.get(index) {
                Some(word) => return word,
                None => index -= words.len(),
            }
        }
        unreachable!("room is made before a word moves to a larger window")
    }

    /// The kind of the outcome at `position`, for a reader that does not move the word. Acquire: pairs
    /// with the release in `write`. A reader that sees a later outcome here finds, when it looks at the
    /// breaker's word again, that the word has moved.
    pub(crate) fn look_at(self, position: u32) -> Kind {
        kind_in(self.word(position).load(Acquire), position)
    }

    /// The kind of the outcome at `position`. Relaxed: the caller has loaded the breaker's word
    /// before, with acquire, and its CAS of the word validates what was read in between.
    pub(crate) fn kind_at(self, position: u32) -> Kind {
        kind_in(self.word(position).load(Relaxed), position)
    }

    /// Writes the pending outcome `kind` to its place, unless it is there already. Gives up, and says
    /// false, when the breaker's word is not `current` any more. A caller that is told so must not move the
    /// word, even if it should come to have the same bits again.
    #[must_use = "a word may not be left whose pending outcome is not in the ring"]
    pub(crate) fn write(self, position: u32, kind: Kind, current: impl Fn() -> bool) -> bool {
        write(self.word(position), position, kind, current)
    }

    /// The outcomes of all ring words in order. Relaxed: as in `kind_at`.
    fn outcomes(self) -> impl Iterator<Item = u64> {
        self.near
            .0
            .iter()
            .chain(self.far_segments().flatten())
            .map(|word| OUTCOMES.get(word.load(Relaxed)))
    }

    /// Counts the first `end` outcomes.
    pub(crate) fn counts(self, end: u32) -> Counts {
        let whole = (end / PER_WORD) as usize;
        let mut lanes = Lanes::default();
        self.outcomes()
            .take(whole)
            .for_each(|outcomes| lanes.add(outcomes));
        if !end.is_multiple_of(PER_WORD) {
            let rest = self.outcomes().nth(whole).unwrap_or(0);
            lanes.add(rest & lowest_places(end % PER_WORD));
        }
        lanes.counts(end)
    }

    /// Whether all outcomes in `start..end` are failures.
    pub(crate) fn all_failures(self, start: u32, end: u32) -> bool {
        let first = start / PER_WORD;
        (first..end.div_ceil(PER_WORD))
            .zip(self.outcomes().skip(first as usize))
            .all(|(index, outcomes)| {
                let base = index * PER_WORD;
                let below = lowest_places(end.saturating_sub(base).min(PER_WORD));
                let above = lowest_places(start.saturating_sub(base).min(PER_WORD));
                let wanted = EACH & below & !above;
                outcomes & wanted == wanted
            })
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

#[inline]
fn write(word: &AtomicU64, position: u32, kind: Kind, current: impl Fn() -> bool) -> bool {
    // Acquire: pairs with the release below. A thread that sees a later outcome here
    // finds in `current` that the breaker's word has moved.
    let seen = word.load(Acquire);
    let change = u64::from(kind_in(seen, position).0 ^ kind.0);
    if change == 0 {
        return true;
    }
    if !current() {
        return false;
    }
    // The version is topmost: what it overflows by is lost.
    let changed = (seen ^ change << shift(position)).wrapping_add(VERSION.put(1));
    // Release: pairs with the loads above and in `look_at`. Relaxed: a failure is not looked into. Another
    // thread has written this outcome, or the breaker's word has moved.
    let _ = word.compare_exchange(seen, changed, AcqRel, Relaxed);
    true
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
