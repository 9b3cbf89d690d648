//! How much of a plan has been measured.

/// Tasks done, of those planned.
#[derive(Clone, Copy, Debug)]
pub struct Coverage {
    pub(super) done: usize,
    pub(super) planned: usize,
}

impl Coverage {
    /// So many tasks of so many.
    pub fn new(done: usize, planned: usize) -> Self {
        Self { done, planned }
    }

    /// All there is, whatever was planned.
    pub fn unknown() -> Self {
        Self::new(0, 0)
    }
}
