//! What an operator can do.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::body::Body;
use crate::change::NotChanged;
use crate::checks;
use crate::config::edit::{self, Refused};
use crate::dialect::ApiError;
use crate::gateway::Gateway;
use crate::path::Named;
use crate::providers::{Fleet, Upstream};
use crate::replicas::Order;

/// The body of a breaker action.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Action {
    reason: String,
    seconds: Option<f64>,
    author: Option<String>,
}

/// `POST /admin/breakers/{name}/{action}`.
pub(super) async fn operate(
    State(gateway): State<Arc<Gateway>>,
    Named((name, action)): Named<(String, String)>,
    Body(body): Body<Action>,
) -> Result<Json<Value>, ApiError> {
    let upstream = find(&gateway, &name)?;
    let reason = body.reason.trim();
    if reason.is_empty() || reason.len() > 200 {
        let message = "say in 1 to 200 bytes why";
        return Err(
            ApiError::invalid(StatusCode::BAD_REQUEST, "no_reason", message).param("reason"),
        );
    }
    let author = body.author.as_deref().map(str::trim);
    let author = author.filter(|author| !author.is_empty());
    if author.is_some_and(|author| author.len() > 100) {
        let message = "say in up to 100 bytes who you are";
        let error = ApiError::invalid(StatusCode::BAD_REQUEST, "bad_author", message);
        return Err(error.param("author"));
    }
    let order = match action.as_str() {
        "force_open" => Order::ForceOpen(how_long(body.seconds)?),
        "close" => Order::Close,
        "disable" => Order::Disable,
        "observe_only" => Order::ObserveOnly,
        "resume" => Order::Resume,
        _ => {
            let message = format!("there is no action {action:?}");
            return Err(ApiError::invalid(
                StatusCode::NOT_FOUND,
                "no_such_action",
                message,
            ));
        }
    };
    if order == Order::Resume && !is_set(upstream.breaker.state()) {
        let message = "no operator has set this breaker, so there is nothing to go back to";
        return Err(ApiError::invalid(StatusCode::CONFLICT, "not_set", message));
    }
    match (&gateway.replicas, author) {
        (Some(replicas), _) => replicas.order(&name, order, reason, author).map_err(busy)?,
        (None, Some(author)) => order.carry_out(&upstream.breaker, &format!("{reason} ({author})")),
        (None, None) => order.carry_out(&upstream.breaker, reason),
    }
    Ok(Json(json!({ "ok": true })))
}

/// For how long a breaker is forced open.
fn how_long(seconds: Option<f64>) -> Result<Option<Duration>, ApiError> {
    let how_long = seconds.map(Duration::try_from_secs_f64).transpose();
    match how_long {
        Ok(how_long) if how_long != Some(Duration::ZERO) => Ok(how_long),
        _ => {
            let message = "seconds must be a number above 0; without it the breaker stays open until told otherwise";
            let error = ApiError::invalid(StatusCode::BAD_REQUEST, "bad_seconds", message);
            Err(error.param("seconds"))
        }
    }
}

/// Whether it is an operator's state.
fn is_set(state: cutout::State) -> bool {
    use cutout::State::{Disabled, ForcedOpen, ObserveOnly};
    matches!(state, ForcedOpen | Disabled | ObserveOnly)
}

fn busy(why: String) -> ApiError {
    ApiError::server(StatusCode::SERVICE_UNAVAILABLE, "busy", why)
}

/// `POST /admin/breakers/{name}/probe`.
pub(super) async fn probe(
    State(gateway): State<Arc<Gateway>>,
    Named(name): Named<String>,
) -> Result<Json<Value>, ApiError> {
    let upstream = find(&gateway, &name)?;
    let Some(result) = checks::now(&gateway, &upstream).await else {
        let message = "there is no model to ask it for: no route has it";
        return Err(ApiError::invalid(StatusCode::CONFLICT, "no_model", message));
    };
    Ok(Json(json!({
        "ok": result.error.is_none(),
        "took_ms": result.took_ms,
        "counted": result.counted,
        "error": result.error,
    })))
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
    Named(model): Named<String>,
    Body(body): Body<Move>,
) -> Result<Json<Value>, ApiError> {
    let version = body.version.clone();
    change(gateway, version, move |fleet| {
        let nowhere = || Refused::NoSuchField(format!("the entry {:?} of {model:?}", body.breaker));
        let routes = &fleet.config.route;
        let route = routes
            .iter()
            .position(|route| route.model == model)
            .ok_or_else(nowhere)?;
        let members = fleet
            .routes
            .get(&model)
            .ok_or_else(nowhere)?
            .queue
            .members();
        // The queue as it is written; the canary, which stands last, is not a part of it.
        let from = members[..routes[route].queue.len()]
            .iter()
            .position(|member| {
                let target = member.payload();
                target.upstream.name == body.breaker && target.model == body.model
            });
        edit::move_entry(&fleet.text, route, from.ok_or_else(nowhere)?, body.to)
    })
    .await
}

/// The body of a `PATCH` of the configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SetField {
    version: String,
    field: String,
    /// `null` takes the field out.
    value: Value,
}

/// `PATCH /admin/config`.
pub(super) async fn set_field(
    State(gateway): State<Arc<Gateway>>,
    Body(body): Body<SetField>,
) -> Result<Json<Value>, ApiError> {
    let version = body.version.clone();
    change(gateway, version, move |fleet| {
        edit::set(&fleet.text, &body.field, &body.value)
    })
    .await
}

/// `GET /admin/config`.
pub(super) async fn read_config(State(gateway): State<Arc<Gateway>>) -> Json<Value> {
    let fleet = gateway.fleet.load();
    Json(json!({ "version": fleet.version.to_string(), "text": fleet.text }))
}

async fn change(
    gateway: Arc<Gateway>,
    version: String,
    edit: impl FnOnce(&Fleet) -> Result<String, Refused> + Send + 'static,
) -> Result<Json<Value>, ApiError> {
    // It writes a file.
    let changed = tokio::task::spawn_blocking(move || gateway.change(&version, edit)).await;
    let (status, code, message) = match changed {
        Ok(Ok(version)) => return Ok(Json(json!({ "version": version.to_string() }))),
        Ok(Err(NotChanged::OtherVersion(now))) => {
            let message = format!("someone else has changed the configuration: it is {now} now");
            (StatusCode::CONFLICT, "other_version", message)
        }
        Ok(Err(NotChanged::FileChanged)) => {
            let message = "the file has been changed by hand; it is read again in a moment";
            (StatusCode::CONFLICT, "file_changed", message.to_owned())
        }
        Ok(Err(NotChanged::Refused(Refused::FileOnly(field)))) => {
            let message = format!("{field} can be changed in the file alone");
            (StatusCode::FORBIDDEN, "file_only", message)
        }
        Ok(Err(NotChanged::Refused(Refused::NoSuchField(field)))) => (
            StatusCode::NOT_FOUND,
            "no_such_field",
            format!("there is no {field}"),
        ),
        Ok(Err(NotChanged::Refused(Refused::BadValue(value)))) => {
            let message = format!("{value} is no value that the file can have");
            (StatusCode::UNPROCESSABLE_ENTITY, "bad_value", message)
        }
        Ok(Err(NotChanged::Problem(problem))) => (
            StatusCode::UNPROCESSABLE_ENTITY,
            "not_legal",
            problem.to_string(),
        ),
        Ok(Err(NotChanged::Unwritable(error))) => {
            let message = format!("the file cannot be written: {error}");
            return Err(ApiError::server(
                StatusCode::INTERNAL_SERVER_ERROR,
                "unwritable",
                message,
            ));
        }
        Err(_) => {
            let message = "the change broke off";
            return Err(ApiError::server(
                StatusCode::INTERNAL_SERVER_ERROR,
                "broken_off",
                message,
            ));
        }
    };
    Err(ApiError::invalid(status, code, message))
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
