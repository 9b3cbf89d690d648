//! What comes out of the calls whose odds are asked for.

use alloc::format;

use crate::contract::error::ConfigError;

/// Calls that fail, time out and are slow in these shares, each independently of the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    pub(super) failures: f64,
    pub(super) timeouts: f64,
    pub(super) slow: f64,
    pub(super) calls_per_second: f64,
}

impl Traffic {
    /// This share of calls fails, 0 to 1. None times out, and none is slow.
    pub const fn failing(share: f64) -> Self {
        Self {
            failures: share,
            timeouts: 0.0,
            slow: 0.0,
            calls_per_second: 0.0,
        }
    }

    /// This share of calls times out, at most that of those that fail: a timeout is a failure too.
    #[must_use]
    pub const fn timing_out(self, share: f64) -> Self {
        Self {
            timeouts: share,
            ..self
        }
    }

    /// This share of calls is slow, whether they fail or not.
    #[must_use]
    pub const fn slow(self, share: f64) -> Self {
        Self {
            slow: share,
            ..self
        }
    }

    /// How many calls come in a second. Only the odds of time windows need it.
    #[must_use]
    pub const fn calls_per_second(self, calls: f64) -> Self {
        Self {
            calls_per_second: calls,
            ..self
        }
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let refused = |field, value: f64, legal| ConfigError {
            field,
            value: format!("{value}"),
            legal,
        };
        for (field, share) in [("failures", self.failures), ("slow", self.slow)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(refused(field, share, "0 to 1"));
            }
        }
        if !(0.0..=self.failures).contains(&self.timeouts) {
            return Err(refused(
                "timeouts",
                self.timeouts,
                "0 to the share of failures",
            ));
        }
        if !(self.calls_per_second >= 0.0 && self.calls_per_second.is_finite()) {
            return Err(refused(
                "calls_per_second",
                self.calls_per_second,
                "0 or more, and finite",
            ));
        }
        Ok(())
    }
}
