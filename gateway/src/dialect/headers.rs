//! Which headers pass, in each direction.
//!
//! What belongs to one connection (RFC 9110, section 7.6.1) never does, nor what `Connection` names; so the framing
//! on each side is this side's own, and no header can smuggle a second request. Of a client's headers those pass that are
//! listed: what a client, its browser or a proxy adds besides (credentials, cookies, addresses) stays here.

use http::{HeaderMap, HeaderName, header};

use super::Dialect;

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

/// Credentials, and what the gateway says itself. No setting makes these pass.
const OWN: [HeaderName; 11] = [
    header::HOST,
    header::AUTHORIZATION,
    HeaderName::from_static("api-key"),
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-goog-api-key"),
    HeaderName::from_static("x-auth-token"),
    header::COOKIE,
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::CONTENT_TYPE,
    header::CONTENT_ENCODING,
];

/// What of a client's request is for its provider whatever they speak: what ties logs and traces together.
const FROM_CLIENT: [HeaderName; 8] = [
    header::ACCEPT_LANGUAGE,
    header::USER_AGENT,
    HeaderName::from_static("http-referer"),
    HeaderName::from_static("idempotency-key"),
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
    HeaderName::from_static("x-request-id"),
    HeaderName::from_static("x-title"),
];

/// What the official clients say of themselves.
const FROM_CLIENT_PREFIXES: [&str; 2] = ["x-stainless-", "x-client-request-"];

/// The provider's own business with the gateway, what the gateway says itself, and what a browser would act on: of the gateway's
/// origin nobody else decides who may read it, what it stores, or where it leads.
const NOT_FROM_PROVIDER: [HeaderName; 20] = [
    header::SET_COOKIE,
    header::SERVER,
    header::VIA,
    header::DATE,
    header::CONTENT_TYPE,
    header::ALT_SVC,
    header::STRICT_TRANSPORT_SECURITY,
    header::CACHE_CONTROL,
    header::WWW_AUTHENTICATE,
    header::LOCATION,
    header::REFRESH,
    header::LINK,
    header::CONTENT_SECURITY_POLICY,
    header::CONTENT_SECURITY_POLICY_REPORT_ONLY,
    header::X_FRAME_OPTIONS,
    HeaderName::from_static("clear-site-data"),
    HeaderName::from_static("nel"),
    HeaderName::from_static("report-to"),
    HeaderName::from_static("reporting-endpoints"),
    HeaderName::from_static("timing-allow-origin"),
];

const NOT_FROM_PROVIDER_PREFIXES: [&str; 4] =
    ["access-control-", "cross-origin-", "cf-", "x-cutout-"];

/// The headers of a client that its provider gets: those that always pass, those of the dialect, and those that `besides` names.
pub(crate) fn to_provider(dialect: Dialect, headers: &HeaderMap, besides: &[String]) -> HeaderMap {
    let mut sent = passed(headers, |name| {
        FROM_CLIENT.contains(name)
            || dialect.owns_header(name.as_str())
            || starts_with(name, &FROM_CLIENT_PREFIXES)
            || (may_be_passed(name)
                && besides
                    .iter()
                    .any(|other| other.eq_ignore_ascii_case(name.as_str())))
    });
    if let Some((name, value)) = dialect.needed_header() {
        sent.entry(name).or_insert(value);
    }
    sent
}

/// Whether a setting may name a client's header to be passed on.
pub(crate) fn may_be_passed(name: &HeaderName) -> bool {
    !OWN.contains(name) && !HOP_BY_HOP.contains(name) && !starts_with(name, &["x-cutout-"])
}

/// The headers of a provider that the client gets.
pub(crate) fn to_client(headers: &HeaderMap) -> HeaderMap {
    passed(headers, |name| {
        !NOT_FROM_PROVIDER.contains(name) && !starts_with(name, &NOT_FROM_PROVIDER_PREFIXES)
    })
}

fn starts_with(name: &HeaderName, prefixes: &[&str]) -> bool {
    prefixes
        .iter()
        .any(|prefix| name.as_str().starts_with(prefix))
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

    fn sent(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let fields = fields.iter().map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        });
        fields.collect()
    }

    fn names(headers: &HeaderMap) -> Vec<&str> {
        let mut names: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn what_is_listed_reaches_the_provider_and_nothing_else() {
        let headers = sent(&[
            ("connection", "close, X-Title"),
            ("x-title", "of this connection"),
            ("transfer-encoding", "chunked"),
            ("authorization", "Bearer mine"),
            ("x-goog-api-key", "mine"),
            ("x-auth-token", "mine"),
            ("x-real-ip", "10.0.0.1"),
            ("true-client-ip", "10.0.0.1"),
            ("cf-connecting-ip", "10.0.0.1"),
            ("x-forwarded-for", "10.0.0.1"),
            ("sec-fetch-site", "same-origin"),
            ("x-cutout-degraded", "cache"),
            ("x-tenant", "7"),
            ("x-request-id", "7"),
            ("openai-organization", "org"),
            ("x-stainless-lang", "python"),
        ]);
        let always = ["openai-organization", "x-request-id", "x-stainless-lang"];
        assert_eq!(names(&to_provider(Dialect::OpenAi, &headers, &[])), always);
        let besides = ["X-Tenant".to_owned(), "authorization".to_owned()];
        let passed = to_provider(Dialect::OpenAi, &headers, &besides);
        assert_eq!(names(&passed), [&always[..], &["x-tenant"]].concat());
    }

    #[test]
    fn each_dialect_has_headers_of_its_own() {
        let headers = sent(&[
            ("anthropic-beta", "x"),
            ("openai-beta", "x"),
            ("x-goog-api-client", "x"),
            ("x-goog-api-key", "mine"),
        ]);
        for (dialect, passes) in [
            (Dialect::OpenAi, &["openai-beta"][..]),
            (Dialect::Anthropic, &["anthropic-beta", "anthropic-version"]),
            (Dialect::Gemini, &["x-goog-api-client"]),
        ] {
            assert_eq!(names(&to_provider(dialect, &headers, &[])), passes);
        }
        let version = sent(&[("anthropic-version", "2099-01-01")]);
        let sent = to_provider(Dialect::Anthropic, &version, &[]);
        assert_eq!(sent["anthropic-version"], "2099-01-01");
    }

    #[test]
    fn what_a_browser_would_act_on_does_not_reach_the_client() {
        let headers = sent(&[
            ("access-control-allow-origin", "*"),
            ("cross-origin-opener-policy", "unsafe-none"),
            ("clear-site-data", "*"),
            ("set-cookie", "a=b"),
            ("x-cutout-degraded", "cache"),
            ("connection", "x-hop"),
            ("x-hop", "1"),
            ("x-ratelimit-remaining-requests", "9"),
            ("openai-processing-ms", "12"),
        ]);
        let passed = ["openai-processing-ms", "x-ratelimit-remaining-requests"];
        assert_eq!(names(&to_client(&headers)), passed);
    }
}
