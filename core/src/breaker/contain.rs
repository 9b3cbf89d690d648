//! Calls of user code that must not unwind into the breaker.

use crate::engine::sync::AtomicU64;
#[cfg(feature = "std")]
use crate::engine::sync::Relaxed;

/// Calls a listener, contains its panic and counts it.
#[cfg(feature = "std")]
pub(crate) fn contain(listener: impl FnOnce(), panics: &AtomicU64) {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    let Err(payload) = catch_unwind(AssertUnwindSafe(listener)) else {
        return;
    };
    // Relaxed: a count orders nothing.
    panics.fetch_add(1, Relaxed);
    // What the panic carries is the user's too, and may panic when it is dropped. What that
    // panic carries is not dropped any more.
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        core::mem::forget(another);
    }
}

/// Calls a listener, whose panics nothing can contain.
#[cfg(not(feature = "std"))]
pub(crate) fn contain(listener: impl FnOnce(), _: &AtomicU64) {
    listener();
}
