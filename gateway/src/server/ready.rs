//! `GET /readyz`: whether it takes requests, for everyone; with `?verbose` how all is, for who may see the metrics.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;

use super::entrance::let_in;
use crate::auth::Door;
use crate::gateway::Gateway;
use crate::providers::{Route, Target};
use crate::replicas::{self, Replicas};
use crate::store;

/// How all is, for machines. What is ill beside the gateway, its server or its providers, makes it no less ready.
#[derive(Debug, Serialize)]
struct Health {
    ready: bool,
    /// Why the file as it is now is not in force.
    problem: Option<String>,
    store: store::Status,
    fleet: Option<replicas::Status>,
    /// How many breakers are in which state.
    breakers: BTreeMap<String, usize>,
    routes: Vec<RouteHealth>,
}

#[derive(Debug, Serialize)]
struct RouteHealth {
    model: String,
    /// Whether a target would take a request now.
    ready: bool,
    targets: Vec<TargetHealth>,
}

#[derive(Debug, Serialize)]
struct TargetHealth {
    target: String,
    ready: bool,
    /// The state of its breaker.
    state: String,
    /// By what that is so, if it is not closed.
    cause: Option<String>,
    /// Why it is left out, if its key is refused or spent.
    suspended: Option<String>,
}

pub(super) async fn answer(State(gateway): State<Arc<Gateway>>, request: Request) -> Response {
    let (ready, status) = match gateway.is_draining() {
        true => (false, StatusCode::SERVICE_UNAVAILABLE),
        false => (true, StatusCode::OK),
    };
    let query = request.uri().query().unwrap_or_default();
    let is_verbose = query == "verbose" || query.starts_with("verbose=");
    if is_verbose {
        let (mut head, _) = request.into_parts();
        return match let_in(&gateway, Door::Metrics, &mut head) {
            Some(refusal) => refusal,
            None => (status, Json(health(&gateway, ready))).into_response(),
        };
    }
    (status, if ready { "ready\n" } else { "draining\n" }).into_response()
}

fn health(gateway: &Gateway, ready: bool) -> Health {
    let fleet = gateway.fleet.load();
    let mut breakers = BTreeMap::new();
    for upstream in fleet.upstreams.values() {
        let state = upstream.breaker.state().to_string();
        *breakers.entry(state).or_default() += 1;
    }
    let mut routes: Vec<_> = fleet.routes.values().map(|route| of_route(route)).collect();
    routes.sort_by(|a, b| a.model.cmp(&b.model));
    Health {
        ready,
        problem: gateway.problem().map(|problem| problem.to_string()),
        store: gateway.store.status(),
        fleet: gateway.replicas.as_ref().map(Replicas::status),
        breakers,
        routes,
    }
}

fn of_route(route: &Route) -> RouteHealth {
    let members = route.queue.members();
    let targets: Vec<_> = members.iter().map(|it| of_target(it.payload())).collect();
    RouteHealth {
        model: route.settings.model.clone(),
        ready: targets.iter().any(|target| target.ready),
        targets,
    }
}

fn of_target(target: &Target) -> TargetHealth {
    let snapshot = target.upstream.breaker.snapshot();
    let suspension = target.provider.suspended(&target.model);
    TargetHealth {
        target: target.name(),
        ready: target.is_ready(),
        state: snapshot.state.to_string(),
        cause: snapshot.cause.map(|cause| cause.to_string()),
        suspended: suspension.map(|suspension| suspension.to_string()),
    }
}
