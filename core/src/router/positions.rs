//! A set of positions in a queue.

/// A set of positions below 128, in one value that is copied and never allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Positions(u128);

impl Positions {
    /// How many positions there are.
    pub(super) const MAX: usize = u128::BITS as usize;

    pub(super) const NONE: Self = Self(0);

    pub(super) fn where_(len: usize, holds: impl Fn(usize) -> bool) -> Self {
        let mut positions = Self::NONE;
        for position in (0..len).filter(|&position| holds(position)) {
            positions.insert(position);
        }
        positions
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) const fn contains(self, position: usize) -> bool {
        self.0 & 1 << position != 0
    }

    pub(super) const fn insert(&mut self, position: usize) {
        self.0 |= 1 << position;
    }

    pub(super) const fn remove(&mut self, position: usize) {
        self.0 &= !(1 << position);
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The lowest position.
    pub(super) const fn first(self) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        Some(self.0.trailing_zeros() as usize)
    }
}

impl Iterator for Positions {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let first = self.first()?;
        self.0 &= self.0 - 1;
        Some(first)
    }
}
