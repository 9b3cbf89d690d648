//! The atomics, and the only file that knows how they are checked.
//!
//! The core asks for one atomic type. A build for model checking swaps it, by
//! `cfg(cutout_checked)`, for one whose every access a checker schedules (see
//! `loom-tests/`).

#[cfg(not(cutout_checked))]
mod imp {
    #[cfg(all(not(feature = "portable-atomic"), not(target_has_atomic = "64")))]
    compile_error!(
        "this target has no 64-bit atomics: enable the feature `portable-atomic` of the crate `cutout`, \
         as in `cargo add cutout --no-default-features --features portable-atomic`"
    );
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

/// A breaker keeps records of its trips. A model of something else leaves them out, since each cell
/// that is written makes its search longer.
#[cfg(not(cutout_checked))]
pub(crate) const fn keeps_records() -> bool {
    true
}

#[cfg(not(cutout_checked))]
mod threads {
    /// The most shards that are worth their memory.
    #[cfg(feature = "std")]
    const MOST_SHARDS: usize = 16;

    /// Into how many shards threads are divided: as many as can run at a time, up to
    /// 16; a power of two.
    #[cfg(feature = "std")]
    pub(crate) fn shards() -> usize {
        use std::sync::OnceLock;

        static SHARDS: OnceLock<usize> = OnceLock::new();
        // Asking takes the system some time.
        *SHARDS.get_or_init(|| {
            let threads = std::thread::available_parallelism().map_or(1, usize::from);
            threads.next_power_of_two().min(MOST_SHARDS)
        })
    }

    /// The present thread's shard, before it is brought down to how many there are.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn shard() -> usize {
        use core::cell::Cell;
        use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

        static THREADS: AtomicUsize = AtomicUsize::new(0);
        std::thread_local! {
            static SHARD: Cell<usize> = const { Cell::new(usize::MAX) };
        }
        SHARD.with(|shard| {
            if shard.get() == usize::MAX {
                crate::engine::field::seldom();
                // Relaxed: it orders nothing; each thread gets another number.
                shard.set(THREADS.fetch_add(1, Relaxed) % MOST_SHARDS);
            }
            shard.get()
        })
    }

    /// Without the standard library threads cannot be told apart.
    #[cfg(not(feature = "std"))]
    pub(crate) fn shards() -> usize {
        1
    }

    #[cfg(not(feature = "std"))]
    #[inline]
    pub(crate) fn shard() -> usize {
        0
    }
}

#[cfg(cutout_checked)]
use cutout_checker as imp;
#[cfg(cutout_checked)]
use cutout_checker as threads;

pub(crate) use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
pub(crate) use imp::{AtomicU64, relax};
#[cfg(cutout_checked)]
pub(crate) use threads::keeps_records;
pub(crate) use threads::{shard, shards};

/// Pauses after a lost CAS: 16 spins, then 32 each time, so that the winner gets on with
/// the line it owns. Not longer: a spin takes up to 40 ns, and one call in a thousand
/// loses more than once.
pub(crate) struct Backoff(u32);

impl Backoff {
    pub(crate) const fn new() -> Self {
        Self(16)
    }

    pub(crate) fn pause(&mut self) {
        for _ in 0..self.0 {
            core::hint::spin_loop();
        }
        self.0 = (self.0 * 2).min(32);
    }
}
