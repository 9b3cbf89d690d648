//! The atomics, and the only file that knows how they are checked.
//!
//! The core asks for one atomic type. Builds for model checking swap it, by
//! `cfg(cutout_loom)` or `cfg(cutout_shuttle)`, for one whose every access the checker
//! schedules. `cfg(cutout_rmw_loads)` turns its loads into
//! read-modify-writes on top: a checker that reorders loads less than it should
//! then still interleaves them.

#[cfg(not(any(cutout_loom, cutout_shuttle)))]
mod imp {
    #[cfg(not(feature = "portable-atomic"))]
    pub(crate) use core::sync::atomic::AtomicU64;
    pub(crate) use core::sync::atomic::Ordering;
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

#[cfg(any(cutout_loom, cutout_shuttle))]
mod imp {
    #[cfg(cutout_loom)]
    use loom::{sync::atomic, thread};
    #[cfg(cutout_shuttle)]
    use shuttle::{sync::atomic, thread};

    pub(crate) use core::sync::atomic::Ordering;

    pub(crate) fn relax() {
        thread::yield_now();
    }

    #[derive(Debug)]
    pub(crate) struct AtomicU64(atomic::AtomicU64);

    impl AtomicU64 {
        pub(crate) fn new(value: u64) -> Self {
            Self(atomic::AtomicU64::new(value))
        }

        pub(crate) fn load(&self, order: Ordering) -> u64 {
            if cfg!(cutout_rmw_loads) {
                self.0.fetch_add(0, order)
            } else {
                self.0.load(order)
            }
        }

        pub(crate) fn store(&self, value: u64, order: Ordering) {
            self.0.store(value, order);
        }

        pub(crate) fn swap(&self, value: u64, order: Ordering) -> u64 {
            self.0.swap(value, order)
        }

        pub(crate) fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
            self.0.fetch_add(value, order)
        }

        pub(crate) fn fetch_sub(&self, value: u64, order: Ordering) -> u64 {
            self.0.fetch_sub(value, order)
        }

        pub(crate) fn compare_exchange(
            &self,
            current: u64,
            new: u64,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u64, u64> {
            self.0.compare_exchange(current, new, success, failure)
        }

        pub(crate) fn fetch_update(
            &self,
            success: Ordering,
            failure: Ordering,
            update: impl FnMut(u64) -> Option<u64>,
        ) -> Result<u64, u64> {
            self.0.fetch_update(success, failure, update)
        }
    }
}

pub(crate) use imp::Ordering::{AcqRel, Acquire, Relaxed, Release};
pub(crate) use imp::{AtomicU64, relax};
