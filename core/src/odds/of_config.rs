//! The odds of all rules of a config together.

use alloc::format;

use super::curve::Curve;
use super::scan::Scan;
use super::traffic::Traffic;
use super::{cusum, run};
use crate::contract::config::{Config, Window};
use crate::contract::cusum::Cusum;
use crate::contract::error::ConfigError;
use crate::contract::ratio::least;
use crate::contract::score::Score;

/// The largest window whose odds are computed: those of a time window under heavy traffic.
const MOST_SAMPLES: f64 = 100_000.0;

/// How long a breaker stays closed under some traffic. Made by [`Config::odds`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Odds {
    /// With an empty window at the start, as after a recovery.
    pub from_empty: Curve,
    /// With a window full of successes, or scores of zero, at the start, as after a long time in which all went well.
    pub from_full: Curve,
}

impl Config {
    /// How long a breaker of this config stays closed under such traffic: see [`odds`](crate::odds).
    ///
    /// Scores are taken to match at their limit: [`lasting`](crate::Cusum::lasting) is not counted, which makes them match
    /// later and more seldom, and neither is [`max_age`](crate::Cusum::max_age). They begin with the head start in
    /// [`from_empty`](Odds::from_empty), and at zero in [`from_full`](Odds::from_full).
    ///
    /// Reads no clock and allocates. It takes microseconds for a window of 100, and some tenths of a second at
    /// the most, for a time window that holds 100,000 calls.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] if the config is not legal, if a share is not in 0 to 1, or if the window is one of time and
    /// the traffic does not say how many calls come in a second.
    pub fn odds(&self, traffic: Traffic) -> Result<Odds, ConfigError> {
        self.validate()?;
        traffic.validate()?;
        let mut odds = Odds {
            from_empty: Curve::never(),
            from_full: Curve::never(),
        };
        let mut add = |from_empty: Curve, from_full: Curve| {
            odds.from_empty = odds.from_empty.and(&from_empty);
            odds.from_full = odds.from_full.and(&from_full);
        };
        if let Some(length) = self.consecutive_failures
            && let Some(share) = usable(traffic.failures)
        {
            let curve = run::curve(length, share);
            add(curve.clone(), curve);
        }
        if let Window::Cusum(cusum) = self.window {
            let slow = cusum.slow.map(|slow| slow.score);
            for (score, share) in [(cusum.failures, traffic.failures), (slow, traffic.slow)] {
                if let (Some(score), Some(share)) = (score, usable(share)) {
                    let start = cusum.head_start(score);
                    add(
                        cusum::curve(score, share, start),
                        cusum::curve(score, share, 0),
                    );
                }
            }
            return Ok(odds);
        }
        let size = window_size(self.window, &traffic)?;
        if let (Some(failures), Some(share)) = (self.failures, usable(traffic.failures)) {
            let scan = Scan {
                size,
                threshold: failures,
                partly: |_| Some(failures),
            };
            add(scan.starting_empty(share), scan.starting_full(share));
        }
        let ratios = [
            (self.failure_ratio, traffic.failures),
            (self.timeout_ratio, traffic.timeouts),
            (self.slow.map(|rule| rule.ratio), traffic.slow),
        ];
        for (ratio, share) in ratios {
            let (Some(ratio), Some(share)) = (ratio, usable(share)) else {
                continue;
            };
            let min_calls = self.min_calls();
            let scan = Scan {
                size,
                threshold: least(ratio, size),
                partly: |samples| (samples >= min_calls).then(|| least(ratio, samples)),
            };
            if size >= min_calls {
                add(scan.starting_empty(share), scan.starting_full(share));
            }
        }
        Ok(odds)
    }
}

impl Config {
    /// A share of bad calls at which no breaker should open: one in a hundred.
    const USUAL_SHARE: f64 = 0.01;

    /// How many calls should pass between two false trips at that share.
    const SELDOM: f64 = 1e6;

    /// The defaults with a window of scores that tells a share `p1` of failures, which is ill, from a share `p0`, which is well,
    /// and that opens by chance once in `calls` calls on average while the share is `p0`: see [`Score::for_rates`].
    ///
    /// It opens later than its [`odds`](Self::odds) say by [`lasting`](crate::Cusum::lasting), half a second.
    ///
    /// # Errors
    ///
    /// Those of [`Score::for_rates`].
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::{Config, odds::Traffic};
    ///
    /// let config = Config::for_rates(0.01, 0.3, 1e9)?;
    /// let well = config.odds(Traffic::failing(0.01))?;
    /// let ill = config.odds(Traffic::failing(0.3))?;
    /// assert!(well.from_full.mean_calls() > 1e9);
    /// assert!(ill.from_full.mean_calls() < 25.0);
    /// # Ok::<(), cutout::ConfigError>(())
    /// ```
    pub fn for_rates(p0: f64, p1: f64, calls: f64) -> Result<Self, ConfigError> {
        Score::for_rates(p0, p1, calls).map(|score| Self::cusum(Cusum::of_failures(score)))
    }

    /// Once in how many calls this config opens by chance although only one call in a hundred fails and one in a hundred is slow,
    /// if that is more often than once in a million: a warning. `None` if it is not.
    ///
    /// Only time windows need the calls per second. Where they are not known, which 0 says, a time window is judged as if it held
    /// just as many calls as its rules need: a ratio is the likeliest to match then.
    ///
    /// # Errors
    ///
    /// Those of [`odds`](Self::odds).
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::{Breaker, Config};
    ///
    /// assert_eq!(Config::default().opens_by_chance(0.0)?, None);
    /// let hasty = Breaker::builder().consecutive_failures(2).build()?.config();
    /// assert!((10_000.0..10_200.0).contains(&hasty.opens_by_chance(0.0)?.unwrap()));
    /// # Ok::<(), cutout::ConfigError>(())
    /// ```
    pub fn opens_by_chance(&self, calls_per_second: f64) -> Result<Option<f64>, ConfigError> {
        let usual = Traffic::failing(Self::USUAL_SHARE)
            .slow(Self::USUAL_SHARE)
            .calls_per_second(match calls_per_second {
                0.0 => self.fewest_per_second(),
                known => known,
            });
        let mean = self.odds(usual)?.from_full.mean_calls();
        Ok((mean < Self::SELDOM).then_some(mean))
    }

    /// So few calls that a time window holds just as many as its rules need.
    fn fewest_per_second(&self) -> f64 {
        let calls = self.failures.unwrap_or(0).max(self.min_calls());
        usual_seconds(self.window).map_or(0.0, |seconds| f64::from(calls) / seconds)
    }
}

/// How far back a time window goes, on average.
fn usual_seconds(window: Window) -> Option<f64> {
    match window {
        // The newest bucket is half full on average.
        Window::Time { length, buckets } => {
            Some(length.as_secs_f64() * (1.0 - 0.5 / f64::from(buckets)))
        }
        Window::Count(_) | Window::Cusum(_) => None,
    }
}

/// How many outcomes the window holds, at this many calls per second.
fn window_size(window: Window, traffic: &Traffic) -> Result<u32, ConfigError> {
    let Some(seconds) = usual_seconds(window) else {
        return Ok(match window {
            Window::Count(size) => size,
            // It holds none.
            _ => 0,
        });
    };
    let samples = libm::round(seconds * traffic.calls_per_second);
    if (1.0..=MOST_SAMPLES).contains(&samples) {
        return Ok(samples as u32);
    }
    Err(ConfigError {
        field: "calls_per_second",
        value: format!("{}", traffic.calls_per_second),
        legal: "given for a time window, and so many that it holds from 1 to 100,000 calls",
    })
}

/// A share that something comes of. One is as good as 1 - 1e-12, whose logarithms are finite.
fn usable(share: f64) -> Option<f64> {
    (share > 0.0).then(|| share.min(1.0 - 1e-12))
}
