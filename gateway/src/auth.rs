//! Who may use which door: operators the admin API, clients the models.

use std::net::{IpAddr, SocketAddr};

use axum::extract::Request;
use http::{HeaderMap, Method, StatusCode, header};
use secrecy::ExposeSecret;
use subtle::ConstantTimeEq;

use crate::dialect::ApiError;
use crate::providers::Fleet;

/// The address at the other end of the connection that a request came on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Lets operators in.
pub(crate) fn check_operator(fleet: &Fleet, request: &Request) -> Result<(), ApiError> {
    let headers = request.headers();
    match fleet.admin_token.as_ref() {
        Some(token) => {
            if !bearer(headers).is_some_and(|given| same(given, token.expose_secret())) {
                let message = "send the admin token as 'Authorization: Bearer …'";
                return Err(ApiError::invalid(
                    StatusCode::UNAUTHORIZED,
                    "unauthorized",
                    message,
                ));
            }
        }
        None => check_local(request)?,
    }
    let json = headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if request.method() != Method::GET && !json {
        return Err(forbidden("send 'Content-Type: application/json'"));
    }
    Ok(())
}

/// Lets clients in that have a key, if keys are asked for.
pub(crate) fn check_client(fleet: &Fleet, headers: &HeaderMap) -> Result<(), ApiError> {
    if fleet.client_keys.is_empty() {
        return Ok(());
    }
    let given = bearer(headers).unwrap_or_default();
    // All are compared, so that the time does not tell which one came close.
    let known = fleet
        .client_keys
        .iter()
        .fold(false, |known, key| same(given, key.expose_secret()) | known);
    if known {
        return Ok(());
    }
    let message = "send a key of this gateway as 'Authorization: Bearer …'";
    Err(ApiError::invalid(
        StatusCode::UNAUTHORIZED,
        "invalid_api_key",
        message,
    ))
}

/// Refuses all but this machine's own browsers and tools.
pub(crate) fn check_local(request: &Request) -> Result<(), ApiError> {
    let headers = request.headers();
    let peer = request.extensions().get::<Peer>();
    if !peer.is_some_and(|peer| peer.0.ip().to_canonical().is_loopback()) {
        let message = "without an admin token only this machine may do this";
        return Err(forbidden(message));
    }
    // A proxy on this machine speaks for others.
    if headers.contains_key(header::FORWARDED) || headers.contains_key("x-forwarded-for") {
        return Err(forbidden("behind a proxy this needs an admin token"));
    }
    // A name that an attacker has made to point at this machine.
    let host = headers.get(header::HOST);
    if !host.is_some_and(|host| is_loopback(host.as_bytes())) {
        let message = "without an admin token use http://localhost or http://127.0.0.1";
        return Err(forbidden(message));
    }
    Ok(())
}

fn forbidden(message: &str) -> ApiError {
    ApiError::invalid(StatusCode::FORBIDDEN, "forbidden", message)
}

/// The token of an `Authorization: Bearer` header.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    headers
        .get(header::AUTHORIZATION)?
        .as_bytes()
        .strip_prefix(b"Bearer ")
}

/// Compares in a time that depends on the lengths alone.
fn same(given: &[u8], token: &str) -> bool {
    given.ct_eq(token.as_bytes()).into()
}

fn is_loopback(host: &[u8]) -> bool {
    let Ok(host) = std::str::from_utf8(host) else {
        return false;
    };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}
