//! What a breaker asks of its window.

/// The outcomes that the ratio is computed over.
pub(super) trait Window: Send + 'static {
    /// Adds an outcome.
    fn record(&mut self, failed: bool);

    /// How many there are, and how many of them are failures.
    fn totals(&self) -> (usize, usize);

    /// Forgets them all.
    fn clear(&mut self);
}
