//! The odds of a score that bad outcomes raise and good ones lower: exact.
//!
//! The score is a Markov chain on `0 .. limit` (Brook and Evans, "An approach to the probability
//! distribution of cusum run length", Biometrika 59 (1972)).

use alloc::format;
use alloc::vec::Vec;

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
///
/// States are removed one by one from the highest down, and those below take over what they led to
/// (Grassmann, Taksar and Heyman, "Regenerative analysis and steady state distributions for Markov
/// chains", Operations Research 33 (1985)). Nothing is ever subtracted, so that a mean of 1e12 is as exact
/// as one of 10. From a state that is removed the chain can only get to the `good` states below it,
/// and to a state only from the `bad` ones below: so the work is `limit * bad * good`.
pub(super) fn mean_calls(score: Score, share: f64, start: usize) -> f64 {
    let limit = usize::from(score.limit);
    let (up, down) = (usize::from(score.bad), usize::from(score.good));
    let mut rows: Vec<Row> = (0..limit)
        .map(|value| Row::new(value, up, down, limit, share))
        .collect();
    for state in (1..limit).rev() {
        let (below, from) = rows.split_at_mut(state);
        let removed = &from[0];
        let lowest = state.saturating_sub(down);
        let onward: f64 = (lowest..state).map(|to| removed.get(to)).sum();
        let leaves = onward + removed.opens;
        let first = state.saturating_sub(up.max(down));
        for row in &mut below[first..] {
            let share = row.get(state) / leaves;
            if share == 0.0 {
                continue;
            }
            row.calls += share * removed.calls;
            row.opens += share * removed.opens;
            for to in lowest..state {
                row.add(to, share * removed.get(to));
            }
        }
    }
    // Each state now leads to lower ones alone.
    let mut means: Vec<f64> = Vec::with_capacity(start + 1);
    for (state, row) in rows.iter().enumerate().take(start + 1) {
        let lowest = state.saturating_sub(down);
        let ways: f64 = (lowest..state).map(|to| row.get(to)).sum();
        let later: f64 = (lowest..state).map(|to| row.get(to) * means[to]).sum();
        means.push((row.calls + later) / (ways + row.opens));
    }
    means[start]
}

/// Where a state leads to, as far as there are states left.
struct Row {
    /// The lowest state that it can lead to.
    lowest: usize,
    /// The chances to get to that state and to those above it.
    to: Vec<f64>,
    /// The chance to reach the limit.
    opens: f64,
    /// How many calls pass on the way.
    calls: f64,
}

impl Row {
    fn new(value: usize, up: usize, down: usize, limit: usize, share: f64) -> Self {
        let lowest = value.saturating_sub(down);
        let mut row = Self {
            lowest,
            to: Vec::new(),
            opens: 0.0,
            calls: 1.0,
        };
        row.to.resize((value + up).min(limit - 1) - lowest + 1, 0.0);
        row.add(lowest, 1.0 - share);
        if value + up < limit {
            row.add(value + up, share);
        } else {
            row.opens = share;
        }
        row
    }

    fn get(&self, state: usize) -> f64 {
        self.to.get(state - self.lowest).copied().unwrap_or(0.0)
    }

    /// A state that leads to itself is only left later, which its other chances say by themselves.
    fn add(&mut self, state: usize, chance: f64) {
        self.to[state - self.lowest] += chance;
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
