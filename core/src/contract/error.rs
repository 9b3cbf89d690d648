//! The typed error of a refused config.

use alloc::string::String;
use core::error::Error;
use core::fmt;

/// A config value that is not legal. Nothing was built or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    pub(crate) field: &'static str,
    pub(crate) value: String,
    pub(crate) legal: &'static str,
}

impl ConfigError {
    /// The name of the field, as in [`Config`](crate::Config).
    pub const fn field(&self) -> &'static str {
        self.field
    }

    /// The value that was refused.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// The values that are legal.
    pub const fn legal(&self) -> &'static str {
        self.legal
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} = {} is not legal: it must be {}",
            self.field, self.value, self.legal
        )
    }
}

impl Error for ConfigError {}
