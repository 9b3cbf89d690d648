//! Which headers pass, in each direction.
//!
//! What belongs to one connection (RFC 9110, section 7.6.1) never does, nor what `Connection` names; so the framing
//! on each side is this side's own, and no header can smuggle a second request. Credentials and addresses of clients stay
//! here.

use http::{HeaderMap, HeaderName, header};

/// Of one connection, in either direction.
const HOP_BY_HOP: [HeaderName; 11] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::CONTENT_LENGTH,
    header::EXPECT,
];

/// The gateway's own business with the client.
const FROM_CLIENT: [HeaderName; 12] = [
    header::HOST,
    header::AUTHORIZATION,
    HeaderName::from_static("api-key"),
    HeaderName::from_static("x-api-key"),
    header::COOKIE,
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::CONTENT_TYPE,
    header::CONTENT_ENCODING,
    header::FORWARDED,
    header::ORIGIN,
    header::REFERER,
];

/// The provider's own business with the gateway, or what the gateway says itself.
const FROM_PROVIDER: [HeaderName; 7] = [
    header::SET_COOKIE,
    header::SERVER,
    header::DATE,
    header::CONTENT_TYPE,
    header::ALT_SVC,
    header::STRICT_TRANSPORT_SECURITY,
    header::CACHE_CONTROL,
];

/// The headers of a client that its provider gets.
pub(crate) fn to_provider(headers: &HeaderMap) -> HeaderMap {
    passed(headers, |name| {
        !FROM_CLIENT.contains(name)
            && !name.as_str().starts_with("x-forwarded-")
            && !name.as_str().starts_with("x-cutout-")
    })
}

/// The headers of a provider that the client gets.
pub(crate) fn to_client(headers: &HeaderMap) -> HeaderMap {
    passed(headers, |name| {
        !FROM_PROVIDER.contains(name) && !name.as_str().starts_with("x-cutout-")
    })
}

fn passed(headers: &HeaderMap, may_pass: impl Fn(&HeaderName) -> bool) -> HeaderMap {
    let mut passed = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        let one_connection = HOP_BY_HOP.contains(name) || is_named(headers, name);
        if !one_connection && may_pass(name) {
            passed.append(name, value.clone());
        }
    }
    passed
}

/// Whether `Connection` says that a header is of this connection alone.
fn is_named(headers: &HeaderMap, name: &HeaderName) -> bool {
    headers.get_all(header::CONNECTION).iter().any(|value| {
        let named = value.as_bytes().split(|&byte| byte == b',');
        named.into_iter().any(|named| {
            named
                .trim_ascii()
                .eq_ignore_ascii_case(name.as_str().as_bytes())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn what_belongs_to_one_connection_does_not_pass() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Secret-Hop"),
            ("x-secret-hop", "1"),
            ("transfer-encoding", "chunked"),
            ("content-length", "5"),
            ("authorization", "Bearer mine"),
            ("x-forwarded-for", "10.0.0.1"),
            ("x-cutout-degraded", "cache"),
            ("x-request-id", "7"),
            ("openai-organization", "org"),
        ] {
            headers.append(name, HeaderValue::from_static(value));
        }
        let passed = to_provider(&headers);
        let mut names: Vec<_> = passed.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["openai-organization", "x-request-id"]);
        assert!(!to_client(&headers).contains_key("x-secret-hop"));
        assert!(!to_client(&headers).contains_key("x-cutout-degraded"));
    }
}
