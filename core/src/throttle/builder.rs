//! Building a throttle.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crossbeam_utils::CachePadded;

use crate::breaker::name::Name;
use crate::breaker::seed;
use crate::breaker::watch::{CallEvent, CallListener, Watch};
use crate::contract::clock::{Clock, SystemClock};
use crate::contract::error::ConfigError;
use crate::contract::throttle::ThrottleConfig;
use crate::engine::chance::Chance;
use crate::engine::sync::AtomicU64;
use crate::engine::window::time::Timeline;
use crate::throttle::Throttle;

/// Builds a [`Throttle`].
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use cutout::{Throttle, ThrottleConfig};
///
/// let throttle = Throttle::builder()
///     .name("search")
///     .config(ThrottleConfig { length: Duration::from_secs(30), ..ThrottleConfig::default() })
///     .build()?;
/// assert_eq!(throttle.name(), "search");
/// # Ok::<(), cutout::ConfigError>(())
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct ThrottleBuilder<C = SystemClock> {
    config: ThrottleConfig,
    name: String,
    seed: Option<u64>,
    totals: bool,
    call_listeners: Vec<CallListener>,
    clock: C,
}

#[cfg(feature = "std")]
impl Throttle {
    /// Starts building a throttle.
    pub fn builder() -> ThrottleBuilder {
        ThrottleBuilder::with_clock(SystemClock::new())
    }
}

impl<C> ThrottleBuilder<C> {
    /// Starts building a throttle on a clock of your own: the way in without the `std` feature.
    pub const fn with_clock(clock: C) -> Self {
        Self {
            config: ThrottleConfig::DEFAULT,
            name: String::new(),
            seed: None,
            totals: false,
            call_listeners: Vec::new(),
            clock,
        }
    }

    /// Sets the config.
    pub const fn config(mut self, config: ThrottleConfig) -> Self {
        self.config = config;
        self
    }

    /// Names the throttle, for rejections and metrics.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the clock.
    pub fn clock<D>(self, clock: D) -> ThrottleBuilder<D> {
        ThrottleBuilder {
            config: self.config,
            name: self.name,
            seed: self.seed,
            totals: self.totals,
            call_listeners: self.call_listeners,
            clock,
        }
    }

    /// Draws from this seed who is refused, the same in each run: for tests and simulations. Draws are then counted in one
    /// place for all threads. Without it each thread draws from numbers of its own.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Counts calls by how they end, and refused ones, for [`Throttle::totals`]. Off by default; what it
    /// costs is said at [`Builder::totals`](crate::Builder::totals).
    pub const fn totals(mut self, keep: bool) -> Self {
        self.totals = keep;
        self
    }

    /// Adds a listener for calls, as [`Builder::call_listener`](crate::Builder::call_listener) does.
    pub fn call_listener(
        mut self,
        listener: impl Fn(&str, &CallEvent) + Send + Sync + 'static,
    ) -> Self {
        self.call_listeners.push(Box::new(listener));
        self
    }
}

impl<C: Clock> ThrottleBuilder<C> {
    /// Checks the config and builds the throttle.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first illegal field.
    pub fn build(self) -> Result<Throttle<C>, ConfigError> {
        let config = self.config;
        config.validate()?;
        let name: Box<str> = self.name.into();
        Ok(Throttle {
            timeline: Timeline::new(config.length, config.buckets),
            next_probe: CachePadded::new(AtomicU64::new(0)),
            config,
            chance: Chance::new(self.seed, seed::random),
            start: self.clock.now(),
            clock: self.clock,
            watch: Watch::new(self.totals, name.clone(), self.call_listeners).map(Box::new),
            name: (!name.is_empty()).then(|| Box::new(Name::new(name))),
        })
    }
}

impl<C> fmt::Debug for ThrottleBuilder<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThrottleBuilder")
            .field("config", &self.config)
            .field("name", &self.name)
            .field("seed", &self.seed)
            .field("totals", &self.totals)
            .finish_non_exhaustive()
    }
}
