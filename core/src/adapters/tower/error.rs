//! Errors for layers that want them boxed.

use alloc::boxed::Box;
use core::error::Error;

use crate::breaker::rejected::CallError;

impl<E: Into<Box<dyn Error + Send + Sync>>> CallError<E> {
    /// The rejection or the inner error, boxed; an inner error that is boxed already is not
    /// boxed again. Either is found with `downcast_ref`.
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::{Breaker, CallError, Rejected};
    ///
    /// let breaker = Breaker::builder().build()?;
    /// breaker.force_open(None, "maintenance");
    /// let result = breaker.call(|| "42".parse::<u32>()).map_err(CallError::into_boxed);
    /// assert!(result.unwrap_err().is::<Rejected>());
    /// # Ok::<(), cutout::ConfigError>(())
    /// ```
    pub fn into_boxed(self) -> Box<dyn Error + Send + Sync> {
        match self {
            Self::Rejected(rejected) => Box::new(rejected),
            Self::Inner(error) => error.into(),
        }
    }
}
