//! Names in paths.

use axum::extract::{FromRequestParts, Path};
use http::StatusCode;
use http::request::Parts;
use serde::de::DeserializeOwned;

use crate::dialect::ApiError;

/// What stands in a path in place of its variables, decoded. What cannot be is refused in the shape of all errors.
pub(crate) struct Named<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Named<T> {
    type Rejection = ApiError;

    async fn from_request_parts(head: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Path::from_request_parts(head, state).await {
            Ok(Path(names)) => Ok(Self(names)),
            Err(error) => {
                let message = format!("the path cannot be read: {}", error.body_text());
                Err(ApiError::invalid(
                    StatusCode::BAD_REQUEST,
                    "invalid_path",
                    message,
                ))
            }
        }
    }
}
