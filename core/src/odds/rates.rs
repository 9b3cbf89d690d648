//! A score from what it should do.

use alloc::format;

use super::cusum::Climb;
use crate::contract::error::ConfigError;
use crate::contract::score::Score;

/// How far the ratio of the steps may be from the best one.
const CLOSE_ENOUGH: f64 = 0.05;

/// The most sums that are made to find a limit: some tenths of a millisecond.
const MOST_STEPS: u64 = 200_000;

impl Score {
    /// The score that tells a share `p1` of bad outcomes, which is ill, from a share `p0`, which is well, and
    /// reaches its limit by chance once in `calls` calls on average while the share is `p0`.
    ///
    /// Each step is near the logarithm of how much likelier its outcome is when the upstream is ill: `bad : good`
    /// is `ln(p1 / p0) : ln((1 - p0) / (1 - p1))`, to within 5 % in the smallest whole numbers. That is
    /// the sequential test which among all with as many false alarms needs the fewest calls at the share `p1`
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
    /// A [`ConfigError`] that names the argument: shares that are not between 0 and 1, `p0` not below `p1`, or
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
    pub fn for_rates(p0: f64, p1: f64, calls: f64) -> Result<Self, ConfigError> {
        for (field, share) in [("p0", p0), ("p1", p1)] {
            if !(share > 0.0 && share < 1.0) {
                return Err(refused(field, share, "above 0 and below 1"));
            }
        }
        if p0 >= p1 {
            return Err(refused("p0", p0, "less than p1"));
        }
        if !(calls >= 1.0 && calls.is_finite()) {
            return Err(refused("calls", calls, "1 or more, and finite"));
        }
        solve(p0, p1, calls).0.ok_or_else(|| {
            refused(
                "calls",
                calls,
                "fewer, or p1 further above p0: no limit up to 4095 is enough",
            )
        })
    }
}

/// The score, if there is one, and how many steps it took to know.
fn solve(p0: f64, p1: f64, calls: f64) -> (Option<Score>, u64) {
    let Some((bad, good)) = steps(p0, p1) else {
        return (None, 0);
    };
    let mut climb = Climb::new(bad, good, p0, 0);
    for limit in 1..=Score::MAX_LIMIT {
        let is_enough = climb.next().is_some_and(|mean| mean >= calls);
        if is_enough && limit >= bad {
            return (Some(Score { bad, good, limit }), climb.steps);
        }
        if climb.steps > MOST_STEPS {
            break;
        }
    }
    (None, climb.steps)
}

/// The smallest whole numbers whose ratio is near that of the logarithms.
fn steps(p0: f64, p1: f64) -> Option<(u16, u16)> {
    let ratio = libm::log(p1 / p0) / libm::log((1.0 - p0) / (1.0 - p1));
    (1..=Score::MAX_LIMIT).find_map(|good| {
        let bad = libm::round(ratio * f64::from(good));
        let is_close = libm::fabs(bad / f64::from(good) / ratio - 1.0) <= CLOSE_ENOUGH;
        (is_close && bad >= 1.0 && bad <= f64::from(Score::MAX_LIMIT)).then_some((bad as u16, good))
    })
}

fn refused(field: &'static str, value: f64, legal: &'static str) -> ConfigError {
    ConfigError {
        field,
        // Short where it is huge.
        value: format!("{value:?}"),
        legal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wish_takes_more_steps_than_it_may() {
        let shares = [1e-300, 1e-9, 1e-4, 0.01, 0.3, 0.499, 0.5, 0.9, 0.999_999];
        for p0 in shares {
            for p1 in shares.into_iter().filter(|p1| *p1 > p0) {
                for calls in [1.0, 1e6, 1e12, f64::MAX] {
                    let (score, steps) = solve(p0, p1, calls);
                    // One value more than the bound allows is begun, at the most.
                    let one_value = score.map_or(u64::from(Score::MAX_LIMIT), |score| {
                        u64::from(score.bad) * u64::from(score.good)
                    });
                    assert!(
                        steps <= MOST_STEPS + one_value,
                        "{p0} {p1} {calls}: {steps}"
                    );
                }
            }
        }
    }
}
