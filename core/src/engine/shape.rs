//! How a word holds what a count window has come to.

use crate::engine::field::{Field, seldom};
use crate::engine::window::count::{Kind, NEAR_SIZE};

/// The bits of a word that a [`Shape`] divides between the lap, the cursor and the bad count.
pub(super) const LAP_CURSOR_BAD: Field = Field::lowest(32);

/// The payload of closed and observe-only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Closed {
    /// Where the next outcome goes.
    pub(crate) cursor: u32,
    /// Whether every place is in use.
    pub(crate) full: bool,
    /// How many outcomes are not fast successes, the pending one included.
    pub(crate) bad: u64,
    /// The newest outcome. Its place is the one before the cursor; it may not be written there yet.
    pub(crate) pending: Kind,
}

/// A count window's size, and how a word holds what the window has come to: the bad count
/// lowest, the cursor above it, the lap on top. The lap counts how often
/// the cursor has wrapped, and wraps too.
///
/// In a window whose ring is near, the bad count and the cursor have 7 bits each, constants for the sake of
/// speed, and 18 are left for the lap. A larger window takes what it needs: at the size of 4096
/// that is 13 and 12 bits, and 7 are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) size: u32,
    pub(crate) cursor_mask: u32,
    pub(crate) bad_bits: u32,
}

impl Shape {
    /// No count window is of this size, which stands for a window of scores.
    pub(crate) const OF_SCORES: u32 = (1 << 13) - 1;

    pub(super) const fn is_of_scores(self) -> bool {
        self.size == Self::OF_SCORES
    }

    /// The shape of a window of `size` outcomes, 1 to 4096.
    pub(crate) const fn new(size: u32) -> Self {
        if size <= NEAR_SIZE {
            return Self::near(size);
        }
        Self {
            size,
            cursor_mask: size.next_power_of_two() - 1,
            bad_bits: u32::BITS - size.leading_zeros(),
        }
    }

    /// The shape of a window whose ring is near: its widths are constants.
    #[inline]
    pub(crate) const fn near(size: u32) -> Self {
        Self {
            size,
            cursor_mask: 127,
            bad_bits: 7,
        }
    }

    /// How many places of the ring are the window's: all, once it is full.
    #[inline]
    pub(crate) const fn samples(self, closed: Closed) -> u32 {
        if closed.full {
            self.size
        } else {
            closed.cursor
        }
    }

    /// The place of the pending outcome; `None` in an empty window.
    ///
    /// Of a shape that was read after the word has moved on, and may be of no count window, it makes no sense. Then the CAS that it is
    /// for fails.
    #[inline]
    pub(crate) const fn pending_at(self, closed: Closed) -> Option<u32> {
        if closed.cursor == 0 {
            seldom();
            return if closed.full {
                self.size.checked_sub(1)
            } else {
                None
            };
        }
        Some(closed.cursor - 1)
    }

    /// The cursor of `word`.
    #[inline]
    pub(super) const fn cursor(self, word: u64) -> u32 {
        (word >> self.bad_bits) as u32 & self.cursor_mask
    }

    /// The bad count of `word`.
    #[inline]
    pub(super) const fn bad(self, word: u64) -> u64 {
        word & !(u64::MAX << self.bad_bits)
    }

    const fn lap_shift(self) -> u32 {
        self.cursor_mask.count_ones() + self.bad_bits
    }

    /// `word` with its cursor at the start of the next lap.
    pub(super) const fn start_lap(self, word: u64) -> u64 {
        let cursor = (self.cursor_mask as u64) << self.bad_bits;
        self.next_lap(word & !cursor)
    }

    /// `word` in the next lap, its cursor where it was.
    pub(super) const fn next_lap(self, word: u64) -> u64 {
        let next = (word & LAP_CURSOR_BAD.mask()) + (1 << self.lap_shift());
        word & !LAP_CURSOR_BAD.mask() | next & LAP_CURSOR_BAD.mask()
    }

    /// The lap of `word`.
    pub(super) const fn lap(self, word: u64) -> u64 {
        LAP_CURSOR_BAD.get(word) >> self.lap_shift()
    }

    /// How many outcomes a word's lap and cursor stand for.
    pub(super) fn total(self, word: u64) -> u64 {
        self.lap(word) * u64::from(self.size) + u64::from(self.cursor(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_window_by_the_shape_of_none_has_no_place() {
        let full = Closed {
            cursor: 0,
            full: true,
            bad: 0,
            pending: Kind::FAST_SUCCESS,
        };
        assert_eq!(Shape::near(7).pending_at(full), Some(6));
        assert_eq!(Shape::near(0).pending_at(full), None);
    }
}
