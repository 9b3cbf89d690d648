//! What a rejected call is answered.

use core::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderValue, Response, StatusCode};

use crate::breaker::rejected::{CallError, Rejected};
use crate::contract::state::State;

/// A 503 with an empty body and, if a clock can tell, `Retry-After` in whole seconds, rounded up.
impl<B: Default> From<Rejected> for Response<B> {
    fn from(rejected: Rejected) -> Self {
        let mut response = Self::default();
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        // When a probe ends no clock can tell, only when it must have.
        let is_known =
            |wait: &Duration| *wait < Duration::MAX && rejected.state() != State::HalfOpen;
        if let Some(wait) = rejected.retry_after().filter(is_known) {
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            let seconds = HeaderValue::from(seconds);
            response.headers_mut().insert(RETRY_AFTER, seconds);
        }
        response
    }
}

impl<E> CallError<E> {
    /// Answers a rejected call with a 503: see `From<Rejected>` of `http::Response`.
    ///
    /// # Errors
    ///
    /// The error of a call that was made.
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::{Breaker, CallError};
    /// use http::Response;
    ///
    /// let breaker = Breaker::builder().build()?;
    /// breaker.force_open(None, "maintenance");
    /// let result: Result<Response<String>, CallError<std::io::Error>> =
    ///     breaker.call(|| Ok(Response::new("pong".into())));
    /// let response = result.or_else(CallError::answer).unwrap();
    /// assert_eq!(response.status(), 503);
    /// # Ok::<(), cutout::ConfigError>(())
    /// ```
    pub fn answer<B: Default>(self) -> Result<Response<B>, E> {
        match self {
            Self::Rejected(rejected) => Ok(rejected.into()),
            Self::Inner(error) => Err(error),
        }
    }
}
