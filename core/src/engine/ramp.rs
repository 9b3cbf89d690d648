//! The way back to all of its calls, for an upstream that has recovered: a share of them that grows evenly from none.

use crate::engine::sync::{AtomicU64, Relaxed};
use crate::engine::tagged_cell::TaggedCell;

/// The share that is admitted so long after the recovery, in 2^-64; `None` if that is all.
pub(crate) fn share(passed: u64, ramp: u64) -> Option<u64> {
    (passed < ramp).then(|| ((u128::from(passed) << 64) / u128::from(ramp)) as u64)
}

/// The part of a call that shares have added up to, in 2^-64. So calls are admitted at even distances, and no more
/// than the share.
#[derive(Debug, Default)]
pub(crate) struct Credit(AtomicU64);

impl Credit {
    /// Whether a call is within this share.
    pub(crate) fn admits(&self, share: u64) -> bool {
        // Relaxed: it orders nothing; each call adds its own part.
        let before = self.0.fetch_add(share, Relaxed);
        before.checked_add(share).is_none()
    }
}

/// When a ramp began, in milliseconds, with a bias so that one of before a restart can be told. Zero is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Begun(u64);

impl Begun {
    const BIAS: u64 = 1 << 40;
    const NANOS: u64 = 1_000_000;

    pub(crate) const fn at(now: u64) -> Self {
        let at = Self::BIAS + now / Self::NANOS;
        Self(if at < TaggedCell::MAX {
            at
        } else {
            TaggedCell::MAX
        })
    }

    /// So many nanoseconds before the breaker was built.
    pub(crate) const fn before_start(passed: u64) -> Self {
        let before = Self::BIAS.saturating_sub(passed / Self::NANOS);
        Self(if before == 0 { 1 } else { before })
    }

    pub(crate) const fn passed(self, now: u64) -> u64 {
        match self.0.checked_sub(Self::BIAS) {
            Some(at) => now.saturating_sub(at.saturating_mul(Self::NANOS)),
            None => now.saturating_add((Self::BIAS - self.0) * Self::NANOS),
        }
    }
}

/// What a breaker keeps for its ramps: when they began, for even generations and for odd ones.
#[derive(Debug)]
pub(crate) struct Ramps {
    begun: [TaggedCell; 2],
    pub(crate) credit: Credit,
}

impl Default for Ramps {
    fn default() -> Self {
        Self {
            begun: [(); 2].map(|()| TaggedCell::new(0, 0)),
            credit: Credit::default(),
        }
    }
}

impl Ramps {
    fn cell(&self, generation: u32) -> &TaggedCell {
        &self.begun[generation as usize % 2]
    }

    pub(crate) fn begun(&self, generation: u32) -> Option<Begun> {
        let begun = self.cell(generation).get(generation)?;
        Some(Begun(begun)).filter(|&Begun(at)| at > 0)
    }

    /// Of a generation that nobody else has yet, or while the word is `current`.
    #[must_use = "what was not published may not be relied on"]
    pub(crate) fn begin(&self, generation: u32, begun: Begun, current: impl Fn() -> bool) -> bool {
        // Two threads may try to begin the same generation, by readings a little apart: the later one stays.
        let later = |latest: Option<u64>| latest.unwrap_or(0).max(begun.0);
        self.cell(generation).put(generation, current, later)
    }

    /// The generation has no ramp any more; false if the word is not `current`.
    #[must_use = "what was not published may not be relied on"]
    pub(crate) fn end(&self, generation: u32, current: impl Fn() -> bool) -> bool {
        self.cell(generation).put(generation, current, |_| 0)
    }
}
