//! Rings: a request that comes back to a gateway which it has passed is refused.

use std::hash::{BuildHasher, RandomState};

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::dialect::ApiError;

/// Names the gateways that a request has passed.
const HOPS: HeaderName = HeaderName::from_static("x-cutout-hops");

/// This gateway's name among them, made anew at each start.
#[derive(Clone, Debug)]
pub(crate) struct Hop(String);

impl Default for Hop {
    fn default() -> Self {
        Self(format!("{:016x}", RandomState::new().hash_one(())))
    }
}

impl Hop {
    /// What is said of a request that begins here.
    pub(crate) fn first(&self) -> HeaderValue {
        HeaderValue::try_from(&self.0).unwrap_or_else(|_| HeaderValue::from_static("unnamed"))
    }

    /// What is said of a request that has come.
    ///
    /// # Errors
    ///
    /// It has been here before.
    pub(crate) fn follow(&self, headers: &HeaderMap) -> Result<HeaderValue, ApiError> {
        let mut passed = Vec::new();
        for hops in headers.get_all(HOPS) {
            passed.extend(hops.to_str().unwrap_or_default().split(',').map(str::trim));
        }
        if passed.contains(&self.0.as_str()) {
            let message = "the request has come back to this gateway: a provider's base_url leads here in a loop";
            let mut error = ApiError::server(StatusCode::LOOP_DETECTED, "loop_detected", message);
            error.is_final = true;
            return Err(error);
        }
        passed.push(&self.0);
        Ok(HeaderValue::try_from(passed.join(", ")).unwrap_or_else(|_| self.first()))
    }
}

/// Adds it to the headers of a request.
pub(crate) fn sign(headers: &mut HeaderMap, hops: HeaderValue) {
    headers.insert(HOPS, hops);
}
