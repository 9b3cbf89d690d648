//! The odds of a score that bad outcomes raise and good ones lower: exact.
//!
//! The score is a Markov chain on `0 .. limit` (Brook and Evans, "An approach to the probability
//! distribution of cusum run length", Biometrika 59 (1972)).

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use alloc::{format, vec};

use super::curve::Curve;
use crate::contract::error::ConfigError;
use crate::contract::score::Score;

/// How long it takes until the score reaches its limit, from `start`.
pub(super) fn curve(score: Score, share: f64, start: u16) -> Curve {
    let limit = usize::from(score.limit);
    let start = usize::from(start).min(limit - 1);
    let mut chances = Vec::from([0.0]);
    chances.resize(limit, 0.0);
    chances[start] = 1.0;
    let mut next = chances.clone();
    // By then a score has been at zero, or it has no way back there.
    let steps = (4 * limit).clamp(64, 4096);
    let mut head = Vec::from([1.0]);
    for _ in 0..steps {
        next.fill(0.0);
        for (value, chance) in chances
            .iter()
            .enumerate()
            .filter(|&(_, &chance)| chance > 0.0)
        {
            next[value.saturating_sub(usize::from(score.good))] += chance * (1.0 - share);
            if let Some(raised) = next.get_mut(value + usize::from(score.bad)) {
                *raised += chance * share;
            }
        }
        core::mem::swap(&mut chances, &mut next);
        head.push(chances.iter().sum());
    }
    Curve::with_mean(head, mean_calls(score, share, start))
}

/// The mean number of calls from `start` until the score reaches its limit.
pub(super) fn mean_calls(score: Score, share: f64, start: usize) -> f64 {
    let mut climb = Climb::new(score.bad, score.good, share, start);
    let last = usize::from(score.limit).saturating_sub(1);
    climb.nth(last).unwrap_or(f64::INFINITY)
}

/// The mean numbers of calls that a score takes from its start to rise above 0, above 1, above 2 and so on.
///
/// The limit does not come into it, so that one climb tells the means of all limits. To rise above a value, a score
/// that is there either takes one bad outcome, or falls to a lower value and has to rise above each one between. So
/// the first rise above a value follows from those above the ones below it: how long it takes, and where it leads
/// (Grassmann, Taksar and Heyman, "Regenerative analysis and steady state distributions for Markov chains",
/// Operations Research 33 (1985), remove states in the same way). Nothing is ever subtracted, so that a mean of 1e12 is as
/// exact as one of 10.
pub(super) struct Climb {
    bad: usize,
    good: usize,
    share: f64,
    start: usize,
    /// The rises above the last `good` values, the latest at the end.
    rises: VecDeque<Rise>,
    /// How many values there were.
    value: usize,
    /// The chances that the score, as it first rises above what was before, stands at this value, at the next one and so on.
    stands: VecDeque<f64>,
    /// The mean number of calls so far.
    calls: f64,
    /// How many sums were made: what it costs.
    pub(super) steps: u64,
}

/// The first rise above a value, of a score that is there.
struct Rise {
    calls: f64,
    /// The chances that it leads to the next value, to the one after it, and so on.
    to: Vec<f64>,
}

impl Climb {
    pub(super) fn new(bad: u16, good: u16, share: f64, start: usize) -> Self {
        let (bad, good) = (usize::from(bad), usize::from(good));
        Self {
            bad,
            good,
            share,
            start,
            rises: VecDeque::new(),
            value: 0,
            stands: VecDeque::new(),
            calls: 0.0,
            steps: 0,
        }
    }

    /// The rise above the present value.
    fn rise(&mut self) -> Rise {
        let below = self.rises.len();
        // The chances to stand at the lower values, at this one, and at those above it.
        let mut chances = vec![0.0; below + 1 + self.bad];
        chances[0] = 1.0 - self.share;
        let mut calls = 1.0;
        for (index, rise) in self.rises.iter().enumerate() {
            let chance = chances[index];
            if chance == 0.0 {
                continue;
            }
            calls += chance * rise.calls;
            for (to, share) in chances[index + 1..].iter_mut().zip(&rise.to) {
                *to += chance * share;
            }
            self.steps += self.bad as u64;
        }
        let mut to = chances.split_off(below + 1);
        to[self.bad - 1] += self.share;
        // Whoever has come back to this value begins again.
        let rises: f64 = to.iter().sum();
        for chance in &mut to {
            *chance /= rises;
        }
        Rise {
            calls: calls / rises,
            to,
        }
    }
}

impl Iterator for Climb {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let rise = self.rise();
        let chance = match self.value == self.start {
            true => 1.0,
            false => self.stands.pop_front().unwrap_or(0.0),
        };
        if chance > 0.0 {
            self.calls += chance * rise.calls;
            self.stands.resize(self.bad, 0.0);
            for (stands, share) in self.stands.iter_mut().zip(&rise.to) {
                *stands += chance * share;
            }
        }
        if self.rises.len() == self.good {
            self.rises.pop_front();
        }
        self.rises.push_back(rise);
        self.value += 1;
        Some(self.calls)
    }
}

impl Score {
    /// How long it takes until this score reaches its limit while such a share of outcomes is bad: exact. It
    /// begins at `start`, which is zero for a breaker that has just closed, unless it is given a head start.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] if the score or the share is not legal.
    ///
    /// # Examples
    ///
    /// ```
    /// let score = cutout::Score { bad: 10, good: 1, limit: 35 };
    /// assert_eq!(score.odds(1.0, 0)?.mean_calls(), 4.0);
    /// assert!(score.odds(0.01, 0)?.mean_calls() > 1e6);
    /// # Ok::<(), cutout::ConfigError>(())
    /// ```
    pub fn odds(self, share: f64, start: u16) -> Result<Curve, ConfigError> {
        self.validate("score")?;
        if !(0.0..=1.0).contains(&share) {
            return Err(ConfigError {
                field: "share",
                value: format!("{share}"),
                legal: "0 to 1",
            });
        }
        Ok(if share > 0.0 {
            curve(self, share, start)
        } else {
            Curve::never()
        })
    }
}
