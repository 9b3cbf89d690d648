//! The way back to all of its calls, for an upstream that has recovered: a share of them that grows evenly from none.

use crate::engine::sync::{AtomicU64, Relaxed};

/// The share that is admitted so long after the recovery, in 2^-64; `None` if that is all.
pub(crate) fn share(passed: u64, ramp: u64) -> Option<u64> {
    (passed < ramp).then(|| ((u128::from(passed) << 64) / u128::from(ramp)) as u64)
}

/// The part of a call that shares have added up to, in 2^-64. So calls are admitted at even distances, and no more
/// than the share. Relaxed: nothing else depends on it, and a call that reads it late shifts the share by one call.
#[derive(Debug, Default)]
pub(crate) struct Credit(AtomicU64);

impl Credit {
    /// Whether a call is within this share.
    pub(crate) fn admits(&self, share: u64) -> bool {
        // Relaxed: it orders nothing; each call adds its own.
        let before = self.0.fetch_add(share, Relaxed);
        before.checked_add(share).is_none()
    }
}
