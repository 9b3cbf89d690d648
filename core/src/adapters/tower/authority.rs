//! The breaker of a request's authority.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use core::hash::BuildHasher;

use http::Request;
use http::header::HOST;

use crate::breaker::Breaker;
use crate::contract::clock::Clock;
use crate::registry::Registry;

/// Finds a request's breaker by the authority it goes to, for
/// [`BreakerLayer::keyed`](crate::adapters::tower::BreakerLayer::keyed).
///
/// The authority is the host and, if it is given, the port of the URI, or else of the `Host`
/// header; in lower case, without user and password, and without the port that the URI's scheme
/// has by default. So `https://a/`, `https://a:443/` and `HTTP://A` go through one breaker. A request that names none, and one whose
/// authority the registry has no room for, goes through `rest`.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use cutout::Breaker;
/// use cutout::adapters::http::HttpStatus;
/// use cutout::registry::Registry;
/// use cutout::adapters::tower::{BreakerLayer, by_authority};
/// use http::{Request, Response};
/// use tower::{Layer, ServiceExt, service_fn};
///
/// # futures_executor::block_on(async {
/// let registry = Arc::new(Registry::builder(|authority: &String| authority.clone()).build()?);
/// let rest = Arc::new(Breaker::builder().name("other hosts").build()?);
/// let layer = BreakerLayer::keyed(by_authority(registry.clone(), rest)).classify(HttpStatus::new());
/// let client = layer.layer(service_fn(async |_: Request<()>| {
///     Ok::<_, std::io::Error>(Response::new("pong"))
/// }));
///
/// client.oneshot(Request::get("https://API.example:8443/ping").body(())?).await?;
/// assert_eq!(registry.get("api.example:8443").unwrap().snapshot().counts().samples, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub fn by_authority<B, C, S>(
    registry: Arc<Registry<String, C, S>>,
    rest: Arc<Breaker<C>>,
) -> impl Fn(&Request<B>) -> Arc<Breaker<C>> + Clone
where
    C: Clock + Clone,
    S: BuildHasher,
{
    move |request| {
        let breaker = authority_of(request).and_then(|authority| {
            let breaker = registry.get_or_create(&*authority);
            breaker.ok()
        });
        breaker.unwrap_or_else(|| Arc::clone(&rest))
    }
}

fn authority_of<B>(request: &Request<B>) -> Option<Cow<'_, str>> {
    let host = || request.headers().get(HOST)?.to_str().ok();
    let authority = request
        .uri()
        .authority()
        .map(|authority| authority.as_str());
    let authority = authority.or_else(host)?;
    let (_, authority) = authority.rsplit_once('@').unwrap_or(("", authority));
    let authority = without_default_port(authority, request.uri().scheme_str());
    let has_upper_case = authority.bytes().any(|byte| byte.is_ascii_uppercase());
    Some(match has_upper_case {
        true => Cow::Owned(authority.to_ascii_lowercase()),
        false => Cow::Borrowed(authority),
    })
    .filter(|authority| !authority.is_empty())
}

/// The authority without a port that goes without saying: an empty one, or that of the scheme.
fn without_default_port<'a>(authority: &'a str, scheme: Option<&str>) -> &'a str {
    let default = scheme.and_then(|scheme| {
        [
            ("https", "443"),
            ("http", "80"),
            ("wss", "443"),
            ("ws", "80"),
        ]
        .into_iter()
        .find(|(known, _)| scheme.eq_ignore_ascii_case(known))
    });
    match authority.rsplit_once(':') {
        // Not the colons within the brackets of an address.
        Some((host, port)) if !port.ends_with(']') => {
            let is_default = default.is_some_and(|(_, default)| port == default);
            if port.is_empty() || is_default {
                host
            } else {
                authority
            }
        }
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authority_is_host_and_port_in_lower_case_without_user() {
        for (uri, host, expected) in [
            ("https://api.example/v1", None, Some("api.example")),
            ("https://API.Example:8443/", None, Some("api.example:8443")),
            ("https://me:secret@api.example/", None, Some("api.example")),
            ("https://[::1]:8443/", None, Some("[::1]:8443")),
            ("https://[::1]/", None, Some("[::1]")),
            ("https://[::443]/", None, Some("[::443]")),
            ("https://[::1]:443/", None, Some("[::1]")),
            ("https://api.example:443/", None, Some("api.example")),
            ("http://api.example:80/", None, Some("api.example")),
            ("HTTPS://API.example:443/", None, Some("api.example")),
            ("http://api.example:443/", None, Some("api.example:443")),
            ("https://api.example:80/", None, Some("api.example:80")),
            ("https://api.example:0443/", None, Some("api.example:0443")),
            ("/v1", Some("api.example:443"), Some("api.example:443")),
            ("/v1", Some("api.example:"), Some("api.example")),
            (
                "https://api.example/",
                Some("other.example"),
                Some("api.example"),
            ),
            ("/v1", Some("API.example"), Some("api.example")),
            ("/v1", Some(""), None),
            ("/v1", None, None),
        ] {
            let mut request = Request::get(uri);
            if let Some(host) = host {
                request = request.header(HOST, host);
            }
            let request = request.body(()).unwrap();
            assert_eq!(
                authority_of(&request).as_deref(),
                expected,
                "{uri} {host:?}"
            );
        }
    }
}
