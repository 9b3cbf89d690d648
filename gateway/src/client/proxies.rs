//! Which connections are made through a proxy, and through which.

use std::net::IpAddr;

use http::uri::{Authority, Scheme};
use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use secrecy::ExposeSecret;

use crate::config::Proxy;

/// The variables that name proxies, as curl reads them.
const VARIABLES: [&str; 6] = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
];

/// Which connections are made through a proxy.
#[derive(Debug)]
pub(super) enum Proxies {
    /// None.
    Nobody,
    /// Those that the environment says, and none to this machine.
    Environment(Box<Matcher>),
    /// All.
    Everybody(Box<Intercept>),
}

/// A proxy, and what it wants to hear. Its address has no user and no password in it.
#[derive(Clone, Debug)]
pub(super) struct ProxyAt {
    pub(super) uri: Uri,
    pub(super) host: Authority,
    pub(super) credentials: Option<HeaderValue>,
}

impl Proxies {
    /// What the environment says, or the field of a provider if it has one.
    ///
    /// # Errors
    ///
    /// A proxy cannot be used: why, without what may be secret.
    pub(super) fn new(field: Option<&Proxy>) -> Result<Self, String> {
        let matcher = |text: &str| Matcher::builder().all(text.to_owned()).build();
        let all = |text: &str| {
            let any = Uri::from_static("http://any");
            match matcher(text).intercept(&any).filter(is_spoken) {
                Some(proxy) => Ok(Self::Everybody(Box::new(proxy))),
                None => Err(NOT_SPOKEN.to_owned()),
            }
        };
        match field {
            Some(Proxy::None) => Ok(Self::Nobody),
            Some(Proxy::Url(url)) => all(url),
            Some(Proxy::Secret(source)) => all(source.read()?.expose_secret()),
            None => {
                for name in VARIABLES {
                    let text = std::env::var(name).unwrap_or_default();
                    let is_used = matcher(&text).intercept(&Uri::from_static("http://any"));
                    if !text.is_empty() && !is_used.as_ref().is_some_and(is_spoken) {
                        return Err(format!("the environment variable {name}: {NOT_SPOKEN}"));
                    }
                }
                Ok(Self::Environment(Box::new(Matcher::from_env())))
            }
        }
    }

    /// The proxy for an address.
    pub(super) fn of(&self, to: &Uri) -> Option<ProxyAt> {
        let proxy = match self {
            Self::Nobody => return None,
            Self::Environment(_) if is_here(to) => return None,
            Self::Environment(matcher) => matcher.intercept(to)?,
            Self::Everybody(proxy) => Intercept::clone(proxy),
        };
        Some(ProxyAt {
            host: proxy.uri().authority()?.clone(),
            credentials: proxy.basic_auth().cloned(),
            uri: proxy.uri().clone(),
        })
    }
}

const NOT_SPOKEN: &str = "must be \"http://host:port\"; no other kind of proxy is spoken to";

fn is_spoken(proxy: &Intercept) -> bool {
    proxy.uri().scheme() == Some(&Scheme::HTTP)
}

/// Whether an address is this machine's, where a proxy would look for itself.
fn is_here(to: &Uri) -> bool {
    let host = to.host().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.parse::<IpAddr>().map_or_else(
        |_| host.eq_ignore_ascii_case("localhost"),
        |ip| ip.is_loopback(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_proxies_that_are_spoken_to_are_taken_and_no_password_is_repeated() {
        for url in [
            "socks5://u:secret@p:1",
            "https://u:secret@p:1",
            "u:secret@",
            "p p",
            "/",
        ] {
            let wrong = Proxies::new(Some(&Proxy::Url(url.to_owned()))).unwrap_err();
            assert!(wrong.contains("http://host:port"), "{wrong}");
            assert!(!wrong.contains("secret"), "{wrong}");
        }
        let proxies = Proxies::new(Some(&Proxy::Url("http://u:secret@p:8080".to_owned()))).unwrap();
        let proxy = proxies
            .of(&Uri::from_static("https://api.example/v1"))
            .unwrap();
        assert_eq!(proxy.host, "p:8080");
        assert_eq!(proxy.credentials.as_ref().unwrap(), "Basic dTpzZWNyZXQ=");
        assert!(!format!("{proxies:?}{proxy:?}").contains("dTpzZWNyZXQ"));
    }

    #[test]
    fn the_environment_sends_nobody_of_this_machine_through_a_proxy() {
        let matcher = Matcher::builder()
            .all("http://p:1")
            .no("inside.example")
            .build();
        let proxies = Proxies::Environment(Box::new(matcher));
        let goes = |to: &'static str| proxies.of(&Uri::from_static(to)).is_some();
        for to in [
            "http://127.0.0.2:9/",
            "https://[::1]/v1",
            "http://LOCALHOST:11434/v1",
        ] {
            assert!(!goes(to), "{to}");
        }
        assert!(!goes("https://a.inside.example/v1"));
        assert!(goes("https://api.example/v1") && goes("http://10.0.0.1/v1"));
    }
}
