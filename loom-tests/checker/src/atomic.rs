//! The atomic that the core is compiled against.

use std::fmt;
use std::sync::atomic::{self, Ordering};

use crate::session::{self, Backend};
use crate::tracks::Tracks;

/// Stands in for [`std::sync::atomic::AtomicU64`], with the methods that the core uses.
pub struct AtomicU64 {
    number: usize,
    value: Value,
}

enum Value {
    /// Not scheduled: a constant, or only one thread is running.
    Alone(atomic::AtomicU64),
    /// Loom, its loads as they are; the tracks make it see which accesses depend on each other.
    Loads(loom::sync::atomic::AtomicU64, Tracks),
    /// Loom, each load a read-modify-write that changes nothing.
    ReadModifyWrites(loom::sync::atomic::AtomicU64),
    Shuttle(shuttle::sync::atomic::AtomicU64),
}

/// Calls a method of whichever atomic it is.
macro_rules! dispatch {
    ($atomic:expr, $method:ident($($argument:expr),*)) => {
        match &$atomic.value {
            Value::Alone(value) => value.$method($($argument),*),
            Value::Loads(value, tracks) => {
                let result = value.$method($($argument),*);
                tracks.write();
                result
            }
            Value::ReadModifyWrites(value) => value.$method($($argument),*),
            Value::Shuttle(value) => value.$method($($argument),*),
        }
    };
}

impl AtomicU64 {
    /// See the standard library's, as for all of these.
    pub fn new(value: u64) -> Self {
        let (number, backend) = session::create();
        let loom = loom::sync::atomic::AtomicU64::new;
        let value = match backend {
            Backend::Alone => Value::Alone(atomic::AtomicU64::new(value)),
            Backend::Loads => Value::Loads(loom(value), Tracks::new()),
            Backend::ReadModifyWrites => Value::ReadModifyWrites(loom(value)),
            Backend::Shuttle => Value::Shuttle(shuttle::sync::atomic::AtomicU64::new(value)),
        };
        Self { number, value }
    }

    /// Loads, or adds zero where loads are to be read-modify-writes.
    pub fn load(&self, order: Ordering) -> u64 {
        match &self.value {
            Value::Loads(value, tracks) => {
                let value = value.load(order);
                tracks.read();
                value
            }
            Value::ReadModifyWrites(value) => value.fetch_add(0, order),
            _ => dispatch!(self, load(order)),
        }
    }

    /// Stores, or swaps where loads are to be read-modify-writes: loom would let such a
    /// load come after a store and yet not see it.
    pub fn store(&self, value: u64, order: Ordering) {
        self.note_write();
        match &self.value {
            Value::ReadModifyWrites(atomic) => _ = atomic.swap(value, order),
            _ => dispatch!(self, store(value, order)),
        }
    }

    /// Swaps.
    pub fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.note_write();
        dispatch!(self, swap(value, order))
    }

    /// Adds, wrapping.
    pub fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.note_write();
        dispatch!(self, fetch_add(value, order))
    }

    /// Subtracts, wrapping.
    pub fn fetch_sub(&self, value: u64, order: Ordering) -> u64 {
        self.note_write();
        dispatch!(self, fetch_sub(value, order))
    }

    /// Compares and exchanges.
    pub fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        self.note_write();
        dispatch!(self, compare_exchange(current, new, success, failure))
    }

    /// Compares and exchanges until it succeeds or `update` gives none.
    pub fn fetch_update(
        &self,
        success: Ordering,
        failure: Ordering,
        update: impl FnMut(u64) -> Option<u64>,
    ) -> Result<u64, u64> {
        self.note_write();
        dispatch!(self, fetch_update(success, failure, update))
    }

    fn note_write(&self) {
        if let Value::Alone(_) = self.value {
            session::note_write(self.number);
        }
    }
}

impl Default for AtomicU64 {
    fn default() -> Self {
        Self::new(0)
    }
}

impl fmt::Debug for AtomicU64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Looking at the value would be one more access.
        f.debug_struct("AtomicU64").finish_non_exhaustive()
    }
}

/// Lets another thread run before the present one goes on.
pub fn relax() {
    match session::backend() {
        Backend::Alone => std::thread::yield_now(),
        Backend::Loads | Backend::ReadModifyWrites => loom::thread::yield_now(),
        Backend::Shuttle => shuttle::thread::yield_now(),
    }
}
