//! The doors, and what each wants to see.

use std::sync::Arc;

use http::StatusCode;
use http::request::Parts;

use super::Keys;
use super::local::{check_host, check_local};
use crate::config::Server;
use crate::dialect::ApiError;

/// What a group of paths is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// `/v1`: the models.
    Clients,
    /// `/metrics`.
    Metrics,
    /// `/` and its files: the dashboard without what it shows.
    Page,
    /// `/admin`: what it shows, and all that changes something.
    Operators,
}

/// The name of the client key that a request showed, never the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyName(pub Arc<str>);

/// Lets a request in that may use a door. Its browser has been [looked at](super::check_browser).
///
/// # Errors
///
/// 401 or 403, with what to send or to set.
pub fn enter(
    door: Door,
    head: &Parts,
    keys: &Keys,
    server: &Server,
) -> Result<Option<KeyName>, ApiError> {
    let hosts = &server.allowed_hosts;
    match door {
        Door::Clients if keys.asks_clients() => {
            let message = "send a key of this gateway as 'Authorization: Bearer …' or 'x-api-key'; server.client_keys names them";
            let name = keys.client(&head.headers);
            name.map(|name| Some(KeyName(name)))
                .ok_or_else(|| refused("invalid_api_key", message))
        }
        Door::Clients if server.allow_without_key => check_host(head, hosts).map(|()| None),
        Door::Clients => {
            let remedy = "set server.client_keys (or allow_without_key = true, if everyone may use your providers' keys)";
            check_local(head, hosts, remedy).map(|()| None)
        }
        Door::Metrics
            if keys.is_operator(&head.headers)
                && (keys.is_configured() || check_local(head, hosts, "").is_ok()) =>
        {
            Ok(None)
        }
        Door::Metrics if keys.asks_clients() => {
            let message = "send a client key or the admin token as 'Authorization: Bearer …'";
            let name = keys.client(&head.headers);
            name.map(|name| Some(KeyName(name)))
                .ok_or_else(|| refused("unauthorized", message))
        }
        Door::Metrics => {
            let remedy = "set server.admin_token or server.client_keys, and send one as 'Authorization: Bearer …'";
            check_local(head, hosts, remedy).map(|()| None)
        }
        Door::Page if keys.is_configured() => check_host(head, hosts).map(|()| None),
        Door::Page => check_local(head, hosts, "set server.admin_token").map(|()| None),
        Door::Operators => {
            let message = if keys.is_configured() {
                "send the admin token as 'Authorization: Bearer …'; server.admin_token names it"
            } else {
                check_local(head, hosts, "set server.admin_token")?;
                "send the admin token as 'Authorization: Bearer …'; it was printed when the gateway started"
            };
            if keys.is_operator(&head.headers) {
                Ok(None)
            } else {
                Err(refused("unauthorized", message))
            }
        }
    }
}

fn refused(code: &'static str, message: &str) -> ApiError {
    ApiError::invalid(StatusCode::UNAUTHORIZED, code, message)
}
