//! The odds of a rule on the number of bad outcomes in a count window: the discrete scan statistic.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::binomial::Binomial;
use super::curve::Curve;

/// Chances below this are left out.
const NEGLIGIBLE: f64 = 1e-40;

/// A rule that matches when a window of the last `size` outcomes holds `threshold` bad ones, and earlier, when it
/// holds only `samples`, at `partly(samples)`.
pub(super) struct Scan<F> {
    pub(super) size: u32,
    pub(super) threshold: u32,
    /// How many bad outcomes it takes in a window that is not full; `None` where no number will do.
    pub(super) partly: F,
}

impl<F: Fn(u32) -> Option<u32>> Scan<F> {
    /// From a window full of successes. The chances after one, two and three windows' worth of calls are exact
    /// but for what lies between them; after those each window is as the third.
    pub(super) fn starting_full(&self, share: f64) -> Curve {
        // The successes leave before any later outcome does, so bad ones only add up until all of them are gone.
        self.go_on(self.filling_up(share, |_| Some(self.threshold)), share)
    }

    /// From an empty window: exact until it is full. Whoever is closed then has had fewer bad
    /// outcomes early on, which the windows after that are not told.
    pub(super) fn starting_empty(&self, share: f64) -> Curve {
        self.go_on(self.filling_up(share, &self.partly), share)
    }

    /// The chances to be closed after 0, 1, … `size` calls, of which none leaves the window.
    fn filling_up(&self, share: f64, threshold: impl Fn(u32) -> Option<u32>) -> Vec<f64> {
        // The chances of `lowest` bad outcomes, of one more, and so on, of a breaker that is closed.
        let mut lowest = 0;
        let mut chances = VecDeque::from([1.0]);
        let mut head = Vec::from([1.0]);
        for samples in 1..=self.size {
            chances.push_back(0.0);
            for index in (1..chances.len()).rev() {
                chances[index] = chances[index] * (1.0 - share) + chances[index - 1] * share;
            }
            chances[0] *= 1.0 - share;
            if let Some(threshold) = threshold(samples) {
                chances.truncate(threshold.saturating_sub(lowest) as usize);
            }
            // What is left out of a large window is far below the chance to open.
            while chances.front().is_some_and(|&chance| chance < NEGLIGIBLE) {
                chances.pop_front();
                lowest += 1;
            }
            while chances.back().is_some_and(|&chance| chance < NEGLIGIBLE) {
                chances.pop_back();
            }
            head.push(chances.iter().sum());
        }
        head
    }

    /// Goes on from a full window: `head` ends with the chance to be closed when it became so.
    fn go_on(&self, mut head: Vec<f64>, share: f64) -> Curve {
        let [one, two, three] = self.closed_after_windows(share);
        let size = f64::from(self.size);
        let per_call = |from: f64, to: f64| {
            let ratio = if from > 0.0 {
                (to / from).clamp(0.0, 1.0)
            } else {
                0.0
            };
            -libm::expm1(libm::log(ratio) / size)
        };
        let second = per_call(one, two);
        let mut closed = head.last().copied().unwrap_or(1.0);
        for _ in 0..self.size {
            closed *= 1.0 - second;
            head.push(closed);
        }
        Curve::new(head, per_call(two, three))
    }

    /// The chances that no window of `size` outcomes holds `threshold` bad ones, among the first `size`, `2 * size`
    /// and `3 * size` outcomes. Exact: Naus, "Approximations for distributions of scan statistics", Journal of the
    /// American Statistical Association 77 (1982), theorem 1.
    fn closed_after_windows(&self, share: f64) -> [f64; 3] {
        let (n, k) = (self.size, i64::from(self.threshold));
        let whole = Binomial::new(n, share);
        let less_one = Binomial::new(n.saturating_sub(1).max(1), share);
        let less_two = Binomial::new(n.saturating_sub(2).max(1), share);
        let b = |bad| whole.exactly(bad);
        let f = |bad| whole.at_most(bad);
        let (size, order) = (f64::from(n), f64::from(self.threshold));
        let mean = size * share;

        if k == 1 {
            let one = f(0);
            return [one, one * one, one * one * one];
        }
        let one = f(k - 1);
        let two =
            one * one - (order - 1.0) * b(k) * f(k - 2) + mean * b(k) * less_one.at_most(k - 3);
        let a1 = 2.0 * b(k) * one * ((order - 1.0) * f(k - 2) - mean * less_one.at_most(k - 3));
        let a2 = 0.5
            * b(k)
            * b(k)
            * ((order - 1.0) * (order - 2.0) * f(k - 3)
                - 2.0 * (order - 2.0) * mean * less_one.at_most(k - 4)
                + mean * (size - 1.0) * share * less_two.at_most(k - 5));
        let a3: f64 = (1..k).map(|r| b(2 * k - r) * f(r - 1) * f(r - 1)).sum();
        let a4: f64 = (2..k)
            .map(|r| {
                b(2 * k - r) * b(r) * ((r - 1) as f64 * f(r - 2) - mean * less_one.at_most(r - 3))
            })
            .sum();
        [one, two, one * one * one - a1 + a2 + a3 - a4]
    }
}
