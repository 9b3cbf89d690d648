//! Who is let in at a door, and what everyone else is told.

use std::time::Duration;

use axum::response::Response;
use http::StatusCode;
use http::request::Parts;

use super::connections::Spare;
use crate::auth::{self, Door};
use crate::dialect::{ApiError, Dialect};
use crate::gateway::Gateway;
use crate::metrics;

/// Lets a request in as the layers of a door do, or says why not.
pub(super) fn let_in(gateway: &Gateway, door: Door, head: &mut Parts) -> Option<Response> {
    check_browser(gateway, door, head).or_else(|| enter(gateway, door, head))
}

/// Lets no page of another origin in.
pub(super) fn check_browser(gateway: &Gateway, door: Door, head: &Parts) -> Option<Response> {
    let checked = auth::check_browser(door, head, &gateway.fleet.load().config.server);
    checked.err().map(|refusal| refuse(door, head, &refusal))
}

/// Lets a request in, or says why not.
pub(super) fn enter(gateway: &Gateway, door: Door, head: &mut Parts) -> Option<Response> {
    if door == Door::Clients && head.extensions.get::<Spare>().is_some() {
        let message = "the gateway has all the connections it may have; try again soon";
        let error = ApiError::server(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message);
        return Some(refuse(
            door,
            head,
            &error.retry_after(Duration::from_secs(1)),
        ));
    }
    let fleet = gateway.fleet.load();
    match auth::enter(door, head, &fleet.keys, &fleet.config.server) {
        Ok(key) => {
            if let Some(key) = key {
                head.extensions.insert(key);
            }
            None
        }
        Err(refusal) => Some(refuse(door, head, &refusal)),
    }
}

fn refuse(door: Door, head: &Parts, refusal: &ApiError) -> Response {
    metrics::refused(door, refusal.code);
    refusal.to_response(Dialect::of_request(&head.uri, &head.headers))
}
