//! The rules that are compared: each opens by chance no more often than was asked.

use cutout::odds::Traffic;
use cutout::{Config, Cusum, Score, Window};
use std::time::Duration;

/// The largest window that is tried.
const MOST: u32 = 512;

/// A rule with its name.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What the tables call it.
    pub name: String,
    /// What its breaker is told.
    pub config: Config,
}

impl Rule {
    fn new(name: String, config: Config) -> Self {
        Self { name, config }
    }

    /// The score that tells `p1` from `p0`. It matches at its limit, however short it has lasted: `lasting` is
    /// against bursts, and in these tables there are none.
    pub(super) fn score(p0: f64, p1: f64, calls: f64) -> Self {
        let score = Score::for_rates(p0, p1, calls).expect("the shares are far apart");
        Self::of_score(score)
    }

    pub(super) fn of_score(score: Score) -> Self {
        let Score { bad, good, limit } = score;
        let config = Config::cusum(Cusum::of_failures(score).lasting(Duration::ZERO));
        Self::new(format!("score +{bad} −{good}, limit {limit}"), config)
    }

    /// So many failures among the last so many calls.
    pub(super) fn window(failures: u32, size: u32) -> Self {
        let config = Config::default().with(|config| {
            config.window = Window::count(size);
            config.failure_ratio = None;
            config.failures = Some(failures);
        });
        Self::new(format!("{failures} of the last {size}"), config)
    }

    /// So many failures in a row.
    pub(super) fn run(length: u32) -> Self {
        let config = Config::default().with(|config| {
            config.failure_ratio = None;
            config.consecutive_failures = Some(length);
        });
        Self::new(format!("{length} in a row"), config)
    }

    /// The shortest run that is long enough.
    pub(super) fn best_run(p0: f64, calls: f64) -> Self {
        let is_enough = |rule: &Self| rule.mean_calls(p0) >= calls;
        let mut runs = (1..=20).map(Self::run);
        runs.find(is_enough).expect("20 failures in a row are rare")
    }

    /// Of the count windows that open seldom enough, the one that opens first at the share `p1`.
    pub(super) fn best_window(p0: f64, p1: f64, calls: f64) -> Self {
        let windows = Self::windows(p0, calls).into_iter();
        let by_delay = |one: &Self, other: &Self| {
            let delay = |rule: &Self| rule.mean_calls(p1);
            delay(one).total_cmp(&delay(other))
        };
        windows.min_by(by_delay).expect("there is a window")
    }

    /// For each number of failures the largest window that opens seldom enough: smaller ones open later.
    fn windows(p0: f64, calls: f64) -> Vec<Self> {
        let mut windows = Vec::new();
        for failures in 2..64 {
            let is_enough =
                |size: u32| size <= MOST && Self::window(failures, size).mean_calls(p0) >= calls;
            let (mut low, mut high) = (failures, MOST + 1);
            if !is_enough(low) {
                continue;
            }
            while high - low > 1 {
                let middle = low.midpoint(high);
                *if is_enough(middle) {
                    &mut low
                } else {
                    &mut high
                } = middle;
            }
            windows.push(Self::window(failures, low));
            if low == MOST {
                break;
            }
        }
        windows
    }

    /// How many calls pass on average until it opens, when all was well before, by the odds.
    pub fn mean_calls(&self, share: f64) -> f64 {
        let odds = self.config.odds(Traffic::failing(share));
        odds.expect("the rules are legal").from_full.mean_calls()
    }
}
