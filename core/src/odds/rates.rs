//! A score from what it should do.

use alloc::format;

use super::cusum::mean_calls;
use crate::contract::error::ConfigError;
use crate::contract::score::Score;

/// How far the ratio of the steps may be from the best one.
const CLOSE_ENOUGH: f64 = 0.05;

/// The most steps of removing a state, of those it takes to try a limit: some tenths of a millisecond.
const MOST_WORK: u64 = 200_000;

impl Score {
    /// The score that tells a share of `well` bad outcomes from one of `ill`, and
    /// reaches its limit by chance once in `calls` calls on average while the share is `well`.
    ///
    /// Each step is near the logarithm of how much likelier its outcome is when the upstream is ill: `bad : good`
    /// is `ln(ill / well) : ln((1 - well) / (1 - ill))`, to within 5 % in the smallest whole numbers. That is
    /// the sequential test which among all with as many false alarms needs the fewest calls at the share `ill`
    /// (Moustakides, "Optimal stopping times for detecting changes in distributions", Annals of Statistics
    /// 14 (1986)). The limit is the least whose exact mean run length is `calls` or more.
    ///
    /// The calls are taken to fail independently of each other. Those of a real upstream fail in bursts, and a
    /// score reaches its limit more often then.
    ///
    /// Takes less than a millisecond, and memory for some times the limit.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the argument: shares that are not between 0 and 1, `well` not below `ill`, or
    /// shares and calls that no limit up to [`MAX_LIMIT`](Self::MAX_LIMIT) meets.
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::Score;
    ///
    /// let score = Score::for_rates(0.01, 0.3, 1e9)?;
    /// assert_eq!(score, Score { bad: 10, good: 1, limit: 55 });
    /// # Ok::<(), cutout::ConfigError>(())
    /// ```
    pub fn for_rates(well: f64, ill: f64, calls: f64) -> Result<Self, ConfigError> {
        for (field, share) in [("well", well), ("ill", ill)] {
            if !(share > 0.0 && share < 1.0) {
                return Err(refused(field, share, "above 0 and below 1"));
            }
        }
        if well >= ill {
            return Err(refused("well", well, "less than ill"));
        }
        if !(calls >= 1.0 && calls.is_finite()) {
            return Err(refused("calls", calls, "1 or more, and finite"));
        }
        let unmet = || {
            refused(
                "calls",
                calls,
                "fewer, or ill further above well: no limit up to 4095 is enough",
            )
        };
        let (bad, good) = steps(well, ill).ok_or_else(unmet)?;
        let score = |limit: u64| Self {
            bad,
            good,
            limit: limit as u16,
        };
        let is_enough = |limit| mean_calls(score(limit), well, 0) >= calls;
        let most = MOST_WORK / (u64::from(bad) * u64::from(good));
        let most = most.min(u64::from(Self::MAX_LIMIT));
        let (mut low, mut high) = (0, u64::from(bad));
        while high > most || !is_enough(high) {
            if high >= most {
                return Err(unmet());
            }
            (low, high) = (high, (high * 2).min(most));
        }
        while high - low > 1 {
            let middle = low.midpoint(high);
            if middle >= u64::from(bad) && is_enough(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(score(high))
    }
}

/// The smallest whole numbers whose ratio is near that of the logarithms.
fn steps(well: f64, ill: f64) -> Option<(u16, u16)> {
    let ratio = libm::log(ill / well) / libm::log((1.0 - well) / (1.0 - ill));
    (1..=u16::MAX).find_map(|good| {
        let bad = libm::round(ratio * f64::from(good));
        let is_close = libm::fabs(bad / f64::from(good) / ratio - 1.0) <= CLOSE_ENOUGH;
        (is_close && bad >= 1.0 && bad <= f64::from(u16::MAX)).then_some((bad as u16, good))
    })
}

fn refused(field: &'static str, value: f64, legal: &'static str) -> ConfigError {
    ConfigError {
        field,
        value: format!("{value}"),
        legal,
    }
}
