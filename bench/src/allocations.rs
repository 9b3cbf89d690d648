//! An allocator that counts, per thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNTS: Cell<Counts> = const { Cell::new(Counts { calls: 0, bytes: 0 }) };
}

/// What a thread has allocated so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How often it asked for memory.
    pub calls: u64,
    /// The bytes it asked for, less those it gave back.
    pub bytes: i64,
}

/// What this thread has allocated so far; zero unless [`Counting`] is the global allocator.
pub fn counts() -> Counts {
    COUNTS.get()
}

fn add(calls: u64, bytes: i64) {
    let counts = COUNTS.get();
    COUNTS.set(Counts {
        calls: counts.calls + calls,
        bytes: counts.bytes + bytes,
    });
}

/// The system's allocator, with counts.
#[derive(Clone, Copy, Debug)]
pub struct Counting;

// SAFETY: every call goes to the system's allocator as it came; the counts are
// kept in a thread local that neither allocates nor needs a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(1, layout.size() as i64);
        // SAFETY: the caller's promise, handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        add(0, -(layout.size() as i64));
        // SAFETY: the caller's promise, handed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(1, layout.size() as i64);
        // SAFETY: the caller's promise, handed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(1, size as i64 - layout.size() as i64);
        // SAFETY: the caller's promise, handed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
