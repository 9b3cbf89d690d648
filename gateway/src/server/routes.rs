//! The HTTP face: which path leads where, and behind which door.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::{HeaderValue, Method, StatusCode};
use serde_json::{Value, json};
use tower_http::cors::{AllowHeaders, AllowOrigin, Any, CorsLayer};

use super::connections::Spare;
use super::dashboard;
use crate::auth::{self, Door};
use crate::dialect::ApiError;
use crate::gateway::Gateway;
use crate::path::Named;
use crate::{admin, metrics, proxy};

/// How long a browser may remember that it may call `/v1`.
const PREFLIGHT: Duration = Duration::from_secs(600);

/// All paths. Only whether the process runs and takes requests is told to everyone.
pub(super) fn router(gateway: &Arc<Gateway>) -> Router {
    let clients = Router::new()
        .route("/v1/chat/completions", post(proxy::chat))
        .route("/v1/embeddings", post(proxy::embeddings))
        .route("/v1/models", get(models))
        .route("/v1/models/{*model}", get(model))
        .method_not_allowed_fallback(async || ApiError::wrong_method())
        .with_state(Arc::clone(gateway));
    let measured = Router::new()
        .route("/metrics", get(numbers))
        .method_not_allowed_fallback(async || ApiError::wrong_method())
        .with_state(Arc::clone(gateway));
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .method_not_allowed_fallback(async || ApiError::wrong_method())
        .with_state(Arc::clone(gateway))
        .merge(behind(gateway, Door::Clients, clients))
        .merge(behind(gateway, Door::Metrics, measured))
        .merge(behind(gateway, Door::Page, dashboard::router()))
        .merge(behind(
            gateway,
            Door::Operators,
            admin::router(Arc::clone(gateway)),
        ))
        .fallback(|| async {
            ApiError::invalid(
                StatusCode::NOT_FOUND,
                "no_such_path",
                "there is nothing at this path",
            )
        })
}

/// Puts paths behind a door. What is let in by its key goes first through what browsers need, so that a page of an allowed
/// origin can read why it was refused.
fn behind(gateway: &Arc<Gateway>, door: Door, paths: Router) -> Router {
    let state = || (Arc::clone(gateway), door);
    let paths = paths.layer(from_fn_with_state(state(), enter));
    let paths = match door {
        Door::Clients => paths.layer(cors(gateway)),
        Door::Metrics | Door::Page | Door::Operators => paths,
    };
    paths.layer(from_fn_with_state(state(), check_browser))
}

type Behind = (Arc<Gateway>, Door);

async fn check_browser(
    State((gateway, door)): State<Behind>,
    request: Request,
    next: Next,
) -> Response {
    let (head, body) = request.into_parts();
    let refusal = auth::check_browser(door, &head, &gateway.fleet.load().config.server).err();
    match refusal {
        None => next.run(Request::from_parts(head, body)).await,
        Some(refusal) => refuse(door, refusal),
    }
}

async fn enter(State((gateway, door)): State<Behind>, request: Request, next: Next) -> Response {
    let (mut head, body) = request.into_parts();
    if door == Door::Clients && head.extensions.get::<Spare>().is_some() {
        let message = "the gateway has all the connections it may have; try again soon";
        let error = ApiError::server(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message);
        return refuse(door, error.retry_after(Duration::from_secs(1)));
    }
    let entered = {
        let fleet = gateway.fleet.load();
        auth::enter(door, &head, &fleet.keys, &fleet.config.server)
    };
    match entered {
        Ok(key) => {
            if let Some(key) = key {
                head.extensions.insert(key);
            }
            next.run(Request::from_parts(head, body)).await
        }
        Err(refusal) => refuse(door, refusal),
    }
}

fn refuse(door: Door, refusal: ApiError) -> Response {
    metrics::refused(door, refusal.code);
    refusal.into_response()
}

/// What a browser wants to hear before it lets a page of an allowed origin call `/v1`.
fn cors(gateway: &Arc<Gateway>) -> CorsLayer {
    let gateway = Arc::clone(gateway);
    let allowed = move |origin: &HeaderValue, _: &http::request::Parts| {
        let fleet = gateway.fleet.load();
        let origin = origin.to_str();
        origin.is_ok_and(|origin| auth::allows_origin(&fleet.config.server, origin))
    };
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(allowed))
        .allow_methods([Method::GET, Method::POST])
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(Any)
        .max_age(PREFLIGHT)
}

async fn numbers(State(gateway): State<Arc<Gateway>>) -> String {
    let log = &gateway.requests.log;
    metrics::lost_lines(log.dropped(), log.failed());
    metrics::render(&gateway.fleet.load())
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
    Named(model): Named<String>,
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
