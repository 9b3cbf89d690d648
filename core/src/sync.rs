//! The atomics, and the only file that knows how they are checked.
//!
//! The core asks for one atomic type. A build for model checking swaps it, by
//! `cfg(cutout_checked)`, for one whose every access a checker schedules (see
//! `loom-tests/`).

#[cfg(not(cutout_checked))]
mod imp {
    #[cfg(not(feature = "portable-atomic"))]
    pub(crate) use core::sync::atomic::AtomicU64;
    #[cfg(feature = "portable-atomic")]
    pub(crate) use portable_atomic::AtomicU64;

    /// Lets another thread run; used only off the allow and done paths.
    pub(crate) fn relax() {
        #[cfg(feature = "std")]
        std::thread::yield_now();
        #[cfg(not(feature = "std"))]
        core::hint::spin_loop();
    }
}

#[cfg(cutout_checked)]
use cutout_checker as imp;

pub(crate) use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
pub(crate) use imp::{AtomicU64, relax};

/// Pauses after a lost CAS: 32, 64, up to 256 spins, so that the winner
/// gets on with the line it owns.
pub(crate) struct Backoff(u32);

impl Backoff {
    pub(crate) const fn new() -> Self {
        Self(32)
    }

    pub(crate) fn pause(&mut self) {
        for _ in 0..self.0 {
            core::hint::spin_loop();
        }
        self.0 = (self.0 * 2).min(256);
    }
}
