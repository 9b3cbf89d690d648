//! The HTTP face: which path leads where.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::StatusCode;
use serde_json::{Value, json};

use super::dashboard;
use crate::admin;
use crate::dialect::ApiError;
use crate::gateway::Gateway;
use crate::{metrics, proxy};

/// All paths.
pub(super) fn router(gateway: Arc<Gateway>) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route(
            "/metrics",
            get(async |State(gateway): State<Arc<Gateway>>| metrics::render(&gateway.fleet.load())),
        )
        .route("/v1/chat/completions", post(proxy::chat))
        .route("/v1/embeddings", post(proxy::embeddings))
        .route("/v1/models", get(models))
        .route("/v1/models/{*model}", get(model))
        .with_state(Arc::clone(&gateway))
        .merge(dashboard::router(Arc::clone(&gateway)))
        .merge(admin::router(gateway))
        .method_not_allowed_fallback(async || ApiError::wrong_method())
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

async fn models(State(gateway): State<Arc<Gateway>>) -> Json<Value> {
    let fleet = gateway.fleet.load();
    let mut names: Vec<_> = fleet.routes.keys().collect();
    names.sort();
    let data: Vec<_> = names
        .into_iter()
        .map(|name| described(&gateway, name))
        .collect();
    Json(json!({ "object": "list", "data": data }))
}

async fn model(
    State(gateway): State<Arc<Gateway>>,
    Path(model): Path<String>,
) -> Result<Json<Value>, ApiError> {
    if gateway.fleet.load().routes.contains_key(&model) {
        return Ok(Json(described(&gateway, &model)));
    }
    let message = format!("the model {model:?} does not exist here");
    Err(ApiError::invalid(StatusCode::NOT_FOUND, "model_not_found", message).param("model"))
}

fn described(gateway: &Gateway, model: &str) -> Value {
    json!({
        "id": model,
        "object": "model",
        "created": gateway.started_ms / 1000,
        "owned_by": "cutout-gateway",
    })
}
