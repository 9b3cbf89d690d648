//! The models that clients may ask for, listed as each dialect lists them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, Uri};
use serde_json::{Value, json};

use crate::clock::rfc3339;
use crate::dialect::{ApiError, Dialect};
use crate::gateway::Gateway;
use crate::path::Named;

/// All models of the dialect.
pub(super) async fn all(
    State(gateway): State<Arc<Gateway>>,
    uri: Uri,
    headers: HeaderMap,
) -> Json<Value> {
    let dialect = Dialect::of_request(&uri, &headers);
    let fleet = gateway.fleet.load();
    let routes = fleet.routes.iter();
    let mut names: Vec<_> = routes
        .filter(|(_, route)| route.dialect == dialect)
        .map(|(name, _)| name)
        .collect();
    names.sort();
    let data: Vec<_> = names
        .iter()
        .map(|name| described(dialect, &gateway, name))
        .collect();
    Json(match dialect {
        Dialect::OpenAi => json!({ "object": "list", "data": data }),
        Dialect::Anthropic => json!({
            "data": data, "has_more": false, "first_id": names.first(), "last_id": names.last(),
        }),
        Dialect::Gemini => json!({ "models": data }),
    })
}

/// One model of the dialect.
pub(super) async fn one(
    State(gateway): State<Arc<Gateway>>,
    Named(model): Named<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let dialect = Dialect::of_request(&uri, &headers);
    let fleet = gateway.fleet.load();
    let route = fleet.route(&model);
    if route.is_some_and(|route| route.dialect == dialect) {
        return Json(described(dialect, &gateway, &model)).into_response();
    }
    let message = format!("the model {model:?} does not exist here");
    ApiError::invalid(StatusCode::NOT_FOUND, "model_not_found", message)
        .param("model")
        .to_response(dialect)
}

fn described(dialect: Dialect, gateway: &Gateway, model: &str) -> Value {
    match dialect {
        Dialect::OpenAi => json!({
            "id": model, "object": "model", "created": gateway.started_ms / 1000, "owned_by": "cutout-gateway",
        }),
        Dialect::Anthropic => json!({
            "type": "model", "id": model, "display_name": model, "created_at": rfc3339(gateway.started_ms),
        }),
        Dialect::Gemini => json!({
            "name": format!("models/{model}"), "displayName": model,
            "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
        }),
    }
}
