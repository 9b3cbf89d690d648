//! What an operator orders of a breaker.

use std::time::Duration;

use cutout::Breaker;

/// What an operator orders of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    ForceOpen(Option<Duration>),
    Close,
    Disable,
    ObserveOnly,
    Resume,
}

impl Order {
    /// Does it to a breaker of this process.
    pub(crate) fn carry_out(self, breaker: &Breaker, reason: &str) {
        match self {
            Self::ForceOpen(how_long) => breaker.force_open(how_long, reason),
            Self::Close => breaker.close(reason),
            Self::Disable => breaker.disable(reason),
            Self::ObserveOnly => breaker.observe_only(reason),
            Self::Resume => _ = breaker.resume(reason),
        }
    }
}
