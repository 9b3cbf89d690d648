//! Building a registry.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use std::collections::hash_map::RandomState;

use super::Registry;
use super::config::RegistryConfig;
use super::recipe::Recipe;
use crate::breaker::builder::Builder;
use crate::contract::clock::{Clock, SystemClock};
use crate::contract::config::Config;
use crate::contract::error::ConfigError;
use crate::contract::event::Event;
use crate::contract::throttle::ThrottleConfig;
use crate::throttle::builder::ThrottleBuilder;

/// Builds a [`Registry`]. The defaults are those of [`RegistryConfig`].
///
/// None of the closures is called under a lock; they may call the registry.
///
/// # Examples
///
/// ```
/// use cutout::Config;
/// use cutout::registry::Registry;
///
/// let registry = Registry::builder(|host: &String| host.clone())
///     .configure(|host, default| match host.ends_with(".internal") {
///         true => default.with(|config| config.failure_ratio = Some(0.2)),
///         false => default,
///     })
///     .listener(|name, event| println!("{name}: {} -> {}", event.from, event.to))
///     .build()?;
/// # Ok::<(), cutout::ConfigError>(())
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct RegistryBuilder<K, C: Clock = SystemClock, S = RandomState> {
    config: RegistryConfig,
    recipe: Recipe<K, C>,
    clock: C,
    hasher: S,
}

impl<K> Registry<K> {
    /// A builder with the defaults of [`RegistryConfig`], on the system's clock, of a
    /// registry whose breakers are named by `name`.
    pub fn builder(
        name: impl Fn(&K) -> String + Send + Sync + 'static,
    ) -> RegistryBuilder<K, SystemClock> {
        RegistryBuilder::new(SystemClock::new(), name)
    }
}

impl<K, C: Clock> RegistryBuilder<K, C> {
    /// A builder of a registry on this clock, whose breakers are named by `name`.
    pub fn new(clock: C, name: impl Fn(&K) -> String + Send + Sync + 'static) -> Self {
        Self {
            config: RegistryConfig::default(),
            recipe: Recipe {
                name: Box::new(name),
                configure: None,
                prepare: None,
                configure_throttle: None,
                prepare_throttle: None,
                listeners: Vec::new(),
            },
            clock,
            hasher: RandomState::new(),
        }
    }
}

impl<K, C: Clock, S> RegistryBuilder<K, C, S> {
    /// Replaces all config fields.
    pub fn config(mut self, config: RegistryConfig) -> Self {
        self.config = config;
        self
    }

    /// Sets each key's config, given the one for all. It is asked when the key's breaker is
    /// made, and again at each [`Registry::reconfigure`].
    pub fn configure(
        mut self,
        configure: impl Fn(&K, Config) -> Config + Send + Sync + 'static,
    ) -> Self {
        self.recipe.configure = Some(Box::new(configure));
        self
    }

    /// Does what else is to be done to the builder of a key's breaker: a log, a snapshot to
    /// restore, a listener of its own. Name and config are set by the registry.
    pub fn prepare(
        mut self,
        prepare: impl Fn(&K, Builder<C>) -> Builder<C> + Send + Sync + 'static,
    ) -> Self {
        self.recipe.prepare = Some(Box::new(prepare));
        self
    }

    /// Sets whether there is a throttle beside each key's breaker, and its config, given
    /// [what is said for all](RegistryConfig::throttle). It is asked when the key's breaker is made, and again at each
    /// [`Registry::reconfigure`].
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::ThrottleConfig;
    /// use cutout::registry::Registry;
    ///
    /// let registry = Registry::builder(|host: &String| host.clone())
    ///     .configure_throttle(|host, _| host.starts_with("batch.").then(ThrottleConfig::default))
    ///     .build()?;
    /// let (breaker, throttle) = registry.gate("batch.example")?;
    /// assert_eq!(throttle.unwrap().name(), breaker.name());
    /// assert!(registry.gate("api.example")?.1.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn configure_throttle(
        mut self,
        configure: impl Fn(&K, Option<ThrottleConfig>) -> Option<ThrottleConfig> + Send + Sync + 'static,
    ) -> Self {
        self.recipe.configure_throttle = Some(Box::new(configure));
        self
    }

    /// Does what else is to be done to the builder of a key's throttle: totals, a listener for calls. Name and
    /// config are set by the registry.
    pub fn prepare_throttle(
        mut self,
        prepare: impl Fn(&K, ThrottleBuilder<C>) -> ThrottleBuilder<C> + Send + Sync + 'static,
    ) -> Self {
        self.recipe.prepare_throttle = Some(Box::new(prepare));
        self
    }

    /// Adds a listener, to be told of every transition of every breaker, with the breaker's
    /// name. What [`Builder::listener`] says of one breaker's holds for it; breakers
    /// may call it at the same time. It costs each breaker about 6 kB, for a queue of events; a key
    /// takes about 0.8 kB without.
    pub fn listener(mut self, listener: impl Fn(&str, &Event) + Send + Sync + 'static) -> Self {
        self.recipe.listeners.push(Arc::new(listener));
        self
    }

    /// Hashes keys in another way than by a seed drawn at random.
    pub fn hasher<H: BuildHasher>(self, hasher: H) -> RegistryBuilder<K, C, H> {
        RegistryBuilder {
            config: self.config,
            recipe: self.recipe,
            clock: self.clock,
            hasher,
        }
    }

    /// Checks the config and builds the registry, with no breaker in it.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first illegal field.
    pub fn build(self) -> Result<Registry<K, C, S>, ConfigError>
    where
        K: Hash + Eq + Clone + Send + Sync,
        C: Clone,
        S: BuildHasher,
    {
        self.config.validate()?;
        Ok(Registry::empty(
            self.config,
            self.recipe,
            self.clock,
            self.hasher,
        ))
    }
}

impl<K, C: Clock, S> fmt::Debug for RegistryBuilder<K, C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistryBuilder")
            .field("config", &self.config)
            .field("listeners", &self.recipe.listeners.len())
            .finish_non_exhaustive()
    }
}
