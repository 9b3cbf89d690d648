//! What a throttle is told, and the share of the calls that it refuses.

use core::time::Duration;

use crate::contract::config::{Window, check, check_time_window};
use crate::contract::error::ConfigError;
use crate::contract::outcome::Outcome;

/// The configuration of a [`Throttle`](crate::Throttle).
///
/// A plain value; [`ThrottleBuilder::build`](crate::ThrottleBuilder::build) checks it.
///
/// | field | default | legal |
/// | --- | --- | --- |
/// | `length`, `buckets` | 10 s, 10 | 10 ms or more, in 1 to 60 buckets |
/// | `k` | 2 | 1 or more, finite |
/// | `probes_per_second` | 1 | above 0, at most 1000 |
/// | `abandoned`, `panicked` | ignored, failure | any outcome |
///
/// # Examples
///
/// ```
/// use cutout::ThrottleConfig;
///
/// assert!(ThrottleConfig::default().validate().is_ok());
/// let refused = ThrottleConfig { k: 0.5, ..ThrottleConfig::default() }.validate().unwrap_err();
/// assert_eq!((refused.field(), refused.legal()), ("k", "1 or more, and finite"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThrottleConfig {
    /// How far back requests and accepts are counted.
    ///
    /// It is also how fast the share follows: once an upstream is back, what is sent to it grows by the
    /// factor e (2.7) each `length / k`. The book has two minutes.
    pub length: Duration,
    /// In how many buckets that time is divided. It moves on by one bucket at a time.
    pub buckets: u32,
    /// How many times what the upstream accepts may be sent to it. With 2 an upstream that accepts
    /// half of the calls or more is sent all of them. Lower values refuse sooner and find out later that the
    /// upstream takes more; 1 refuses a share as soon as one call in the window has failed.
    pub k: f64,
    /// How many calls a second are admitted of those that would be refused, so that a
    /// recovery is seen even when nearly all are.
    pub probes_per_second: f64,
    /// What a permit counts as that is dropped.
    pub abandoned: Outcome,
    /// What a permit counts as that is dropped by a panic.
    pub panicked: Outcome,
}

impl Default for ThrottleConfig {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl ThrottleConfig {
    pub(crate) const DEFAULT: Self = Self {
        length: Duration::from_secs(10),
        buckets: Window::BUCKETS,
        k: 2.0,
        probes_per_second: 1.0,
        abandoned: Outcome::Ignored,
        panicked: Outcome::Failure,
    };

    /// Checks every field.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first illegal field, its value, and what is legal.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_time_window(("length", self.length), ("buckets", self.buckets))?;
        check(
            self.k.is_finite() && self.k >= 1.0,
            "k",
            self.k,
            "1 or more, and finite",
        )?;
        check(
            self.probes_per_second > 0.0 && self.probes_per_second <= 1000.0,
            "probes_per_second",
            self.probes_per_second,
            "above 0, at most 1000",
        )
    }

    /// The nanoseconds between two probes.
    pub(crate) fn probe_interval(&self) -> u64 {
        (1e9 / self.probes_per_second) as u64
    }
}

/// What a throttle's window holds, and the share that follows from it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// Calls that were settled other than as ignored, and calls that were refused.
    pub requests: u32,
    /// Those that were settled as a success or as answered.
    pub accepts: u32,
    /// Those that were settled as a failure or a timeout.
    pub failures: u32,
    /// The share of the calls that is refused, from 0 to below 1.
    pub refused: f64,
}

impl Share {
    /// The share of so many requests, of which so many were accepted and so many failed.
    pub(crate) fn of(requests: u32, accepts: u32, failures: u32, k: f64) -> Self {
        let over = f64::from(requests) - k * f64::from(accepts);
        Self {
            requests,
            accepts,
            failures,
            refused: (over / (f64::from(requests) + 1.0)).max(0.0),
        }
    }

    /// How many more requests it takes that are not accepted until a share is refused; zero if one is.
    pub(crate) fn slack(&self, k: f64) -> u32 {
        let over = f64::from(self.requests) - k * f64::from(self.accepts);
        if over > 0.0 {
            return 0;
        }
        // The cast rounds down, and to what fits.
        (-over as u32).saturating_add(1)
    }

    /// Whether a call is among the refused ones that drew this number.
    pub(crate) fn refuses(&self, draw: u64) -> bool {
        const DIGITS: u32 = 53;
        ((draw >> (u64::BITS - DIGITS)) as f64) < self.refused * (1_u64 << DIGITS) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slack_is_the_least_number_of_refusals_that_makes_a_share() {
        for k in [1.0, 1.1, 1.5, 2.0, 3.7, 1e300] {
            for (requests, accepts) in [(0, 0), (1, 1), (10, 9), (10, 5), (11, 10), (1000, 999)] {
                let share = Share::of(requests, accepts, requests - accepts, k);
                let slack = share.slack(k);
                assert_eq!(slack == 0, share.refused > 0.0);
                if slack == 0 || slack > 1_000_000 {
                    continue;
                }
                let of = |more| Share::of(requests + more, accepts, 0, k).refused;
                assert!(of(slack) > 0.0, "{k} {requests} {accepts}: {slack}");
                assert!(of(slack - 1) <= 0.0, "{k} {requests} {accepts}: {slack}");
            }
        }
    }

    #[test]
    fn as_many_draws_are_refused_as_the_share_says() {
        let share = Share::of(999, 250, 749, 2.0);
        assert!((share.refused - 0.499).abs() < 1e-9);
        assert!(share.refuses(0) && !share.refuses(u64::MAX));
        assert!(share.refuses((0.498 * 2_f64.powi(64)) as u64));
        assert!(!share.refuses((0.500 * 2_f64.powi(64)) as u64));
    }
}
