//! What makes loom see all dependent accesses.
//!
//! Loom tries two accesses in the other order too if it finds that they depend on each other, and for that
//! it remembers one access to an atomic, the last. Once another thread has loaded, an earlier
//! load is forgotten, and a later write is never tried before it
//! (tokio-rs/loom issues 166 and 392; load, then compare and exchange is what
//! this core is made of). So each thread leaves a track of its own beside
//! each atomic that it loads, and who writes goes over the tracks of the others:
//! no track is hidden by another.
//!
//! Tracks change nothing else. They are relaxed and so order nothing: a load
//! may still see an old value. And loom is told not to switch threads between an access
//! and its tracks, so they add no executions of their own.

use std::sync::atomic::Ordering::Relaxed;

use loom::sync::atomic::AtomicUsize;

use crate::session;
use crate::thread_number::{self, MOST_THREADS};

/// The tracks in one atomic.
pub(crate) struct Tracks([AtomicUsize; MOST_THREADS]);

impl Tracks {
    pub(crate) fn new() -> Self {
        Self(std::array::from_fn(|_| AtomicUsize::new(0)))
    }

    /// After a load.
    pub(crate) fn read(&self) {
        if session::threads() > 0 {
            let this = thread_number::this();
            loom::stop_exploring();
            self.0[this].load(Relaxed);
            loom::explore();
        }
    }

    /// After a write.
    pub(crate) fn write(&self) {
        if session::threads() > 0 {
            let this = thread_number::this();
            loom::stop_exploring();
            for (number, track) in self.0.iter().take(session::threads()).enumerate() {
                if number != this {
                    track.fetch_add(0, Relaxed);
                }
            }
            loom::explore();
        }
    }
}
