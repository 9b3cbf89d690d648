//! Fields of a packed `u64`, and a hint.

/// A run of bits in a word. Fields are declared as a chain, each above the
/// one before, so that two of one chain cannot overlap; a chain that
/// outgrows the word does not compile.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    shift: u32,
    width: u32,
}

impl Field {
    /// The lowest `width` bits.
    pub(crate) const fn lowest(width: u32) -> Self {
        assert!(width >= 1 && width <= 64);
        Self { shift: 0, width }
    }

    /// The `width` bits above this field.
    pub(crate) const fn above(self, width: u32) -> Self {
        let shift = self.shift + self.width;
        assert!(width >= 1 && shift + width <= 64);
        Self { shift, width }
    }

    /// The largest value that fits.
    pub(crate) const fn max(self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// The field's bits, in place.
    pub(crate) const fn mask(self) -> u64 {
        self.max() << self.shift
    }

    /// The value of the field in `word`.
    #[inline]
    pub(crate) const fn get(self, word: u64) -> u64 {
        (word >> self.shift) & self.max()
    }

    /// `value` in place, to be joined with other fields by `|`.
    #[inline]
    pub(crate) const fn put(self, value: u64) -> u64 {
        debug_assert!(value <= self.max());
        (value & self.max()) << self.shift
    }
}

/// Tells the compiler that this branch is not the usual one.
#[cold]
pub(crate) const fn seldom() {}
