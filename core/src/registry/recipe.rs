//! How a registry makes a breaker for a key.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::breaker::builder::Builder;
use crate::contract::clock::Clock;
use crate::contract::config::Config;
use crate::contract::event::Event;
use crate::contract::throttle::ThrottleConfig;
use crate::throttle::builder::ThrottleBuilder;

type Name<K> = Box<dyn Fn(&K) -> String + Send + Sync>;
type Configure<K> = Box<dyn Fn(&K, Config) -> Config + Send + Sync>;
type Prepare<K, C> = Box<dyn Fn(&K, Builder<C>) -> Builder<C> + Send + Sync>;
type ConfigureThrottle<K> =
    Box<dyn Fn(&K, Option<ThrottleConfig>) -> Option<ThrottleConfig> + Send + Sync>;
type PrepareThrottle<K, C> =
    Box<dyn Fn(&K, ThrottleBuilder<C>) -> ThrottleBuilder<C> + Send + Sync>;
type Listener = Arc<dyn Fn(&str, &Event) + Send + Sync>;

/// How a registry makes a breaker for a key, and the throttle beside it.
pub(super) struct Recipe<K, C> {
    pub(super) name: Name<K>,
    pub(super) configure: Option<Configure<K>>,
    pub(super) prepare: Option<Prepare<K, C>>,
    pub(super) configure_throttle: Option<ConfigureThrottle<K>>,
    pub(super) prepare_throttle: Option<PrepareThrottle<K, C>>,
    pub(super) listeners: Vec<Listener>,
}

impl<K, C: Clock> Recipe<K, C> {
    pub(super) fn name(&self, key: &K) -> String {
        (self.name)(key)
    }

    pub(super) fn config(&self, key: &K, default: Config) -> Config {
        match &self.configure {
            Some(configure) => configure(key, default),
            None => default,
        }
    }

    pub(super) fn throttle_config(
        &self,
        key: &K,
        default: Option<ThrottleConfig>,
    ) -> Option<ThrottleConfig> {
        match &self.configure_throttle {
            Some(configure) => configure(key, default),
            None => default,
        }
    }

    pub(super) fn throttle_builder(&self, key: &K, clock: C) -> ThrottleBuilder<C> {
        let mut builder = ThrottleBuilder::with_clock(clock);
        if let Some(prepare) = &self.prepare_throttle {
            builder = prepare(key, builder);
        }
        builder.name(self.name(key))
    }

    pub(super) fn builder(&self, key: &K, clock: C) -> Builder<C> {
        let mut builder = Builder::new(clock);
        if let Some(prepare) = &self.prepare {
            builder = prepare(key, builder);
        }
        let name = self.name(key);
        if !self.listeners.is_empty() {
            let name: Arc<str> = name.as_str().into();
            for listener in &self.listeners {
                let (name, listener) = (Arc::clone(&name), Arc::clone(listener));
                builder = builder.listener(move |event| listener(&name, event));
            }
        }
        builder.name(name)
    }
}
