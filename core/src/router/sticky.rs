//! Rendezvous hashing: every target is some way off from a key, and the nearest has it.

use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

/// A hash without a seed, so that a key stays where it is over restarts.
pub(super) fn hash(key: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = Stable(0xcbf2_9ce4_8422_2325);
    key.hash(&mut hasher);
    mix(hasher.0)
}

/// Spreads a number over all 64 bits (the finalizer of SplitMix64).
#[inline]
pub(super) const fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// A target's part in the draw for a key: who is nearest has the key.
#[derive(Debug)]
pub(super) struct Draw {
    seed: u64,
    /// `None` where all weights are equal, so that they do not matter.
    per_weight: Option<f64>,
}

impl Draw {
    /// Those of targets with their names and weights.
    pub(super) fn of_all<'a>(targets: impl Iterator<Item = (&'a str, u32)> + Clone) -> Vec<Self> {
        let mut weights = targets.clone().map(|(_, weight)| weight);
        let first = weights.next();
        let is_even = weights.all(|weight| Some(weight) == first);
        let draw = |(name, weight): (&str, u32)| Self {
            seed: hash(name),
            per_weight: (!is_even).then(|| f64::from(weight).recip()),
        };
        targets.map(draw).collect()
    }

    /// How far the target is from the key. Each target is nearest to the share of the
    /// keys that its weight has of all weights, within a part in ten thousand.
    ///
    /// It is the target's number for the key, evenly drawn from (0, 1), as a waiting
    /// time: `-log2(drawn) / weight` is exponentially distributed, and such times are
    /// shortest with a chance in proportion to the weight.
    #[inline]
    pub(super) fn distance(&self, key: u64) -> u64 {
        let drawn = mix(key ^ self.seed);
        match self.per_weight {
            // Floats that are not negative are in the order of their bits.
            Some(per_weight) => (negative_log2(drawn) * per_weight).to_bits(),
            None => !drawn,
        }
    }
}

/// `-log2(drawn / 2^64)`, off by at most 0.00005. Unlike the one of the platform's
/// library it is the same everywhere, and it takes less time.
#[inline]
fn negative_log2(drawn: u64) -> f64 {
    let drawn = drawn | 1;
    let zeros = drawn.leading_zeros();
    // The digits after the leading one, as those of a float from 1 to 2.
    let digits = drawn << zeros << 1 >> 12;
    let x = f64::from_bits(1.0_f64.to_bits() | digits) - 1.0;
    // Between the ends of the interval, where x is exact, the rest is a cubic.
    let rest = 0.442_419 + x * (-0.269_578 + x * (0.150_533 - x * 0.044_874));
    f64::from(zeros + 1) - (x + x * (1.0 - x) * rest)
}

/// FNV-1a.
struct Stable(u64);

impl Hasher for Stable {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
