//! What belongs to a generation and has no room in the word: cells beside it.
//!
//! A reader takes the word first, then a cell of the word's generation. So a thread that begins a generation fills
//! the cells first and moves the word last. The move is a release, the look at the word an acquire: whoever sees the
//! word sees the cells.

use crate::contract::deadline::Deadline;
use crate::engine::past::Past;
use crate::engine::tagged_cell::TaggedCell;
use crate::engine::wait::Wait;

/// The cells of one generation. All of them are filled before the word moves to it.
///
/// The breaker has two sets, one for even generations and one for odd ones. For example, the breaker is open in generation 7,
/// and threads read the deadline from the odd set. Thread A is about to begin generation 8, half-open, and fills the even
/// set. Should another thread begin generation 8 first, A's move of the word fails, and what A wrote is of a generation that did
/// begin, with the same values or merged ones.
#[derive(Debug)]
pub(crate) struct Beside {
    /// Of a half-open generation: when the last of its leases is over, in milliseconds.
    pub(super) lease: TaggedCell,
    /// Of a generation that waits: about when it began. Together with the digits in the word this is
    /// the deadline: see [`Wait`].
    pub(super) began: TaggedCell,
    /// What came before: see [`Past`].
    pub(super) past: TaggedCell,
    /// Of an operator's state: the deadline of the open state that it interrupted, in milliseconds.
    pub(super) interrupted: TaggedCell,
}

impl Beside {
    /// The cells of a breaker's first generation.
    pub(crate) fn new(generation: u32, past: Past, wait: Wait, interrupted: Deadline) -> Self {
        let cell = |value| TaggedCell::new(generation, value);
        Self {
            lease: cell(0),
            began: cell(wait.began),
            past: cell(past.bits()),
            interrupted: cell(interrupted.to_millis(TaggedCell::MAX)),
        }
    }
}
