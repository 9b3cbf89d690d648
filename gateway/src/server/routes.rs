//! The HTTP face: which path leads where, and behind which door.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode, header};
use tower_http::cors::{AllowHeaders, AllowOrigin, Any, CorsLayer};
use tower_service::Service;

use super::entrance::{check_browser, enter};
use super::{dashboard, models, ready};
use crate::auth::{self, Door};
use crate::dialect::{ApiError, Dialect, Endpoint};
use crate::gateway::Gateway;
use crate::path::Named;
use crate::{admin, metrics, proxy};

/// How long a browser may remember that it may call `/v1`.
const PREFLIGHT: Duration = Duration::from_secs(600);

/// All paths, each behind its door.
#[derive(Clone)]
pub(super) struct Paths {
    gateway: Arc<Gateway>,
    clients: Router,
    /// The same for pages in browsers.
    pages: Router,
    others: Router,
}

impl Paths {
    pub(super) fn new(gateway: &Arc<Gateway>) -> Self {
        let clients = clients(gateway);
        // A page of an allowed origin can read why it was refused.
        let pages = clients
            .clone()
            .layer(from_fn_with_state(
                (Arc::clone(gateway), Door::Clients),
                knock,
            ))
            .layer(cors(gateway));
        Self {
            gateway: Arc::clone(gateway),
            clients,
            pages,
            others: others(gateway),
        }
    }

    /// Answers a request. One to a model goes through no layer: each would cost it a copy of all paths.
    pub(super) async fn answer(mut self, request: Request) -> Response {
        let path = request.uri().path();
        if !CLIENTS.iter().any(|clients| path.starts_with(clients)) {
            return infallible(self.others.call(request).await);
        }
        let (mut head, body) = request.into_parts();
        if let Some(refusal) = check_browser(&self.gateway, Door::Clients, &head) {
            return refusal;
        }
        if head.headers.contains_key(header::ORIGIN) {
            return infallible(self.pages.call(Request::from_parts(head, body)).await);
        }
        match enter(&self.gateway, Door::Clients, &mut head) {
            Some(refusal) => refusal,
            None => infallible(self.clients.call(Request::from_parts(head, body)).await),
        }
    }
}

fn infallible(answer: Result<Response, Infallible>) -> Response {
    let Ok(answer) = answer;
    answer
}

/// What the paths of the clients' door begin with.
const CLIENTS: [&str; 2] = ["/v1/", "/v1beta/"];

/// The paths that are none of the clients'. Only whether the process runs and takes requests is told to everyone.
fn others(gateway: &Arc<Gateway>) -> Router {
    let measured = Router::new()
        .route("/metrics", get(numbers))
        .method_not_allowed_fallback(async || ApiError::wrong_method())
        .with_state(Arc::clone(gateway));
    let behind = |door, paths: Router| {
        let paths = paths.layer(from_fn_with_state((Arc::clone(gateway), door), knock));
        paths.layer(from_fn_with_state((Arc::clone(gateway), door), look))
    };
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready::answer))
        .method_not_allowed_fallback(async || ApiError::wrong_method())
        .with_state(Arc::clone(gateway))
        .merge(behind(Door::Metrics, measured))
        .merge(behind(Door::Page, dashboard::router()))
        .merge(behind(Door::Operators, admin::router(Arc::clone(gateway))))
        .fallback(no_such_path)
}

async fn no_such_path(request: Request) -> Response {
    let message = "there is nothing at this path";
    ApiError::invalid(StatusCode::NOT_FOUND, "no_such_path", message)
        .to_response(Dialect::of_request(request.uri(), request.headers()))
}

/// What is behind the clients' door.
fn clients(gateway: &Arc<Gateway>) -> Router {
    let paths = Endpoint::AT_PATHS.into_iter();
    let paths = paths.fold(Router::new(), |paths, endpoint| {
        let ask = async move |State(gateway), request| {
            let model = None;
            proxy::handle(gateway, proxy::Path { endpoint, model }, request).await
        };
        paths.route(&endpoint.client_path(), post(ask))
    });
    paths
        .route("/v1/models", get(models::all))
        .route("/v1beta/models", get(models::all))
        .route("/v1/models/{*model}", get(models::one).post(verb))
        .route("/v1beta/models/{*model}", get(models::one).post(verb))
        .method_not_allowed_fallback(async |request: Request| {
            ApiError::wrong_method()
                .to_response(Dialect::of_request(request.uri(), request.headers()))
        })
        .fallback(no_such_path)
        .with_state(Arc::clone(gateway))
}

/// Gemini's way to name a model and what to do with it: `model:verb`.
async fn verb(
    State(gateway): State<Arc<Gateway>>,
    Named(action): Named<String>,
    request: Request,
) -> Response {
    let (model, verb) = action.rsplit_once(':').unwrap_or((&action, ""));
    match Endpoint::of_verb(verb) {
        Some(endpoint) => {
            let model = Some(model.to_owned());
            proxy::handle(gateway, proxy::Path { endpoint, model }, request).await
        }
        None => {
            let message = format!(
                "models can be asked to generateContent, streamGenerateContent and countTokens, not to {verb:?}"
            );
            ApiError::invalid(StatusCode::NOT_FOUND, "no_such_path", message)
                .to_response(Dialect::Gemini)
        }
    }
}

type Behind = (Arc<Gateway>, Door);

async fn look(State((gateway, door)): State<Behind>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    match check_browser(&gateway, door, &head) {
        Some(refusal) => refusal,
        None => next.run(Request::from_parts(head, body)).await,
    }
}

async fn knock(State((gateway, door)): State<Behind>, request: Request, next: Next) -> Response {
    let (mut head, body) = request.into_parts();
    match enter(&gateway, door, &mut head) {
        Some(refusal) => refusal,
        None => next.run(Request::from_parts(head, body)).await,
    }
}

/// What a browser wants to hear before it lets a page of an allowed origin call `/v1`.
fn cors(gateway: &Arc<Gateway>) -> CorsLayer {
    let gateway = Arc::clone(gateway);
    let allowed = move |origin: &HeaderValue, _: &Parts| {
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
    if let Some(replicas) = &gateway.replicas {
        replicas.record_metrics();
    }
    metrics::render(&gateway.fleet.load())
}
