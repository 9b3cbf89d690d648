//! Lots that fall the same way each time.

use cutout::Outcome;

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
pub(super) struct Draws(u64);

impl Draws {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// What happens with this chance.
    pub(super) fn happens(&mut self, chance: f64) -> bool {
        ((self.next() >> 11) as f64) < chance * (1_u64 << 53) as f64
    }

    /// Any of so many, each as likely.
    pub(super) fn any_of(&mut self, count: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(count)) >> 64) as u64
    }

    /// A call that fails with this chance.
    pub(super) fn outcome(&mut self, chance: f64) -> Outcome {
        match self.happens(chance) {
            true => Outcome::Failure,
            false => Outcome::Success,
        }
    }
}
