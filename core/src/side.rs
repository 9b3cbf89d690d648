//! Cells beside the word for what it has no room for.

use crate::bits::Field;
use crate::sync::{AcqRel, Acquire, AtomicU64, Relaxed};

const VALUE: Field = Field::lowest(50);
const TAG: Field = VALUE.above(14);

/// A value of fifty bits that belongs to one generation.
///
/// A reader asks for the value *of a generation*, and gets nothing if the cell
/// holds that of another one (modulo 2^14). A writer loads the cell, then makes sure that the
/// word has not moved on, then changes the cell by CAS: when that succeeds,
/// nothing newer can have been in the cell. This needs no order between
/// generations, so wrapping and restored ones are as good as any.
#[derive(Debug)]
pub(crate) struct SideCell(AtomicU64);

impl SideCell {
    pub(crate) fn new(generation: u32, value: u64) -> Self {
        Self(AtomicU64::new(pack(generation, value)))
    }

    /// The value of `generation`.
    #[inline]
    pub(crate) fn get(&self, generation: u32) -> Option<u64> {
        // Acquire: pairs with `put`; whoever sees a newer value also sees the
        // word that it was written for.
        let cell = self.0.load(Acquire);
        (TAG.get(cell) == tag(generation)).then(|| VALUE.get(cell))
    }

    /// Makes `merge` of the value of `generation`, if there is one, the new
    /// value. Gives up when the word is not `current` any more.
    pub(crate) fn put(
        &self,
        generation: u32,
        current: impl Fn() -> bool,
        merge: impl Fn(Option<u64>) -> u64,
    ) {
        loop {
            // Acquire: orders the look at the word in `current` after this load.
            let cell = self.0.load(Acquire);
            let value = merge((TAG.get(cell) == tag(generation)).then(|| VALUE.get(cell)));
            let new = pack(generation, value);
            if new == cell || !current() {
                return;
            }
            // Release: pairs with the loads above.
            if self.0.compare_exchange(cell, new, AcqRel, Relaxed).is_ok() {
                return;
            }
        }
    }
}

#[inline]
fn tag(generation: u32) -> u64 {
    u64::from(generation) & TAG.max()
}

fn pack(generation: u32, value: u64) -> u64 {
    TAG.put(tag(generation)) | VALUE.put(value)
}
