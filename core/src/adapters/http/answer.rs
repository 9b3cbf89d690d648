//! What a rejected call is answered.

use alloc::format;
use alloc::string::String;
use core::fmt;
use core::time::Duration;

use http::header::{CONTENT_TYPE, RETRY_AFTER};
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

impl Rejected {
    /// The rejection in gRPC's terms: UNAVAILABLE in the headers, as of a call that fails early,
    /// and, if a clock can tell, `grpc-retry-pushback-ms` in whole milliseconds, rounded up.
    pub fn into_grpc<B: Default>(self) -> Response<B> {
        let mut response = Response::new(B::default());
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        headers.insert("grpc-status", HeaderValue::from_static("14"));
        // Its text is plain ASCII but for the name, which is percent-encoded as the protocol has it.
        if let Ok(message) = HeaderValue::try_from(percent_encoded(&self)) {
            headers.insert("grpc-message", message);
        }
        if let Some(wait) = self.retry_after().filter(|wait| *wait < Duration::MAX) {
            let millis = wait.as_nanos().div_ceil(1_000_000);
            let millis = u64::try_from(millis).unwrap_or(u64::MAX);
            headers.insert("grpc-retry-pushback-ms", HeaderValue::from(millis));
        }
        response
    }
}

/// A text as `grpc-message` carries it.
fn percent_encoded(text: &impl fmt::Display) -> String {
    let mut encoded = String::new();
    for byte in format!("{text}").bytes() {
        match byte {
            b' '..=b'~' if byte != b'%' => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
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

    /// Answers a rejected call in gRPC's terms: see [`Rejected::into_grpc`].
    ///
    /// A client of `tonic` over such a service sees `Code::Unavailable`, where a boxed rejection would be
    /// `Code::Unknown` to it: put `map_result(|result| result.or_else(CallError::answer_grpc))` around
    /// the breaker's layer. Where the rejection was boxed on its way, `error.downcast::<Rejected>()` finds it, and
    /// [`Rejected::into_grpc`] answers: the example `tonic` of the stack tests does that.
    ///
    /// # Errors
    ///
    /// The error of a call that was made.
    pub fn answer_grpc<B: Default>(self) -> Result<Response<B>, E> {
        match self {
            Self::Rejected(rejected) => Ok(rejected.into_grpc()),
            Self::Inner(error) => Err(error),
        }
    }
}
