//! A score that bad outcomes raise and good ones lower.

use alloc::format;

use crate::contract::error::ConfigError;

/// What a score does with an outcome, and where it opens the breaker.
///
/// It starts at zero. A bad outcome adds `bad`; a good one takes off `good`, and never more than
/// there is; at `limit` the rule matches. This is the Bernoulli CUSUM (Page, "Continuous inspection schemes",
/// Biometrika 41 (1954); Reynolds and Stoumbos, "A CUSUM chart for monitoring a proportion when
/// inspecting continuously", Journal of Quality Technology 31 (1999)). A share of bad outcomes
/// above `good / (good + bad)` drives it up, one below lets it fall back to zero.
///
/// With the feature `odds`, `Score::for_rates` finds the three numbers from what they should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Score {
    /// What a bad outcome adds, 1 or more.
    pub bad: u16,
    /// What a good outcome takes off, 1 to [`Score::MAX_LIMIT`].
    pub good: u16,
    /// Where the rule matches; `bad` or more, and at most [`Score::MAX_LIMIT`].
    pub limit: u16,
}

impl Score {
    /// The largest limit.
    pub const MAX_LIMIT: u16 = 4095;

    /// A score after a bad outcome.
    pub(crate) const fn raised(self, value: u16) -> u16 {
        // No overflow: neither is above the largest limit.
        let raised = value + self.bad;
        if raised < self.limit {
            raised
        } else {
            self.limit
        }
    }

    /// A score after a good outcome.
    pub(crate) const fn lowered(self, value: u16) -> u16 {
        value.saturating_sub(self.good)
    }

    /// Whether the numbers are legal. `field` is the name of the score in the config.
    pub(crate) fn validate(self, field: &'static str) -> Result<(), ConfigError> {
        let is_legal = self.bad >= 1
            && (1..=Self::MAX_LIMIT).contains(&self.good)
            && (self.bad..=Self::MAX_LIMIT).contains(&self.limit);
        if is_legal {
            return Ok(());
        }
        Err(ConfigError {
            field,
            value: format!("+{} -{} limit {}", self.bad, self.good, self.limit),
            legal: "a bad of 1 or more, a good of 1 to 4095, and a limit from bad to 4095",
        })
    }
}
