//! The body of an operator's call.

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use http::StatusCode;
use serde::de::DeserializeOwned;

use crate::dialect::ApiError;

/// How large it may be.
const LIMIT: usize = 64 << 10;

/// A JSON body. Errors have the shape of all others.
pub(super) struct Body<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let bad =
            |message: String| ApiError::invalid(StatusCode::BAD_REQUEST, "invalid_body", message);
        let body = to_bytes(request.into_body(), LIMIT).await;
        let body = body.map_err(|_| {
            bad(format!(
                "the body is larger than {LIMIT} bytes or broke off"
            ))
        })?;
        let value = serde_json::from_slice(&body);
        value
            .map(Body)
            .map_err(|error| bad(format!("the body cannot be read: {error}")))
    }
}
