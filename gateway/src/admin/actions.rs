//! What an operator can do.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::fleet::Upstream;
use crate::gateway::Gateway;
use crate::openai::ApiError;

/// The body of a breaker action.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Action {
    reason: String,
    seconds: Option<f64>,
}

/// `POST /admin/breakers/{name}/{action}`.
pub(super) async fn operate(
    State(gateway): State<Arc<Gateway>>,
    Path((name, action)): Path<(String, String)>,
    Json(body): Json<Action>,
) -> Result<Json<Value>, ApiError> {
    let upstream = find(&gateway, &name)?;
    let breaker = &upstream.breaker;
    let reason = body.reason.trim();
    if reason.is_empty() || reason.len() > 200 {
        let message = "say in 1 to 200 bytes why";
        return Err(
            ApiError::invalid(StatusCode::BAD_REQUEST, "no_reason", message).param("reason"),
        );
    }
    match action.as_str() {
        "force_open" => {
            let how_long = body.seconds.map(Duration::try_from_secs_f64).transpose();
            let how_long = how_long.map_err(|_| {
                let message = "seconds must be a number from 0 on";
                ApiError::invalid(StatusCode::BAD_REQUEST, "bad_seconds", message).param("seconds")
            })?;
            breaker.force_open(how_long, reason);
        }
        "close" => breaker.close(reason),
        "disable" => breaker.disable(reason),
        "observe_only" => breaker.observe_only(reason),
        _ => {
            let message = format!("there is no action {action:?}");
            return Err(ApiError::invalid(
                StatusCode::NOT_FOUND,
                "no_such_action",
                message,
            ));
        }
    }
    Ok(Json(json!({ "ok": true })))
}

/// `POST /admin/breakers/{name}/probe`.
pub(super) async fn probe(
    State(gateway): State<Arc<Gateway>>,
    Path(name): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let _ = find(&gateway, &name)?;
    Ok(Json(
        json!({ "ok": false, "took_ms": 0, "counted": false, "error": "not yet built" }),
    ))
}

/// The body of a move.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Move {
    version: String,
    breaker: String,
    model: String,
    to: usize,
}

/// `POST /admin/routes/{model}/move`.
pub(super) async fn move_entry(
    State(gateway): State<Arc<Gateway>>,
    Path(model): Path<String>,
    Json(body): Json<Move>,
) -> Result<Json<Value>, ApiError> {
    let _ = (
        gateway,
        model,
        body.version,
        body.breaker,
        body.model,
        body.to,
    );
    Err(ApiError::server(
        StatusCode::NOT_IMPLEMENTED,
        "not_built",
        "not yet built",
    ))
}

fn find(gateway: &Gateway, name: &str) -> Result<Arc<Upstream>, ApiError> {
    gateway
        .fleet
        .load()
        .upstreams
        .get(name)
        .cloned()
        .ok_or_else(|| {
            let message = format!("there is no breaker {name:?}");
            ApiError::invalid(StatusCode::NOT_FOUND, "no_such_breaker", message)
        })
}
