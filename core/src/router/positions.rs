//! A set of positions in a queue.

use core::hint::select_unpredictable;

/// A set of positions below 128, in one value that is copied and never allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Positions(u128);

impl Positions {
    /// How many positions there are.
    pub(super) const MAX: usize = u128::BITS as usize;

    pub(super) const NONE: Self = Self(0);

    /// The positions below `len`, which is at most [`MAX`](Self::MAX).
    pub(super) fn below(len: usize) -> Self {
        let mut positions = Self::NONE;
        (0..len).for_each(|position| positions.insert(position));
        positions
    }

    pub(super) const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    #[inline]
    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(super) const fn contains(self, position: usize) -> bool {
        self.0 & 1 << position != 0
    }

    #[inline]
    pub(super) const fn insert(&mut self, position: usize) {
        self.0 |= 1 << position;
    }

    #[inline]
    pub(super) const fn remove(&mut self, position: usize) {
        self.0 &= !(1 << position);
    }

    /// Those for which this holds.
    pub(super) fn filter(self, holds: impl Fn(usize) -> bool) -> Self {
        let mut filtered = Self::NONE;
        self.for_each(|position| {
            if holds(position) {
                filtered.insert(position);
            }
        });
        filtered
    }

    #[inline]
    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The lowest position.
    #[inline]
    pub(super) const fn first(self) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        Some(self.0.trailing_zeros() as usize)
    }

    /// Two of the positions, by two numbers that are drawn; the same one twice if there is no other.
    #[inline]
    pub(super) fn two(self, drawn: (u32, u32)) -> Option<(usize, usize)> {
        let len = self.len() as u32;
        let one = scaled(drawn.0, len);
        // From the others, so that nobody is compared with itself.
        let step = 1 + scaled(drawn.1, len.saturating_sub(1));
        let other = (one + step) % len.max(1);
        Some((self.nth(one)?, self.nth(other)?))
    }

    fn nth(self, number: u32) -> Option<usize> {
        let mut left = self.0;
        for _ in 0..number {
            left &= left.checked_sub(1)?;
        }
        Self(left).first()
    }

    /// The position with the least key, and that; of several the lowest.
    #[inline]
    pub(super) fn least<K: Ord + Copy>(self, key: impl Fn(usize) -> K) -> Option<(usize, K)> {
        let mut least = self.first()?;
        let mut lowest = key(least);
        self.for_each(|position| {
            let key = key(position);
            // Which one is the least is anybody's guess, so nothing should be guessed.
            let is_less = key < lowest;
            least = select_unpredictable(is_less, position, least);
            lowest = select_unpredictable(is_less, key, lowest);
        });
        Some((least, lowest))
    }

    /// In two halves, each of which fits in a register.
    #[inline]
    pub(super) fn for_each(self, mut visit: impl FnMut(usize)) {
        for (mut half, start) in [(self.0 as u64, 0), ((self.0 >> 64) as u64, 64)] {
            while half != 0 {
                visit(start + half.trailing_zeros() as usize);
                half &= half - 1;
            }
        }
    }
}

/// A number below `len` in proportion to one that is drawn.
fn scaled(drawn: u32, len: u32) -> u32 {
    ((u64::from(drawn) * u64::from(len)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_are_drawn_evenly_and_are_two() {
        let mut among = Positions::NONE;
        for position in [3, 64, 127] {
            among.insert(position);
        }
        let mut seen = [0, u32::MAX / 2, u32::MAX]
            .map(|one| [0, u32::MAX].map(|other| among.two((one, other)).unwrap()))
            .concat();
        seen.sort_unstable();
        assert_eq!(
            seen,
            [(3, 64), (3, 127), (64, 3), (64, 127), (127, 3), (127, 64)]
        );
        among.remove(3);
        among.remove(64);
        assert_eq!(among.two((u32::MAX, u32::MAX)), Some((127, 127)));
        assert_eq!(Positions::NONE.two((0, 0)), None);
    }
}
