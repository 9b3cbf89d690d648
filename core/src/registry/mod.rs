//! Breakers by key: one for each host, tenant or model, made when it is first asked for.
//!
//! ```
//! use cutout::registry::{Registry, RegistryConfig};
//!
//! let registry = Registry::builder(|host: &String| host.clone())
//!     .config(RegistryConfig { max_keys: 1000, ..RegistryConfig::default() })
//!     .build()?;
//!
//! let breaker = registry.get_or_create("api.example")?;
//! match breaker.allow() {
//!     Ok(permit) => {
//!         permit.success();
//!     }
//!     Err(rejected) => println!("{rejected}"),
//! }
//! assert_eq!(breaker.name(), "api.example");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # One key, many calls
//!
//! The `Arc` that [`get_or_create`](Registry::get_or_create) returns is the handle to keep where
//! the key does not change: it costs no lookup, and while it is held, the breaker is not
//! evicted.
//!
//! # A throttle beside it, or instead
//!
//! With [`RegistryConfig::throttle`], or [`configure_throttle`](RegistryBuilder::configure_throttle) for some keys, there is a
//! [`Throttle`] beside each breaker. [`gate`](Registry::gate) gives both as a pair, which the adapters take; its second is
//! the throttle alone.
//!
//! # Eviction
//!
//! A breaker that nobody holds is evicted when it is closed and has not been asked for
//! for [`idle`](RegistryConfig::idle). There is no background task: each new key looks at four older ones, and
//! [`sweep`](Registry::sweep) looks at all. Never evicted is one that
//!
//! - somebody holds, or whose throttle somebody holds: a permit out, owned or borrowed, holds it or is held by one who does;
//! - is open and waits, or is in a state that an operator has set.
//!
//! A breaker that has opened, and whose wait is over, is evicted when it has not been asked for for
//! [`forget`](RegistryConfig::forget), an hour by default: its verdict is kept that long and then dropped.
//!
//! When there are [`max_keys`](RegistryConfig::max_keys) breakers, a new key may take the place of
//! one that is closed, or whose wait is over, and that has not been used since it was last looked at, however recently. Some
//! 64 are looked at for it; when all of those are in use, the new key is refused.

mod builder;
mod config;
mod configs;
mod entry;
mod health;
mod keepers;
mod recipe;
mod reconfigure;

use alloc::borrow::ToOwned;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use std::collections::hash_map::RandomState;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use builder::RegistryBuilder;
pub use config::{RegistryConfig, RegistryError};
pub use entry::KeyGate;
pub use health::RegistryHealth;

use crate::breaker::Breaker;
use crate::contract::clock::{Clock, SystemClock};
use crate::contract::error::ConfigError;
use crate::contract::throttle::ThrottleConfig;
use crate::throttle::Throttle;
use arc_swap::ArcSwapOption;
use configs::Configs;
use entry::Slot;
use keepers::{Keepers, Map, Rule};
use recipe::Recipe;

/// How many breakers each new key looks at, for one that is idle.
const LOOKS: usize = 4;
/// How many it looks at for one to replace, when the registry is full.
const LOOKS_WHEN_FULL: usize = 64;
/// How many a sweep looks at before it lets others have the lock.
const LOOKS_IN_A_SWEEP: usize = 256;

/// Breakers by key.
///
/// It is `Send` and `Sync`; share it by reference or in an `Arc`. Looking up a key that has a breaker
/// takes no lock and does not allocate. Making a breaker, evicting and reconfiguring take turns.
///
/// # Memory ordering
///
/// A breaker that is found is whole. The registry orders nothing else.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use cutout::{Config, State};
/// use cutout::registry::{Registry, RegistryConfig};
///
/// let registry = Registry::builder(|tenant: &u32| format!("tenant {tenant}")).build()?;
/// registry.get_or_create(&7)?.force_open(Some(Duration::from_secs(60)), "over its quota");
///
/// // For all keys that have no config of their own, those to come too.
/// let breaker = Config::default().with(|config| config.failure_ratio = Some(0.2));
/// registry.reconfigure(RegistryConfig { breaker, ..registry.config() })?;
/// registry.reconfigure_key(8, Some(Config::low_traffic()))?;
///
/// // For a dashboard.
/// registry.for_each(|tenant, breaker| println!("{tenant}: {}", breaker.state()));
/// assert_eq!(registry.get(&7).unwrap().state(), State::ForcedOpen);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Registry<K, C: Clock = SystemClock, S = RandomState> {
    map: Map<K, C, S>,
    kept: Mutex<Kept<K, C>>,
    recipe: Recipe<K, C>,
    clock: C,
}

/// What is changed by one thread at a time.
struct Kept<K, C> {
    keepers: Keepers<K, C>,
    configs: Configs<K>,
}

impl<K, C, S> Registry<K, C, S>
where
    K: Hash + Eq + Clone + Send + Sync,
    C: Clock + Clone,
    S: BuildHasher,
{
    fn empty(config: RegistryConfig, recipe: Recipe<K, C>, clock: C, hasher: S) -> Self {
        Self {
            map: Map::with_hasher(hasher),
            kept: Mutex::new(Kept {
                keepers: Keepers::new(),
                configs: Configs::new(config),
            }),
            recipe,
            clock,
        }
    }

    /// The breaker of a key, if it has one. Counts as use.
    ///
    /// Lock-free unless the breaker is being evicted at the moment.
    #[inline]
    pub fn get<Q>(&self, key: &Q) -> Option<Arc<Breaker<C>>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let breaker = self.map.pin().get(key)?.take();
        breaker.or_else(|| self.find(key, &self.lock()))
    }

    /// The breaker of a key, made if it has none.
    ///
    /// Lock-free when there is one. Of threads that ask for a new key at once, all get the same one.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Full`], or [`RegistryError::KeyConfig`] when the key's own config is
    /// not legal.
    ///
    /// # Panics
    ///
    /// Passes on a panic of a closure that the registry was built with; nothing is made then.
    #[inline]
    pub fn get_or_create<Q>(&self, key: &Q) -> Result<Arc<Breaker<C>>, RegistryError>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        if let Some(entry) = self.map.pin().get(key)
            && let Some(breaker) = entry.take()
        {
            return Ok(breaker);
        }
        let (breaker, _) = self.create(key.to_owned())?;
        Ok(breaker)
    }

    /// The breaker of a key and the throttle beside it, if the config says that there is one; made if it has none.
    ///
    /// As a pair they are a [`Gate`](crate::Gate), which the adapters take. For a throttle in the place of a breaker take the second
    /// of them alone. Holding either keeps both from being evicted.
    ///
    /// Lock-free when there is one. Of threads that ask for a new key at once, all get the same.
    ///
    /// # Errors
    ///
    /// As [`get_or_create`](Self::get_or_create).
    ///
    /// # Panics
    ///
    /// As [`get_or_create`](Self::get_or_create).
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::registry::{Registry, RegistryConfig};
    /// use cutout::{AnyPermit, Gate, Outcome, ThrottleConfig};
    ///
    /// let throttle = Some(ThrottleConfig::default());
    /// let registry = Registry::builder(|host: &String| host.clone())
    ///     .config(RegistryConfig { throttle, ..RegistryConfig::default() })
    ///     .build()?;
    /// let gate = registry.gate("api.example")?;
    /// gate.admit()?.done(Outcome::Success.into());
    /// assert_eq!(gate.1.unwrap().share().accepts, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn gate<Q>(&self, key: &Q) -> Result<KeyGate<C>, RegistryError>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        if let Some(entry) = self.map.pin().get(key)
            && let Some(gate) = entry.take_both()
        {
            return Ok(gate);
        }
        self.create(key.to_owned())
    }

    #[cold]
    fn create(&self, key: K) -> Result<KeyGate<C>, RegistryError> {
        loop {
            let (source, version) = {
                let kept = self.lock();
                if let Some(gate) = self.find_gate(&key, &kept) {
                    return Ok(gate);
                }
                kept.configs.of(&key)
            };
            let builder = self.recipe.builder(&key, self.clock.clone());
            let (config, throttle) = source.resolve(&key, &self.recipe);
            let illegal = |error| {
                let name = self.recipe.name(&key);
                RegistryError::KeyConfig { name, error }
            };
            let breaker = builder.config(config).build().map_err(illegal)?;
            let throttle = self.throttle_of(&key, throttle).map_err(illegal)?;
            let kept = self.lock();
            if let Some(gate) = self.find_gate(&key, &kept) {
                return Ok(gate);
            }
            if kept.configs.version() == version {
                return self.add(kept, key, breaker, throttle);
            }
        }
    }

    /// The throttle of a key with this config, if there is to be one.
    fn throttle_of(
        &self,
        key: &K,
        config: Option<ThrottleConfig>,
    ) -> Result<Option<Arc<Throttle<C>>>, ConfigError> {
        let build = |config| {
            let builder = self.recipe.throttle_builder(key, self.clock.clone());
            builder.config(config).build().map(Arc::new)
        };
        config.map(build).transpose()
    }

    fn add(
        &self,
        mut kept: MutexGuard<'_, Kept<K, C>>,
        key: K,
        breaker: Breaker<C>,
        throttle: Option<Arc<Throttle<C>>>,
    ) -> Result<KeyGate<C>, RegistryError> {
        let config = kept.configs.registry;
        let rule = Rule::idle(&config, self.clock.now());
        let mut evicted = kept.keepers.move_hand(&self.map, LOOKS, LOOKS, rule);
        if kept.keepers.len() >= config.max_keys {
            let unused = rule.unused();
            evicted.extend(
                kept.keepers
                    .move_hand(&self.map, LOOKS_WHEN_FULL, 1, unused),
            );
        }
        let added = if kept.keepers.len() < config.max_keys {
            let breaker = Arc::new(breaker);
            let slot = Slot::new(ArcSwapOption::new(throttle.clone()));
            kept.keepers
                .keep(&self.map, key, Arc::clone(&breaker), slot);
            Ok((breaker, throttle))
        } else {
            Err(RegistryError::Full {
                max_keys: config.max_keys,
            })
        };
        drop(kept);
        drop(evicted);
        added
    }

    /// The breaker of a key, while nobody makes or evicts one.
    fn find<Q>(&self, key: &Q, _: &MutexGuard<'_, Kept<K, C>>) -> Option<Arc<Breaker<C>>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.map.pin().get(key)?.take()
    }

    /// As [`find`](Self::find), with the throttle beside it.
    fn find_gate(&self, key: &K, _: &MutexGuard<'_, Kept<K, C>>) -> Option<KeyGate<C>> {
        self.map.pin().get(key)?.take_both()
    }

    /// Looks at every breaker and evicts those that are idle. Says how many.
    ///
    /// To be called now and then where new keys are rare. Lookups go on meanwhile. A breaker
    /// is seen to be idle at one look and evicted at a later one, so that it takes up to
    /// two intervals longer than [`idle`](RegistryConfig::idle).
    pub fn sweep(&self) -> usize {
        let (mut position, mut evictions) = (0, 0);
        loop {
            let mut kept = self.lock();
            if position >= kept.keepers.len() {
                return evictions;
            }
            let rule = Rule::idle(&kept.configs.registry, self.clock.now());
            let looks = LOOKS_IN_A_SWEEP;
            let evicted = kept
                .keepers
                .look_from(&mut position, &self.map, looks, rule);
            drop(kept);
            evictions += evicted.len();
        }
    }

    /// How many breakers there are.
    pub fn len(&self) -> usize {
        self.lock().keepers.len()
    }

    /// Whether there is no breaker.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Shows every key and its breaker to `visit`, in no order, without a lock and without
    /// counting as use. Of keys that come or go meanwhile some are seen.
    pub fn for_each(&self, mut visit: impl FnMut(&K, &Arc<Breaker<C>>)) {
        for (key, entry) in &self.map.pin() {
            if let Some(breaker) = entry.peek() {
                visit(key, &breaker);
            }
        }
    }

    /// All keys and their breakers at one moment, in no order. While they are held, they are not
    /// evicted.
    pub fn breakers(&self) -> Vec<(K, Arc<Breaker<C>>)> {
        self.lock().keepers.all()
    }

    /// Each step under the lock leaves all whole, and no closure is called under it.
    fn lock(&self) -> MutexGuard<'_, Kept<K, C>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, C: Clock, S> fmt::Debug for Registry<K, C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}
