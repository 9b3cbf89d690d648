//! How many outcomes of each kind a count window holds, where a rule asks for kinds.
//!
//! The word knows how many outcomes are bad. That is all that one rule on failures needs, if nothing else is bad. Where
//! there are rules on timeouts or slow calls, the *tally* beside the word holds a count of each kind, so that nobody
//! has to count the ring to judge an outcome.
//!
//! The word owns the tally as it owns the ring (`count.rs`), and by the same three rules: no thread moves the word on before the
//! pending outcome is in the tally; between reading the tally and writing it, a thread makes sure that the word has not moved; and
//! each write makes it another value. A tally says as of which cursor it is, so that no pending outcome enters it
//! twice. The tally is written before the ring. For example, the pending outcome is a failure that takes the place of a success. A
//! thread that finds the failure in the ring also finds it in the tally. One that still finds the success looks whether the tally
//! is as of the word's cursor, and adds a failure if not.
//!
//! An outcome that counts like the one whose place it takes changes no count, and is not written; only the first and the last of a lap always are. So a
//! tally may be as of an earlier cursor, but never as of the same one a lap ago. In a window that fills up an outcome takes the place of none, whatever an
//! earlier window has left there. That the window was filling up when the last place of its first lap was taken only the tally knows.

use crate::contract::config::Window;
use crate::contract::outcome::Counts;
use crate::engine::field::Field;
use crate::engine::shape::Shape;
use crate::engine::sync::{AcqRel, Acquire, AtomicU64, Relaxed};
use crate::engine::window::count::Kind;
use crate::engine::word::Word;

const FAILURES: Field = Field::lowest(14);
const TIMEOUTS: Field = FAILURES.above(14);
const SLOW: Field = TIMEOUTS.above(14);
/// As of which cursor.
const CURSOR: Field = SLOW.above(12);
/// Whether the window was not full then.
const FILLING: Field = CURSOR.above(1);
/// The lap and the generation, added up: a version. It repeats after 512 laps, or generations. For example, the window has 100 places, so
/// after 51,200 outcomes: a thread that sleeps between its look at the word and its CAS, and wakes up at a multiple of that, at the same cursor
/// and with the same counts, puts a tally of then in the place of the present one. At 100,000 outcomes a second it has to sleep for half a second and
/// wake up within the same 10 microseconds. The counts are then off by one outcome until the generation ends.
const TURN: Field = FILLING.above(9);
const COUNTS: u64 = FAILURES.mask() | TIMEOUTS.mask() | SLOW.mask();

/// The topmost bit of a count, which no count reaches.
const HALF: u64 = 1 << 13;
const TOPMOST: u64 = FAILURES.put(HALF) | TIMEOUTS.put(HALF) | SLOW.put(HALF);

/// Of counts that nobody knows. So large that they stay so, whatever outcomes enter and leave until the lap is over.
const UNKNOWN: u64 = HALF + HALF / 2;
const _: () =
    assert!(Window::MAX_COUNT as u64 <= HALF / 2 && Window::MAX_COUNT as u64 - 1 <= CURSOR.max());

/// A count of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KindCounts(u64);

impl KindCounts {
    pub(crate) const fn of(counts: Counts) -> Self {
        Self(
            FAILURES.put(counts.failures as u64)
                | TIMEOUTS.put(counts.timeouts as u64)
                | SLOW.put(counts.slow as u64),
        )
    }

    /// One outcome of this kind.
    #[inline]
    pub(crate) const fn one(kind: Kind) -> Self {
        // The bits of a kind, each moved to its count: a copy of them every 13 bits, of which one bit is kept each.
        const COPIES: u64 = 1 | 1 << 13 | 1 << 26;
        const KEPT: u64 = FAILURES.put(1) | TIMEOUTS.put(1) | SLOW.put(1);
        Self((kind.bits() as u64 * COPIES) & KEPT)
    }

    /// With the outcomes of `incoming`, and without those of `outgoing`, which are among these.
    ///
    /// `outgoing` may have been read after the word has moved on. Then the result makes no sense, and the CAS that it is for fails.
    #[inline]
    pub(crate) const fn shifted(self, incoming: Self, outgoing: Self) -> Self {
        Self(self.0.wrapping_add(incoming.0).wrapping_sub(outgoing.0) & COUNTS)
    }

    /// The same, of so many samples.
    pub(crate) const fn counts(self, samples: u32) -> Counts {
        Counts {
            samples,
            failures: FAILURES.get(self.0) as u32,
            timeouts: TIMEOUTS.get(self.0) as u32,
            slow: SLOW.get(self.0) as u32,
        }
    }
}

/// From how many of each kind on a rule matches in a full window. It is kept as what a count lacks for its topmost bit to
/// be set once it is added; zero for a kind without a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Floors(u64);

impl Floors {
    /// No rule asks for kinds.
    pub(crate) const NONE: Self = Self(0);

    /// `None` for a kind without a rule. A count that no window reaches is none either.
    pub(crate) fn new(failures: Option<u32>, timeouts: Option<u32>, slow: Option<u32>) -> Self {
        let lack = |floor: Option<u32>| floor.map_or(0, |floor| HALF.saturating_sub(floor.into()));
        Self(FAILURES.put(lack(failures)) | TIMEOUTS.put(lack(timeouts)) | SLOW.put(lack(slow)))
    }

    pub(crate) const fn of_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether one of the counts has come to its floor; always, if nobody knows them.
    #[inline]
    pub(crate) const fn are_reached(self, counts: KindCounts) -> bool {
        ((self.0 + counts.0) | counts.0) & TOPMOST != 0
    }
}

/// A value of the tally: counts, and as of when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tallied(u64);

impl Tallied {
    /// These counts as of `word`.
    #[inline]
    pub(crate) const fn new(counts: KindCounts, word: Word, shape: Shape) -> Self {
        let closed = word.closed(shape);
        Self(
            counts.0
                | CURSOR.put(closed.cursor as u64)
                | FILLING.put(!closed.full as u64)
                | turn(word, shape),
        )
    }

    /// Nobody knows the counts.
    pub(crate) const fn unknown(word: Word, shape: Shape) -> Self {
        let counts = FAILURES.put(UNKNOWN) | TIMEOUTS.put(UNKNOWN) | SLOW.put(UNKNOWN);
        Self(counts | turn(word, shape))
    }

    pub(crate) const fn is_unknown(self) -> bool {
        self.0 & TOPMOST != 0
    }

    #[inline]
    pub(crate) const fn is_filling(self) -> bool {
        FILLING.get(self.0) == 1
    }

    /// Whether the pending outcome is among these counts, at this cursor.
    #[inline]
    pub(crate) const fn is_as_of(self, cursor: u32) -> bool {
        CURSOR.get(self.0) == cursor as u64
    }

    #[inline]
    pub(crate) const fn counts(self) -> KindCounts {
        KindCounts(self.0 & COUNTS)
    }
}

const fn turn(word: Word, shape: Shape) -> u64 {
    TURN.put(word.turn(shape) & TURN.max())
}

/// The tally itself.
#[derive(Debug)]
pub(crate) struct Tally(AtomicU64);

impl Tally {
    /// One that nobody knows yet.
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(UNKNOWN))
    }

    /// Acquire: pairs with the release in `put`; and it orders a look at the word after this load.
    #[inline]
    pub(crate) fn look(&self) -> Tallied {
        Tallied(self.0.load(Acquire))
    }

    /// Puts `new` in place of what was seen, unless somebody has put another one.
    ///
    /// Release: pairs with `look`. Relaxed: a caller that fails looks again.
    #[inline]
    pub(crate) fn put(&self, seen: Tallied, new: Tallied) -> bool {
        self.0
            .compare_exchange(seen.0, new.0, AcqRel, Relaxed)
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(failures: u32, timeouts: u32, slow: u32) -> Counts {
        Counts {
            samples: 4096,
            failures,
            timeouts,
            slow,
        }
    }

    #[test]
    fn each_kind_enters_and_leaves_its_own_counts() {
        let all = KindCounts::of(counts(4095, 4095, 4095));
        for kind in Kind::BAD {
            let one = KindCounts::one(kind);
            assert_eq!(one.counts(1), kind.counts());
            let more = all.shifted(one, KindCounts::default());
            let Counts {
                failures,
                timeouts,
                slow,
                ..
            } = kind.counts();
            let expected = counts(4095 + failures, 4095 + timeouts, 4095 + slow);
            assert_eq!(more.counts(4096), expected);
            assert_eq!(more.shifted(KindCounts::default(), one), all);
        }
    }

    #[test]
    fn a_floor_is_reached_at_its_number_and_not_before() {
        for floor in [1, 2, 57, 4095, 4096] {
            let floors = Floors::new(Some(floor), None, Some(floor));
            let reached = |failures, timeouts, slow| {
                floors.are_reached(KindCounts::of(counts(failures, timeouts, slow)))
            };
            assert!(!reached(floor - 1, 4096, floor - 1), "{floor}");
            assert!(reached(floor, 0, 0), "{floor}");
            assert!(reached(0, 0, floor), "{floor}");
        }
        let never = Floors::new(Some(4097), Some(u32::MAX), None);
        assert!(!never.are_reached(KindCounts::of(counts(4096, 4096, 4096))));
    }
}
