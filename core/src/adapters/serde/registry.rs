//! How a registry's config is written.

use super::wire::{OrNone, Span};
use crate::contract::config::Config;
use crate::contract::throttle::ThrottleConfig;
use crate::registry::RegistryConfig;

record!(RegistryConfig {
    breaker: Config = RegistryConfig::default().breaker,
    throttle: OrNone<ThrottleConfig> = RegistryConfig::default().throttle,
    max_keys: usize = RegistryConfig::default().max_keys,
    idle: OrNone<Span> = RegistryConfig::default().idle,
    forget: OrNone<Span> = RegistryConfig::default().forget,
});
