//! A count that belongs to one tick of one generation.

use crate::contract::rules::mix;
use crate::engine::field::Field;

/// Exact to 2^25 - 1; from there on a float of 4 bits and 21, that counts one in
/// so many.
const COUNT: Field = Field::lowest(26);
const TAG: Field = COUNT.above(38);

/// Where the float begins, and the bits of its mantissa.
const EXACT: u64 = 1 << 25;
const MANTISSA: Field = Field::lowest(21);
const EXPONENT: Field = MANTISSA.above(4);
/// The mantissa's topmost bit is left out, so the first step is of this many bits.
const FIRST_STEP: u64 = 25 - 21;

/// When a count was made: a tick and a generation, in one number that
/// grows with both.
///
/// A generation is worth 2^16 ticks. So that both wrap together at 2^38, no
/// tag comes again before 2^38 ticks (8.7 years of a millisecond), or 2^22
/// generations, or as much of both have passed, and a count of another
/// generation is never in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag(u64);

impl Tag {
    #[inline]
    pub(crate) const fn of(generation: u32, tick: u64) -> Self {
        Self(tick.wrapping_add((generation as u64) << 16) & TAG.max())
    }

    #[inline]
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    #[inline]
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    /// Whether this one came after `other`, as far as a number that wraps can tell.
    #[inline]
    pub(crate) const fn is_after(self, other: Self) -> bool {
        let ahead = self.0.wrapping_sub(other.0) & TAG.max();
        ahead != 0 && ahead <= TAG.max() / 2
    }
}

/// A value of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tagged(u64);

impl Tagged {
    #[inline]
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    #[inline]
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) const fn tag(self) -> Tag {
        Tag(TAG.get(self.0))
    }

    /// So many, at this time; if that is more than can be told exactly, a little less.
    pub(crate) const fn new(tag: Tag, count: u64) -> Self {
        let code = if count < EXACT {
            count
        } else {
            let step = (63 - count.leading_zeros() as u64) - MANTISSA.max().count_ones() as u64;
            let exponent = step - FIRST_STEP;
            if exponent > EXPONENT.max() {
                COUNT.max()
            } else {
                EXACT | EXPONENT.put(exponent) | MANTISSA.put(count >> step & MANTISSA.max())
            }
        };
        Self(TAG.put(tag.0) | COUNT.put(code))
    }

    /// So many more at this time; one of them as [`and_one`](Self::and_one) has it.
    #[inline]
    pub(crate) const fn and(self, how_many: u64, tag: Tag, seed: u64) -> Self {
        if how_many == 1 {
            return self.and_one(tag, seed);
        }
        Self::new(tag, self.count(tag).saturating_add(how_many))
    }

    /// The count, if it is of this time.
    #[inline]
    pub(crate) const fn count(self, tag: Tag) -> u64 {
        if self.tag().0 != tag.0 {
            return 0;
        }
        let code = COUNT.get(self.0);
        if code < EXACT {
            return code;
        }
        let mantissa = MANTISSA.max() + 1 + MANTISSA.get(code);
        mantissa << (EXPONENT.get(code) + FIRST_STEP)
    }

    /// One more at this time. Where the count is a float it becomes the next one
    /// seldom enough that it is right on average, by what `seed` comes to.
    #[inline]
    pub(crate) const fn and_one(self, tag: Tag, seed: u64) -> Self {
        if self.tag().0 != tag.0 {
            return Self(TAG.put(tag.0) | 1);
        }
        let code = COUNT.get(self.0);
        if code >= EXACT {
            let step = EXPONENT.get(code) + FIRST_STEP;
            if code == COUNT.max() || mix(seed ^ code) & !(u64::MAX << step) != 0 {
                return self;
            }
        }
        Self(self.0 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAG: Tag = Tag::of(7, 1000);

    #[test]
    fn thirty_million_are_counted_exactly() {
        let mut cell = Tagged::new(TAG, 0);
        for count in 1..=30_000_000 {
            cell = cell.and_one(TAG, 0);
            assert_eq!(cell.count(TAG), count);
        }
    }

    #[test]
    fn larger_counts_are_right_on_average() {
        let mut now = 1_u64;
        let mut cell = Tagged::new(TAG, EXACT - 1);
        for _ in 0..20_000_000 {
            // A clock.
            now += 20;
            cell = cell.and_one(TAG, now);
        }
        let error = cell.count(TAG).abs_diff(EXACT - 1 + 20_000_000);
        assert!(error < 100_000, "off by {error}");
    }

    #[test]
    fn a_count_is_taken_over_as_it_is_or_a_little_less() {
        for count in [
            0,
            1,
            EXACT - 1,
            EXACT,
            EXACT + 17,
            u64::from(u32::MAX),
            1 << 39,
        ] {
            let kept = Tagged::new(TAG, count).count(TAG);
            assert!(
                kept <= count && count - kept <= count >> 20,
                "{count}: {kept}"
            );
        }
        let most = Tagged::new(TAG, u64::MAX);
        assert_eq!(most.and_one(TAG, 0), most, "the largest stays");
    }

    #[test]
    fn a_count_of_another_time_is_none() {
        let cell = Tagged::new(TAG, 5);
        for other in [Tag::of(7, 1001), Tag::of(8, 1000), Tag::of(7, 999)] {
            assert_eq!(cell.count(other), 0);
            assert_eq!(cell.and_one(other, 0).count(other), 1);
        }
    }

    #[test]
    fn a_later_time_is_after_an_earlier_one_across_the_wrap() {
        let last = Tag::of(Word::GENERATIONS - 1, u64::from(u16::MAX));
        for (earlier, later) in [
            (Tag::of(3, 9), Tag::of(3, 10)),
            (Tag::of(3, 900), Tag::of(4, 900)),
            (last, Tag::of(0, 0)),
        ] {
            assert!(later.is_after(earlier) && !earlier.is_after(later));
            assert!(!later.is_after(later));
        }
    }

    use crate::engine::word::Word;
}
