//! Where the jitter of a breaker comes from.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counts the breakers of this process.
static BREAKERS: AtomicUsize = AtomicUsize::new(0);

/// Another number for each breaker and each process.
#[cfg(feature = "std")]
pub(crate) fn random() -> u64 {
    use std::hash::{BuildHasher, RandomState};

    // The keys are random, and others for each thread. Relaxed: the count orders nothing.
    RandomState::new().hash_one(BREAKERS.fetch_add(1, Relaxed))
}

/// Another number for each breaker. Where the system does not place programs at random
/// addresses, it is the same in each process.
#[cfg(not(feature = "std"))]
pub(crate) fn random() -> u64 {
    use crate::contract::rules::mix;

    let address = &raw const BREAKERS as usize as u64;
    // Relaxed: the count orders nothing.
    let breaker = BREAKERS.fetch_add(1, Relaxed) as u64;
    mix(mix(address) ^ breaker)
}
