//! Atomics that share no cache line with what lies beside them.

use alloc::boxed::Box;

use crossbeam_utils::CachePadded;

use crate::engine::sync::AtomicU64;

/// Atomics in a line: what two lines of 64 bytes hold, since some processors fetch them in pairs.
pub(crate) const CELLS: usize = 16;

/// A line that shares nothing with what lies beside it.
pub(crate) type Line = CachePadded<[AtomicU64; CELLS]>;

/// Lines of zeros, enough for so many atomics.
pub(crate) fn lines(cells: usize) -> Box<[Line]> {
    (0..cells.div_ceil(CELLS))
        .map(|_| CachePadded::new(core::array::from_fn(|_| AtomicU64::new(0))))
        .collect()
}
