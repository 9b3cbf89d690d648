//! The odds of a rule on failures in a row: exact.

use alloc::vec::Vec;

use super::curve::Curve;

/// How long it takes until `length` failures come in a row. What came before is forgotten with the first
/// success, so an empty window and one full of successes are the same to it.
///
/// The mean is `(p^-k - 1) / (1 - p)` (Feller, "An Introduction to Probability Theory and Its
/// Applications", volume 1, XIII.7). The chance to be closed after `n` calls is that after `n - 1`, less
/// the chance that a success at `n - k` was followed by the first such run.
pub(super) fn curve(length: u32, share: f64) -> Curve {
    let run = libm::pow(share, f64::from(length));
    let mean = if share < 1.0 {
        (1.0 / run - 1.0) / (1.0 - share)
    } else {
        f64::from(length)
    };
    let length = length as usize;
    let steps = 8 * length + 64;
    let mut head: Vec<f64> = Vec::with_capacity(steps + 1);
    for calls in 0..=steps {
        let closed = match calls {
            calls if calls < length => 1.0,
            calls if calls == length => 1.0 - run,
            calls => head[calls - 1] - (1.0 - share) * run * head[calls - length - 1],
        };
        head.push(closed.max(0.0));
    }
    Curve::with_mean(head, mean)
}
