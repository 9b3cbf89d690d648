//! How the breakers of a registry are, in short.

use core::fmt;
use core::hash::{BuildHasher, Hash};

use super::Registry;
use crate::contract::clock::Clock;
use crate::contract::state::State;

/// How many breakers of a registry are in which state: [`Registry::health`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegistryHealth {
    /// They admit calls.
    pub closed: usize,
    /// They reject calls, and wait.
    pub open: usize,
    /// They probe, or will with the next call.
    pub half_open: usize,
    /// An operator has forced them open.
    pub forced_open: usize,
    /// An operator has disabled them.
    pub disabled: usize,
    /// An operator has them observe only.
    pub observe_only: usize,
}

impl RegistryHealth {
    /// How many there are.
    pub const fn total(&self) -> usize {
        self.admitting() + self.open + self.half_open + self.forced_open
    }

    /// How many admit every call.
    pub const fn admitting(&self) -> usize {
        self.closed + self.disabled + self.observe_only
    }

    fn count(&mut self, state: State) {
        let count = match state {
            State::Closed => &mut self.closed,
            State::Open => &mut self.open,
            State::HalfOpen => &mut self.half_open,
            State::ForcedOpen => &mut self.forced_open,
            State::Disabled => &mut self.disabled,
            State::ObserveOnly => &mut self.observe_only,
        };
        *count += 1;
    }
}

/// `12 of 14 admit calls: 1 open, 1 half-open, 0 forced open`.
impl fmt::Display for RegistryHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (admitting, total) = (self.admitting(), self.total());
        let Self {
            open,
            half_open,
            forced_open,
            ..
        } = self;
        write!(
            f,
            "{admitting} of {total} admit calls: {open} open, {half_open} half-open, {forced_open} forced open"
        )
    }
}

impl<K, C, S> Registry<K, C, S>
where
    K: Hash + Eq + Clone + Send + Sync,
    C: Clock + Clone,
    S: BuildHasher,
{
    /// How many breakers are in which state, for whoever asks whether this process is well.
    ///
    /// It looks at each breaker once, without a lock and without counting as use; of keys that come or go meanwhile some are counted.
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::registry::Registry;
    ///
    /// let registry = Registry::builder(|host: &String| host.clone()).build()?;
    /// registry.get_or_create("a.example")?;
    /// registry.get_or_create("b.example")?.force_open(None, "moved");
    /// let health = registry.health();
    /// assert_eq!((health.closed, health.forced_open), (1, 1));
    /// assert_eq!(health.to_string(), "1 of 2 admit calls: 0 open, 0 half-open, 1 forced open");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn health(&self) -> RegistryHealth {
        let mut health = RegistryHealth::default();
        self.for_each(|_, breaker| health.count(breaker.state()));
        health
    }
}
