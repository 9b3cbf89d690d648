//! A cell beside the word, for a value that the word has no room for.

use crate::engine::field::Field;
use crate::engine::sync::{AcqRel, Acquire, AtomicU64, Relaxed};

const VALUE: Field = Field::lowest(42);
const TAG: Field = VALUE.above(22);

/// A value of 42 bits that belongs to one generation.
///
/// A reader asks for the value *of a generation*, and gets nothing if the cell
/// holds that of another one. A writer takes three steps: it loads the cell, then makes sure that the word has
/// not moved, then changes the cell by CAS.
///
/// For example, the word is in generation 4, and threads A and B both want to begin 5. A loads the cell, which has a value of 3, and
/// sleeps. B puts the value of 5 in the cell and moves the word; later a value of 7 comes into the cell. A wakes up and looks
/// at the word, which has moved: it gives up. Had A slept after its look at the word, its CAS would fail, since the cell has changed.
/// Generations are only compared for being equal, so they may wrap or come from a snapshot.
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
        // Acquire: pairs with the release in `put`, as in `get`.
        TAG.get(self.0.load(Acquire)) as u32
    }

    /// The value of `generation`.
    #[inline]
    pub(crate) fn get(&self, generation: u32) -> Option<u64> {
        // Acquire: pairs with the release in `put`; a thread that sees a value also sees the word that its writer saw, and so
        // finds by another look at the word whether the value is of an earlier one.
        let cell = self.0.load(Acquire);
        value_of(cell, generation)
    }

    /// Makes `merge` of the value of `generation`, if there is one, the new
    /// value. Gives up, and says false, when the word is not `current` any more.
    #[must_use = "what was not published may not be relied on"]
    #[inline]
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
            // Release: pairs with the loads in `get`, `generation` and here. Relaxed: a failure loads the cell again.
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

#[inline]
fn pack(generation: u32, value: u64) -> u64 {
    TAG.put(u64::from(generation)) | VALUE.put(value)
}
