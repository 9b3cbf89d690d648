//! The binomial distribution, in logarithms so that no factor overflows.

use alloc::vec::Vec;

/// How many of `trials` fail when each does so with the same chance.
pub(super) struct Binomial {
    exactly: Vec<f64>,
    at_most: Vec<f64>,
}

impl Binomial {
    /// `share` is above 0 and below 1.
    pub(super) fn new(trials: u32, share: f64) -> Self {
        let (log_bad, log_good) = (libm::log(share), libm::log1p(-share));
        let log_factorial = |n: u32| libm::lgamma(f64::from(n) + 1.0);
        let exactly: Vec<f64> = (0..=trials)
            .map(|bad| {
                let good = trials - bad;
                let ways = log_factorial(trials) - log_factorial(bad) - log_factorial(good);
                libm::exp(ways + f64::from(bad) * log_bad + f64::from(good) * log_good)
            })
            .collect();
        let at_most = exactly
            .iter()
            .scan(0.0, |sum, chance| {
                *sum += chance;
                Some(f64::min(*sum, 1.0))
            })
            .collect();
        Self { exactly, at_most }
    }

    /// The chance of exactly so many; zero where there cannot be so many.
    pub(super) fn exactly(&self, bad: i64) -> f64 {
        let index = usize::try_from(bad).ok();
        index
            .and_then(|bad| self.exactly.get(bad).copied())
            .unwrap_or(0.0)
    }

    /// The chance of so many or fewer.
    pub(super) fn at_most(&self, bad: i64) -> f64 {
        match usize::try_from(bad) {
            Ok(bad) => self.at_most[bad.min(self.at_most.len() - 1)],
            Err(_) => 0.0,
        }
    }
}
