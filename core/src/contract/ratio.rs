//! Shares of a number of outcomes.

/// The least part of `size` that reaches a ratio.
pub(crate) fn least(ratio: f64, size: u32) -> u32 {
    // The product may be off by a rounding either way; the quotient decides.
    let near = (ratio * f64::from(size)) as u32;
    (near.saturating_sub(1).max(1)..=size)
        .find(|&part| reaches(part, size, ratio))
        .unwrap_or(size.saturating_add(1))
}

/// Compared as a quotient: `57.0 / 100.0 >= 0.57` holds, `57.0 >= 0.57 * 100.0` need not.
pub(crate) fn reaches(part: u32, samples: u32, ratio: f64) -> bool {
    f64::from(part) / f64::from(samples) >= ratio
}
