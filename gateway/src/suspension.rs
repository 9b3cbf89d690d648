//! Targets that are left out because the key which the gateway has there is refused, or has nothing left to spend.
//!
//! That is no illness of the provider, so no breaker opens for it: it has a cause and a time of its own. It ends after
//! the provider's `suspend` time, when the configuration is read again (its keys with it), or when a check succeeds.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::clock::unix_millis;

/// Why a target is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The provider refuses the key.
    Key,
    /// The key's account has nothing left to spend.
    Credit,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key => "key refused",
            Self::Credit => "credit spent",
        })
    }
}

/// A target that is left out.
#[derive(Clone, Debug)]
pub struct Suspension {
    /// The model that was asked for.
    pub model: String,
    /// Why.
    pub cause: Cause,
    /// The status that the provider gave.
    pub status: u16,
    /// What the provider said, without what may be a key.
    pub text: String,
    /// Since when, in milliseconds since the Unix epoch.
    pub since_ms: u64,
    until: Instant,
}

impl Suspension {
    pub(crate) fn new(
        model: &str,
        cause: Cause,
        status: u16,
        text: String,
        lasts: Duration,
    ) -> Self {
        let now = Instant::now();
        Self {
            model: model.to_owned(),
            cause,
            status,
            text,
            since_ms: unix_millis(),
            // A time that no clock can tell is as good as for ever.
            until: now
                .checked_add(lasts)
                .unwrap_or(now + Duration::from_secs(1 << 30)),
        }
    }

    /// How long it lasts yet.
    pub fn remaining(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

impl fmt::Display for Suspension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "suspended: {} (status {})", self.cause, self.status)
    }
}

/// The models of a provider that are left out.
#[derive(Debug, Default)]
pub(crate) struct Suspensions(Mutex<Vec<Suspension>>);

impl Suspensions {
    /// Leaves a model out. Not if it is already: then `false`.
    pub(crate) fn add(&self, suspension: Suspension) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| !one.remaining().is_zero());
        let is_new = all.iter().all(|one| one.model != suspension.model);
        if is_new {
            all.push(suspension);
        }
        is_new
    }

    /// Whether and why a model is left out.
    pub(crate) fn of(&self, model: &str) -> Option<Suspension> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = all.iter();
        all.find(|one| one.model == model && !one.remaining().is_zero())
            .cloned()
    }

    /// Takes a model in again. Not if it was not left out: then `false`.
    pub(crate) fn lift(&self, model: &str) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = all.len();
        all.retain(|one| one.model != model);
        all.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suspension_is_of_one_model_once_and_ends() {
        let all = Suspensions::default();
        let one = |model, lasts| Suspension::new(model, Cause::Key, 401, String::new(), lasts);
        assert!(all.add(one("m", Duration::MAX)));
        assert!(!all.add(one("m", Duration::from_secs(60))));
        assert!(all.of("m").is_some() && all.of("other").is_none());
        all.lift("m");
        assert!(all.of("m").is_none());
        all.add(one("m", Duration::ZERO));
        assert!(all.of("m").is_none());
        assert!(all.add(one("m", Duration::from_secs(60))));
    }
}
