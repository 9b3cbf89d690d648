//! Changing the configs of a registry that is in use.

use core::hash::{BuildHasher, Hash};

use super::Registry;
use super::config::{RegistryConfig, RegistryError};
use super::configs::Configs;
use super::entry::{Entry, Slot};
use super::keepers::Gates;
use crate::contract::clock::Clock;
use crate::contract::config::Config;
use crate::contract::error::ConfigError;
use crate::contract::throttle::ThrottleConfig;

/// Configs. Those of breakers in use are replaced as by [`Breaker::reconfigure`](crate::Breaker::reconfigure). A throttle whose config
/// changes is replaced by a new one, which knows nothing yet: [`gate`](Registry::gate) finds it from then on, and
/// who holds the old one goes on with that.
///
/// Of threads that change configs at the same time, one brings the breakers up to date for all;
/// the others return at once.
impl<K, C, S> Registry<K, C, S>
where
    K: Hash + Eq + Clone + Send + Sync,
    C: Clock + Clone,
    S: BuildHasher,
{
    /// The config in force.
    pub fn config(&self) -> RegistryConfig {
        self.lock().configs.registry
    }

    /// Replaces the registry's config, and with it that of every breaker that has
    /// none of its own.
    ///
    /// A lower `max_keys` evicts nothing by itself; no key is added until there are fewer.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Config`] for an illegal config, which changes nothing. Or
    /// [`RegistryError::KeyConfig`] with the first key for which
    /// [`configure`](super::RegistryBuilder::configure) gives one: the others' are
    /// replaced, that key's stays.
    ///
    /// # Panics
    ///
    /// Passes on a panic of a closure that the registry was built with. Some
    /// breakers may then still have the config from before, until the next change.
    pub fn reconfigure(&self, config: RegistryConfig) -> Result<(), RegistryError> {
        config.validate().map_err(RegistryError::Config)?;
        self.change(None, |configs| configs.registry = config)
    }

    /// Gives a key a config of its own, in place of what the registry's config and
    /// [`configure`](super::RegistryBuilder::configure) say; or, with `None`, takes it back.
    /// The key need not have a breaker; the config outlasts its eviction.
    ///
    /// # Errors
    ///
    /// [`RegistryError::KeyConfig`] for an illegal config, which changes nothing.
    pub fn reconfigure_key(&self, key: K, config: Option<Config>) -> Result<(), RegistryError> {
        if let Some(config) = config {
            let checked = config.validate();
            checked.map_err(|error| self.illegal(&key, error))?;
        }
        self.change(Some(&key), |configs| {
            match config {
                Some(config) => configs.own.insert(key.clone(), config),
                None => configs.own.remove(&key),
            };
        })
    }

    /// Makes a change, and brings up to date the breaker of the only key that it
    /// concerns, or all; and again all, for those who make changes meanwhile.
    fn change(
        &self,
        only: Option<&K>,
        change: impl FnOnce(&mut Configs<K>),
    ) -> Result<(), RegistryError> {
        let mut kept = self.lock();
        change(&mut kept.configs);
        kept.configs.version += 1;
        if kept.configs.updating {
            return Ok(());
        }
        kept.configs.updating = true;
        let mut batch = match only {
            Some(key) => {
                let found = self.map.pin().get(key).and_then(Entry::take_with_slot);
                found
                    .map(|(breaker, throttle)| (key.clone(), breaker, throttle))
                    .into_iter()
                    .collect()
            }
            None => kept.keepers.all_gates(),
        };
        let mut version = kept.configs.version;
        drop(kept);
        let mut updating = Update {
            registry: self,
            is_over: false,
        };
        loop {
            let result = self.update(&batch, version);
            let mut kept = self.lock();
            if kept.configs.version == version {
                kept.configs.updating = false;
                updating.is_over = true;
                return result;
            }
            version = kept.configs.version;
            batch = kept.keepers.all_gates();
        }
    }

    /// Brings breakers up to date, until a newer version is there.
    fn update(&self, batch: &Gates<K, C>, version: u64) -> Result<(), RegistryError> {
        let mut result = Ok(());
        for (key, breaker, throttle) in batch {
            let (source, current) = self.lock().configs.of(key);
            if current != version {
                break;
            }
            let (config, throttle_config) = source.resolve(key, &self.recipe);
            let changed = breaker
                .reconfigure(config)
                .and_then(|()| self.update_throttle(key, throttle, throttle_config));
            if let Err(error) = changed
                && result.is_ok()
            {
                result = Err(self.illegal(key, error));
            }
        }
        result
    }

    fn update_throttle(
        &self,
        key: &K,
        slot: &Slot<C>,
        config: Option<ThrottleConfig>,
    ) -> Result<(), ConfigError> {
        let current = slot.load().as_ref().map(|throttle| *throttle.config());
        if current != config {
            slot.store(self.throttle_of(key, config)?);
        }
        Ok(())
    }

    fn illegal(&self, key: &K, error: ConfigError) -> RegistryError {
        let name = self.recipe.name(key);
        RegistryError::KeyConfig { name, error }
    }
}

/// A thread that brings breakers up to date. Dropped, it is over: a panic ends it too.
struct Update<'a, K, C, S>
where
    K: Hash + Eq + Clone + Send + Sync,
    C: Clock + Clone,
    S: BuildHasher,
{
    registry: &'a Registry<K, C, S>,
    is_over: bool,
}

impl<K, C, S> Drop for Update<'_, K, C, S>
where
    K: Hash + Eq + Clone + Send + Sync,
    C: Clock + Clone,
    S: BuildHasher,
{
    fn drop(&mut self) {
        if !self.is_over {
            self.registry.lock().configs.updating = false;
        }
    }
}
