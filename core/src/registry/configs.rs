//! The configs of a registry's breakers: one for all, and those of single keys.

use core::hash::Hash;
use std::collections::HashMap;

use super::config::RegistryConfig;
use super::recipe::Recipe;
use crate::contract::clock::Clock;
use crate::contract::config::Config;
use crate::contract::throttle::ThrottleConfig;

/// What was configured.
pub(super) struct Configs<K> {
    pub(super) registry: RegistryConfig,
    pub(super) own: HashMap<K, Config>,
    /// Counts the changes.
    pub(super) version: u64,
    /// Whether some thread is bringing the breakers up to date.
    pub(super) updating: bool,
}

/// What a key's configs are made of.
pub(super) struct Source {
    own: Option<Config>,
    registry: RegistryConfig,
}

impl Source {
    /// That of its breaker, and that of its throttle, if it is to have one.
    pub(super) fn resolve<K, C: Clock>(
        &self,
        key: &K,
        recipe: &Recipe<K, C>,
    ) -> (Config, Option<ThrottleConfig>) {
        let breaker = self
            .own
            .unwrap_or_else(|| recipe.config(key, self.registry.breaker));
        (breaker, recipe.throttle_config(key, self.registry.throttle))
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

    /// What a key's configs are made of, as of which version.
    pub(super) fn of(&self, key: &K) -> (Source, u64) {
        let source = Source {
            own: self.own.get(key).copied(),
            registry: self.registry,
        };
        (source, self.version)
    }
}
