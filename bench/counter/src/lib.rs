//! Atomics that count what is done to them, per thread.
//!
//! The core's sources, compiled for counting, use [`AtomicU64`] and [`relax`] of
//! this crate in place of the standard library's; nothing else of the core changes.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{self, Ordering};
use std::{mem, ops, thread};

/// What was done to atomics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Loads: they need the line, shared with others.
    pub loads: u64,
    /// Stores and successful read-modify-writes: they need the line alone.
    pub writes: u64,
    /// Compare-and-swaps that found another value: they need it alone too, in vain.
    pub lost: u64,
}

impl ops::Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            loads: self.loads + other.loads,
            writes: self.writes + other.writes,
            lost: self.lost + other.lost,
        }
    }
}

/// The counts of threads that have ended.
static ENDED: Mutex<Counts> = Mutex::new(Counts {
    loads: 0,
    writes: 0,
    lost: 0,
});

/// A thread's counts; when it ends, they join those of all that have.
struct OfThread(Cell<Counts>);

impl Drop for OfThread {
    fn drop(&mut self) {
        add(&ENDED, self.0.take());
    }
}

thread_local! {
    static OF_THREAD: OfThread = const { OfThread(Cell::new(Counts { loads: 0, writes: 0, lost: 0 })) };
}

fn add(to: &Mutex<Counts>, counts: Counts) {
    let mut to = to.lock().expect("no one panics under the lock");
    *to = *to + counts;
}

/// The counts of this thread and of all that have ended, which start again at zero.
pub fn take() -> Counts {
    let ended = mem::take(&mut *ENDED.lock().expect("no one panics under the lock"));
    ended + OF_THREAD.with(|of_thread| of_thread.0.take())
}

fn count(counts: Counts) {
    // A thread that is ending counts no more.
    let _ = OF_THREAD.try_with(|of_thread| of_thread.0.set(of_thread.0.get() + counts));
}

fn count_load() {
    count(Counts {
        loads: 1,
        ..Counts::default()
    });
}

fn count_write() {
    count(Counts {
        writes: 1,
        ..Counts::default()
    });
}

/// An atomic that counts.
#[derive(Debug, Default)]
pub struct AtomicU64(atomic::AtomicU64);

impl AtomicU64 {
    /// An atomic of that value.
    pub fn new(value: u64) -> Self {
        Self(atomic::AtomicU64::new(value))
    }

    /// As the standard library's; counted as a load.
    pub fn load(&self, order: Ordering) -> u64 {
        count_load();
        self.0.load(order)
    }

    /// As the standard library's; counted as a write.
    pub fn store(&self, value: u64, order: Ordering) {
        count_write();
        self.0.store(value, order);
    }

    /// As the standard library's; counted as a write.
    pub fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        count_write();
        self.0.fetch_add(value, order)
    }

    /// As the standard library's; counted as a write.
    pub fn fetch_sub(&self, value: u64, order: Ordering) -> u64 {
        count_write();
        self.0.fetch_sub(value, order)
    }

    /// As the standard library's; counted as a write if it succeeds, else as lost.
    ///
    /// # Errors
    ///
    /// The value that was found, if it is not `current`.
    pub fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        let result = self.0.compare_exchange(current, new, success, failure);
        match result {
            Ok(_) => count_write(),
            Err(_) => count(Counts {
                lost: 1,
                ..Counts::default()
            }),
        }
        result
    }

    /// As the standard library's: a load, then compare-and-swaps until one succeeds.
    ///
    /// # Errors
    ///
    /// The value for which `update` said nothing.
    pub fn fetch_update(
        &self,
        success: Ordering,
        failure: Ordering,
        mut update: impl FnMut(u64) -> Option<u64>,
    ) -> Result<u64, u64> {
        let mut found = self.load(failure);
        while let Some(new) = update(found) {
            match self.compare_exchange(found, new, success, failure) {
                Ok(before) => return Ok(before),
                Err(other) => found = other,
            }
        }
        Err(found)
    }
}

/// Lets another thread run.
pub fn relax() {
    thread::yield_now();
}

/// A breaker keeps records of its trips, as it does elsewhere.
pub const fn keeps_records() -> bool {
    true
}

/// Into how many shards the core divides threads. One: the time window's lines are not
/// what is counted here.
pub const fn shards() -> usize {
    1
}

/// The present thread's shard.
pub const fn shard() -> usize {
    0
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

    use super::*;

    #[test]
    fn each_access_is_counted_as_what_it_does_to_the_line() {
        take();
        let atomic = AtomicU64::new(0);
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                atomic.load(Acquire);
                atomic.fetch_add(1, Relaxed);
            });
            other.join().expect("it does not panic");
        });
        assert_eq!(atomic.compare_exchange(7, 8, AcqRel, Relaxed), Err(1));
        assert_eq!(
            take(),
            Counts {
                loads: 1,
                writes: 1,
                lost: 1
            }
        );
        assert_eq!(take(), Counts::default());
    }
}
