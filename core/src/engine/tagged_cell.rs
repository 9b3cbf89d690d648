//! Cells beside the word for what it has no room for.

use crate::engine::field::Field;
use crate::engine::sync::{AcqRel, Acquire, AtomicU64, Relaxed};

const VALUE: Field = Field::lowest(42);
const TAG: Field = VALUE.above(22);

/// A value of 42 bits that belongs to one generation.
///
/// A reader asks for the value *of a generation*, and gets nothing if the cell
/// holds that of another one. A writer loads the cell, then makes sure that the
/// word has not moved on, then changes the cell by CAS: when that succeeds,
/// nothing newer can have been in the cell. This needs no order between
/// generations, so wrapping and restored ones are as good as any.
#[derive(Debug)]
pub(crate) struct TaggedCell(AtomicU64);

impl TaggedCell {
    /// The largest value.
    pub(crate) const MAX: u64 = VALUE.max();

    pub(crate) fn new(generation: u32, value: u64) -> Self {
        Self(AtomicU64::new(pack(generation, value)))
    }

    /// Which generation the value belongs to.
    pub(crate) fn generation(&self) -> u32 {
        // Acquire: as in `get`.
        TAG.get(self.0.load(Acquire)) as u32
    }

    /// The value of `generation`.
    #[inline]
    pub(crate) fn get(&self, generation: u32) -> Option<u64> {
        // Acquire: pairs with `put`; whoever sees a newer value also sees the
        // word that it was written for.
        let cell = self.0.load(Acquire);
        value_of(cell, generation)
    }

    /// Makes `merge` of the value of `generation`, if there is one, the new
    /// value. Gives up, and says false, when the word is not `current` any more.
    #[must_use = "what was not published may not be relied on"]
    pub(crate) fn put(
        &self,
        generation: u32,
        current: impl Fn() -> bool,
        merge: impl Fn(Option<u64>) -> u64,
    ) -> bool {
        loop {
            // Acquire: orders the look at the word in `current` after this load.
            let cell = self.0.load(Acquire);
            let new = pack(generation, merge(value_of(cell, generation)));
            if !current() {
                return false;
            }
            // Release: pairs with the loads above.
            if new == cell || self.0.compare_exchange(cell, new, AcqRel, Relaxed).is_ok() {
                return true;
            }
        }
    }
}

#[inline]
fn value_of(cell: u64, generation: u32) -> Option<u64> {
    (TAG.get(cell) == u64::from(generation)).then(|| VALUE.get(cell))
}

fn pack(generation: u32, value: u64) -> u64 {
    TAG.put(u64::from(generation)) | VALUE.put(value)
}
