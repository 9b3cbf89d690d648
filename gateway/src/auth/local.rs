//! What speaks for a request being this machine's own.

use std::net::{IpAddr, SocketAddr};

use http::request::Parts;
use http::uri::Authority;
use http::{HeaderName, StatusCode, Version, header};

use crate::dialect::ApiError;

/// The address at the other end of the connection that a request came on.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// What proxies add to the requests of others.
const PROXY_HEADERS: [HeaderName; 4] = [
    header::VIA,
    HeaderName::from_static("cdn-loop"),
    HeaderName::from_static("x-envoy-external-address"),
    HeaderName::from_static("x-original-host"),
];

/// What the names have in common by which they say for whom they speak: `X-Forwarded-For`, `Forwarded`, `X-Real-IP`,
/// `True-Client-IP`, `X-Azure-ClientIP`, `X-AppEngine-User-IP` and their like.
const PROXY_WORDS: [&str; 5] = ["forwarded", "real-ip", "client-ip", "clientip", "user-ip"];

/// Refuses all but this machine's own programs and browsers. `remedy` is what opens the door to others.
///
/// # Errors
///
/// 403, with what to set.
pub(super) fn check_local(head: &Parts, hosts: &[String], remedy: &str) -> Result<(), ApiError> {
    let peer = head.extensions.get::<Peer>();
    if !peer.is_some_and(|peer| peer.0.ip().to_canonical().is_loopback()) {
        let message = format!("as it is configured, only this machine may do this: {remedy}");
        return Err(forbidden("other_machine", message));
    }
    // It speaks for others. nginx adds no header unless told to, but then it speaks HTTP/1.0.
    if head.version < Version::HTTP_11 || head.headers.keys().any(is_proxys) {
        let message = format!(
            "this came through a proxy, and as it is configured only this machine may do this: {remedy}"
        );
        return Err(forbidden("behind_proxy", message));
    }
    match host(head) {
        Some(Host::Address(address)) if address.is_loopback() => Ok(()),
        Some(Host::Name(name)) if is_known(name, hosts) => Ok(()),
        _ => Err(unknown_host(head)),
    }
}

/// Refuses names that nobody has said are this gateway's: one that an attacker has made to point here is such a name. An
/// address is not: no page of another origin can have it.
///
/// # Errors
///
/// 403, with what to set.
pub(super) fn check_host(head: &Parts, hosts: &[String]) -> Result<(), ApiError> {
    match host(head) {
        Some(Host::Address(_)) => Ok(()),
        Some(Host::Name(name)) if is_known(name, hosts) => Ok(()),
        _ => Err(unknown_host(head)),
    }
}

fn is_proxys(name: &HeaderName) -> bool {
    let text = name.as_str();
    PROXY_HEADERS.contains(name)
        || text.starts_with("cf-")
        || PROXY_WORDS.iter().any(|word| text.contains(word))
}

fn is_known(name: &str, hosts: &[String]) -> bool {
    name.eq_ignore_ascii_case("localhost")
        || hosts.iter().any(|host| host.eq_ignore_ascii_case(name))
}

enum Host<'a> {
    Address(IpAddr),
    Name(&'a str),
}

/// What `Host` names, without the port. None if there is none, or more than one, or if the target of the request names
/// another, as it does on its way through a proxy.
fn host(head: &Parts) -> Option<Host<'_>> {
    let mut all = head.headers.get_all(header::HOST).iter();
    let (Some(host), None) = (all.next(), all.next()) else {
        return None;
    };
    let host = host.to_str().ok()?;
    let target = head.uri.authority().map(Authority::as_str);
    if target.is_some_and(|target| !target.eq_ignore_ascii_case(host)) {
        return None;
    }
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'))
        .unwrap_or(name);
    Some(match bare.parse::<IpAddr>() {
        Ok(address) => Host::Address(address.to_canonical()),
        Err(_) => Host::Name(name),
    })
}

fn unknown_host(head: &Parts) -> ApiError {
    let shown = match host(head) {
        Some(Host::Name(name)) => format!("{name:?}"),
        Some(Host::Address(address)) => format!("\"{address}\""),
        None => "its name".to_owned(),
    };
    let message = format!(
        "this gateway does not know itself by the name in 'Host': use http://localhost or http://127.0.0.1, or add \
         {shown} to server.allowed_hosts"
    );
    forbidden("unknown_host", message)
}

pub(super) fn forbidden(code: &'static str, message: String) -> ApiError {
    ApiError::invalid(StatusCode::FORBIDDEN, code, message)
}
