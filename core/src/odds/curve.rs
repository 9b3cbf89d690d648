//! How likely a breaker is to be closed still, after so many calls.

use alloc::vec::Vec;

/// How likely a breaker is to be closed still after so many calls that were recorded.
///
/// The first calls are computed one by one. After those the chance to open is the same with each
/// call, as it is for any such process once it has forgotten how it began.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The chance to be closed after 0, 1, 2 … calls, at least one of them.
    head: Vec<f64>,
    /// The chance to open with each call after those.
    hazard: f64,
}

impl Curve {
    /// `head` has the chance to be closed after no call, after one, and so on.
    pub(super) fn new(mut head: Vec<f64>, hazard: f64) -> Self {
        let hazard = hazard.clamp(0.0, 1.0);
        // Sums of many chances may be off by a rounding either way.
        let mut before = 1.0;
        for closed in &mut head {
            *closed = closed.clamp(0.0, before);
            before = *closed;
        }
        Self { head, hazard }
    }

    /// The curve whose mean is known, and whose tail follows from it.
    pub(super) fn with_mean(head: Vec<f64>, mean: f64) -> Self {
        let last = head.last().copied().unwrap_or(1.0);
        let so_far: f64 = head.iter().take(head.len() - 1).sum();
        let hazard = if last > 0.0 {
            last / (mean - so_far).max(last)
        } else {
            1.0
        };
        Self::new(head, hazard)
    }

    /// One that never opens.
    pub(super) fn never() -> Self {
        Self::new(Vec::from([1.0]), 0.0)
    }

    /// How many calls pass on average until the breaker opens, the one that opens it included;
    /// infinity if it never does.
    pub fn mean_calls(&self) -> f64 {
        let (last, before) = match self.head.split_last() {
            Some((last, before)) => (*last, before),
            None => (1.0, &[] as &[f64]),
        };
        let tail = if last > 0.0 { last / self.hazard } else { 0.0 };
        before.iter().sum::<f64>() + tail
    }

    /// The chance that the breaker opens within so many calls.
    pub fn chance_within(&self, calls: u64) -> f64 {
        let index = usize::try_from(calls).unwrap_or(usize::MAX);
        if let Some(closed) = self.head.get(index) {
            return 1.0 - closed;
        }
        let last = self.head.last().copied().unwrap_or(1.0);
        let after = (calls - (self.head.len() as u64 - 1)) as f64;
        // By logarithms, so that a hazard of 1e-12 is not lost beside 1.
        let opens_after = -libm::expm1(after * libm::log1p(-self.hazard));
        (1.0 - last) + last * opens_after
    }

    /// Of rules that stand side by side: closed as long as none of them matches.
    ///
    /// The product is exact for rules that do not share outcomes. For those that do it is a
    /// lower bound: bad outcomes make each of them likelier to match, so that they match together
    /// rather than apart (Harris 1960, "A lower bound for the critical probability in a certain
    /// percolation process", lemma 4.1).
    pub(super) fn and(&self, other: &Self) -> Self {
        let length = self.head.len().max(other.head.len());
        let head = (0..length as u64)
            .map(|calls| (1.0 - self.chance_within(calls)) * (1.0 - other.chance_within(calls)))
            .collect();
        let hazard = self.hazard + other.hazard - self.hazard * other.hazard;
        Self::new(head, hazard)
    }
}
