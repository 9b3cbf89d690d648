//! What a registry must do: one breaker for each key, let go of only when nobody can miss it.

mod configs;
mod eviction;
mod health;
mod interleaved;
mod programs;
mod threads;
mod throttle;

use std::time::Duration;

use cutout::registry::{Registry, RegistryBuilder, RegistryConfig};
use cutout::{Config, ManualClock};

const IDLE: Duration = Duration::from_secs(60);

/// Breakers that open at the first failure, evicted after a minute.
fn config(max_keys: usize) -> RegistryConfig {
    RegistryConfig {
        breaker: Config::default().with(|config| {
            config.min_calls = Some(1);
            config.consecutive_failures = Some(1);
        }),
        max_keys,
        idle: Some(IDLE),
        forget: None,
        ..RegistryConfig::default()
    }
}

fn builder(clock: &ManualClock, max_keys: usize) -> RegistryBuilder<String, ManualClock> {
    RegistryBuilder::new(clock.clone(), String::clone).config(config(max_keys))
}

fn registry(clock: &ManualClock, max_keys: usize) -> Registry<String, ManualClock> {
    builder(clock, max_keys).build().unwrap()
}
