//! What a registry is told, and what it refuses.

use alloc::format;
use alloc::string::String;
use core::error::Error;
use core::fmt;
use core::time::Duration;

use crate::contract::config::Config;
use crate::contract::error::ConfigError;
use crate::contract::throttle::ThrottleConfig;

/// The configuration of a [`Registry`](super::Registry).
///
/// A plain value; [`RegistryBuilder::build`](super::RegistryBuilder::build) checks it.
///
/// | field | default | legal |
/// | --- | --- | --- |
/// | `breaker` | [`Config::default`] | what [`Config::validate`] accepts |
/// | `throttle` | none | what [`ThrottleConfig::validate`] accepts; or none |
/// | `max_keys` | 10 000 | 1 or more |
/// | `idle` | 1 hour | above zero; or none |
/// | `forget` | 1 hour | above zero; or none |
///
/// # Examples
///
/// ```
/// use cutout::registry::RegistryConfig;
///
/// let config = RegistryConfig { max_keys: 500, ..RegistryConfig::default() };
/// assert!(config.validate().is_ok());
///
/// let refused = RegistryConfig { max_keys: 0, ..config }.validate().unwrap_err();
/// assert_eq!(refused.to_string(), "max_keys = 0 is not legal: it must be 1 or more");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegistryConfig {
    /// The config of the breakers.
    pub breaker: Config,
    /// The config of the throttles beside them, which [`Registry::gate`](super::Registry::gate) finds; `None` for no throttle.
    pub throttle: Option<ThrottleConfig>,
    /// The most breakers at a time.
    pub max_keys: usize,
    /// How long a closed breaker must be unused to be evicted; `None` to evict
    /// only when the registry is full.
    pub idle: Option<Duration>,
    /// How long a breaker that has opened must be unused, its wait over, to be
    /// evicted too; `None` to keep it for ever, which fills the registry with keys that nobody
    /// asks for any more.
    ///
    /// What it knew is lost: its key starts again closed, so an upstream that is still down gets as many
    /// calls as it takes to open, in place of one probe. It is never evicted while its wait goes
    /// on, whatever the pressure. To keep what it knew for longer, choose a longer time; or store its
    /// [`Snapshot`](crate::Snapshot) and restore it in [`prepare`](super::RegistryBuilder::prepare).
    pub forget: Option<Duration>,
}

impl Default for RegistryConfig {
    fn default() -> Self {
        Self {
            breaker: Config::default(),
            throttle: None,
            max_keys: 10_000,
            idle: Some(Duration::from_secs(3600)),
            forget: Some(Duration::from_secs(3600)),
        }
    }
}

impl RegistryConfig {
    /// Checks every field.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first illegal field, its value, and
    /// what is legal.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.breaker.validate()?;
        if let Some(throttle) = &self.throttle {
            throttle.validate()?;
        }
        if self.max_keys == 0 {
            return Err(ConfigError {
                field: "max_keys",
                value: String::from("0"),
                legal: "1 or more",
            });
        }
        for (field, wait) in [("idle", self.idle), ("forget", self.forget)] {
            if wait == Some(Duration::ZERO) {
                return Err(ConfigError {
                    field,
                    value: format!("{:?}", Duration::ZERO),
                    legal: "above zero, or none",
                });
            }
        }
        Ok(())
    }
}

/// Why a registry has no breaker for a key, or did not take a config.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistryError {
    /// There are as many breakers as there may be, and none was found that could be evicted.
    Full {
        /// How many that is.
        max_keys: usize,
    },
    /// The registry's config is not legal.
    Config(ConfigError),
    /// The config of a key is not legal.
    KeyConfig {
        /// The breaker's name.
        name: String,
        /// What is wrong with it.
        error: ConfigError,
    },
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { max_keys } => write!(
                f,
                "the registry holds {max_keys} breakers, the most it may, and all are in use, open or \
                 recently used: raise max_keys, or go without a breaker of its own for this key"
            ),
            Self::Config(error) => error.fmt(f),
            Self::KeyConfig { name, error } => write!(f, "the config of `{name}`: {error}"),
        }
    }
}

impl Error for RegistryError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Full { .. } => None,
            Self::Config(error) | Self::KeyConfig { error, .. } => Some(error),
        }
    }
}
