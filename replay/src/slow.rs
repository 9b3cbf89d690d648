//! How long a call may take before one would rather not have made it.

use std::collections::HashMap;
use std::time::Duration;

/// From how long on a call is bad although it came to something, for all keys or some.
///
/// This is what the report measures by, for all configs alike. What a config takes for slow is its own.
#[derive(Clone, Debug, Default)]
pub struct Slow {
    all: Option<Duration>,
    keys: HashMap<String, Duration>,
}

impl Slow {
    /// Sets the limit of all keys that have none of their own.
    pub const fn all(&mut self, limit: Duration) {
        self.all = Some(limit);
    }

    /// Sets the limit of one key.
    pub fn key(&mut self, key: &str, limit: Duration) {
        self.keys.insert(key.to_owned(), limit);
    }

    /// The limit of a key.
    pub fn limit(&self, key: &str) -> Option<Duration> {
        self.keys.get(key).copied().or(self.all)
    }

    /// What is bad, in words.
    pub(crate) fn words(&self) -> String {
        let mut words = "failures and timeouts".to_owned();
        if let Some(limit) = self.all {
            words.push_str(&format!(", and calls of {limit:?} and more"));
        }
        let mut keys: Vec<_> = self.keys.iter().collect();
        keys.sort();
        for (key, limit) in keys {
            words.push_str(&format!(", of {key} those of {limit:?} and more"));
        }
        words
    }

    pub(crate) fn is_slow(&self, key: &str, took: u64) -> bool {
        if self.keys.is_empty() && self.all.is_none() {
            return false;
        }
        self.limit(key)
            .is_some_and(|limit| Duration::from_nanos(took) >= limit)
    }
}
