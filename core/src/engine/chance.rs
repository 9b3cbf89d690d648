//! Chance, for those who refuse a share of the calls.
//!
//! A thread draws from numbers of its own, so that threads that draw do not write to what others read. With a seed the draws
//! are the same in each run, and counted in one place for all threads: that is for tests and simulations.

use crate::contract::rules::mix;
use crate::engine::sync::{AtomicU64, Relaxed};

/// Where draws come from.
#[derive(Debug)]
pub(crate) struct Chance {
    /// `None` for draws of the thread.
    seed: Option<u64>,
    drawn: AtomicU64,
}

impl Chance {
    /// Draws by a seed; without one, by each thread's own chance. Without the standard library threads cannot be told
    /// apart, and the seed is a random one.
    pub(crate) fn new(seed: Option<u64>, random: impl FnOnce() -> u64) -> Self {
        Self {
            seed: seed.or_else(|| (!cfg!(feature = "std")).then(random)),
            drawn: AtomicU64::new(0),
        }
    }

    /// The next draw.
    pub(crate) fn draw(&self) -> u64 {
        match self.seed {
            // Relaxed: it orders nothing; each draw is another one.
            Some(seed) => nth(seed, self.drawn.fetch_add(1, Relaxed)),
            None => of_thread(),
        }
    }
}

/// The n-th draw of a seed.
pub(crate) const fn nth(seed: u64, n: u64) -> u64 {
    mix(mix(seed) ^ n)
}

/// The next draw of the present thread.
#[cfg(feature = "std")]
fn of_thread() -> u64 {
    use core::cell::Cell;
    use std::hash::{BuildHasher, Hasher, RandomState};

    std::thread_local! {
        static NEXT: Cell<(u64, u64)> = Cell::new((RandomState::new().build_hasher().finish(), 0));
    }
    // A thread that is going away may have lost its numbers.
    NEXT.try_with(|next| {
        let (seed, n) = next.get();
        next.set((seed, n.wrapping_add(1)));
        nth(seed, n)
    })
    .unwrap_or(u64::MAX)
}

#[cfg(not(feature = "std"))]
fn of_thread() -> u64 {
    u64::MAX
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_each_time_and_evenly() {
        let chance = || Chance::new(Some(7), || 0);
        let (one, other) = (chance(), chance());
        let mut low = 0;
        for _ in 0..10_000 {
            let draw = one.draw();
            assert_eq!(draw, other.draw());
            low += u32::from(draw < u64::MAX / 4);
        }
        assert!((2300..2700).contains(&low), "{low}");
    }

    #[test]
    fn threads_draw_each_by_themselves() {
        let draws = || {
            std::thread::spawn(|| [of_thread(), of_thread()])
                .join()
                .unwrap()
        };
        let (one, other) = (draws(), draws());
        assert_ne!(one[0], one[1]);
        assert_ne!(one, other);
    }
}
