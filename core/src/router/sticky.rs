//! Rendezvous hashing: every target has a score for a key, and the highest wins.

use core::hash::{Hash, Hasher};

/// A hash that is the same in every process and every build, so that a key stays
/// where it is over restarts.
pub(super) fn hash(key: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = Stable(0xcbf2_9ce4_8422_2325);
    key.hash(&mut hasher);
    mix(hasher.0)
}

/// Spreads a number over all 64 bits (the finalizer of SplitMix64).
pub(super) const fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The score of the target with this seed, weighed: each target wins the share
/// of the keys that its weight has of all weights.
///
/// A number evenly drawn from (0, 1) to the power of 1/weight is greatest with a
/// chance in proportion to the weight; its logarithm orders the same.
pub(super) fn score(key: u64, seed: u64, weight: u32) -> f64 {
    let drawn = ((mix(key ^ seed) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    drawn.ln() / f64::from(weight)
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
