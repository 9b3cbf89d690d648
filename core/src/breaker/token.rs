//! A permit without its breaker: what it knows of its call, and how it was dropped if it was.

use crate::engine::word::Stamp;

/// What a permit knows of its call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    stamp: Stamp,
    started: u64,
}

impl Token {
    const UNTIMED: u64 = u64::MAX;

    #[inline]
    pub(crate) const fn untimed(stamp: Stamp) -> Self {
        Self {
            stamp,
            started: Self::UNTIMED,
        }
    }

    pub(crate) const fn timed(stamp: Stamp, now: u64) -> Self {
        Self {
            stamp,
            started: now,
        }
    }

    #[inline]
    pub(crate) const fn stamp(self) -> Stamp {
        self.stamp
    }

    pub(crate) fn started(self) -> Option<u64> {
        Some(self.started).filter(|&started| started != Self::UNTIMED)
    }
}

/// How a permit came to be dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dropped {
    /// By a caller that lost interest in the call.
    Abandoned,
    /// By a panic of the call.
    Panicked,
}

impl Dropped {
    /// By code that stands around the call. If the thread is panicking, the panic is taken for one of the call.
    pub(crate) fn here() -> Self {
        #[cfg(feature = "std")]
        let is_panicking = std::thread::panicking();
        // Without the standard library nobody can tell.
        #[cfg(not(feature = "std"))]
        let is_panicking = false;
        if is_panicking {
            Self::Panicked
        } else {
            Self::Abandoned
        }
    }
}
