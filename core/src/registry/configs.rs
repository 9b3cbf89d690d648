//! The configs of a registry's breakers: one for all, and those of single keys.

use core::hash::Hash;
use std::collections::HashMap;

use super::config::RegistryConfig;
use super::recipe::Recipe;
use crate::contract::clock::Clock;
use crate::contract::config::Config;

/// What was configured.
pub(super) struct Configs<K> {
    pub(super) registry: RegistryConfig,
    pub(super) own: HashMap<K, Config>,
    /// Counts the changes.
    pub(super) version: u64,
    /// Whether some thread is bringing the breakers up to date.
    pub(super) updating: bool,
}

/// What a key's config is made of.
pub(super) enum Source {
    Own(Config),
    Default(Config),
}

impl Source {
    pub(super) fn resolve<K, C: Clock>(&self, key: &K, recipe: &Recipe<K, C>) -> Config {
        match *self {
            Self::Own(config) => config,
            Self::Default(config) => recipe.config(key, config),
        }
    }
}

impl<K: Hash + Eq> Configs<K> {
    pub(super) fn new(registry: RegistryConfig) -> Self {
        Self {
            registry,
            own: HashMap::new(),
            version: 0,
            updating: false,
        }
    }

    pub(super) const fn version(&self) -> u64 {
        self.version
    }

    /// What a key's config is made of, as of which version.
    pub(super) fn of(&self, key: &K) -> (Source, u64) {
        let source = match self.own.get(key) {
            Some(&own) => Source::Own(own),
            None => Source::Default(self.registry.breaker),
        };
        (source, self.version)
    }
}
