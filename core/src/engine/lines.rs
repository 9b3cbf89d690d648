//! Atomics that lie in lines of their own.

use alloc::boxed::Box;

use crate::engine::sync::AtomicU64;

/// Atomics in a line. Processors that fetch lines in pairs make it 128 bytes.
pub(crate) const CELLS: usize = 16;

/// A line that shares nothing with what lies beside it.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Line(pub(crate) [AtomicU64; CELLS]);

/// Lines of zeros, enough for so many atomics.
pub(crate) fn lines(cells: usize) -> Box<[Line]> {
    (0..cells.div_ceil(CELLS))
        .map(|_| Line(core::array::from_fn(|_| AtomicU64::new(0))))
        .collect()
}
