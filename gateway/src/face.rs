//! The HTTP face: which path leads where.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;

use crate::admin;
use crate::dashboard;
use crate::gateway::Gateway;
use crate::openai::ApiError;

/// All paths.
pub fn router(gateway: Arc<Gateway>) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .with_state(Arc::clone(&gateway))
        .merge(dashboard::router(Arc::clone(&gateway)))
        .merge(admin::router(gateway))
        .fallback(|| async {
            ApiError::invalid(
                StatusCode::NOT_FOUND,
                "no_such_path",
                "there is nothing at this path",
            )
        })
}

async fn ready(State(gateway): State<Arc<Gateway>>) -> Response {
    if gateway.is_draining() {
        return (StatusCode::SERVICE_UNAVAILABLE, "draining\n").into_response();
    }
    "ready\n".into_response()
}
