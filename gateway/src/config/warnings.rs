//! What is legal and still hardly meant.

use std::net::{IpAddr, SocketAddr};

use http::Uri;

use super::{Config, Provider};

/// What is worth a second look, each with what to set.
pub fn warnings(config: &Config) -> Vec<String> {
    let server = &config.server;
    let (listen, mut found) = (server.listen, Vec::new());
    for provider in &config.provider {
        if leads_to(&provider.base_url, listen) {
            found.push(format!(
                "provider {}: its base_url is this gateway's own address, so each of its requests comes back and is \
                 refused; name the provider's",
                provider.name
            ));
        }
    }
    found.extend(config.provider.iter().filter_map(by_chance));
    found.extend(config.provider.iter().filter_map(before_throttle));
    if server.listen.ip().is_loopback() {
        return found;
    }
    if server.allow_without_key {
        found.push(format!(
            "server.allow_without_key: everyone who reaches {listen} may use your providers' keys"
        ));
    } else if server.client_keys.is_empty() {
        found.push(format!(
            "server.listen: others reach {listen}, but without client_keys only this machine is answered; set \
             server.client_keys"
        ));
    }
    if server.admin_token.is_none() {
        found.push(format!(
            "server.listen: others reach {listen}, but without admin_token only this machine may use the dashboard and \
             /admin; set server.admin_token"
        ));
    }
    found
}

/// A breaker that opens though its provider is as well as ever.
fn by_chance(provider: &Provider) -> Option<String> {
    let calls = provider.breaker.opens_by_chance(0.0).ok().flatten()?;
    let name = &provider.name;
    let unit = if calls < 1000.0 { 1.0 } else { 100.0 };
    let calls = (calls / unit).round() * unit;
    Some(format!(
        "provider {name}: its breaker opens by chance about once in {calls} calls though only one call in a hundred \
         fails; raise its limits, or have them found by what they shall do: \
         window = {{ cusum = {{ failures = {{ p0 = 0.01, p1 = 0.3, calls = 1e9 }} }} }}"
    ))
}

/// A breaker that opens at a share of failures that the throttle beside it leaves.
fn before_throttle(provider: &Provider) -> Option<String> {
    let (throttle, ratio) = (provider.throttle?, provider.breaker.failure_ratio?);
    let left = 1.0 - 1.0 / throttle.k;
    let name = &provider.name;
    (ratio <= left).then(|| {
        let k = throttle.k;
        format!(
            "provider {name}: its breaker opens at a share of failures of {ratio}, which its throttle with k = {k} leaves while it \
             does what it is for; raise breaker.failure_ratio above {left:.2}, say to 0.9"
        )
    })
}

/// Whether a URL names the address that the gateway listens on, as far as it can be told without asking for names.
fn leads_to(url: &str, listen: SocketAddr) -> bool {
    let Ok(uri) = Uri::try_from(url) else {
        return false;
    };
    let default = if uri.scheme_str() == Some("https") {
        443
    } else {
        80
    };
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let ip = match host {
        "localhost" => Some(listen.ip()),
        host => host.parse::<IpAddr>().ok(),
    };
    let is_own = |ip: IpAddr| {
        ip == listen.ip()
            || (listen.ip().is_unspecified() && (ip.is_loopback() || ip.is_unspecified()))
    };
    uri.port_u16().unwrap_or(default) == listen.port() && ip.is_some_and(is_own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_that_leads_back_here_is_known() {
        let leads = |url, listen: &str| leads_to(url, listen.parse().unwrap());
        assert!(leads("http://127.0.0.1:8080/v1", "127.0.0.1:8080"));
        assert!(leads("http://localhost:8080/v1", "127.0.0.1:8080"));
        assert!(leads("http://[::1]:8080/v1", "[::]:8080"));
        assert!(leads("http://127.0.0.1/v1", "0.0.0.0:80"));
        assert!(!leads("http://127.0.0.1:8081/v1", "127.0.0.1:8080"));
        assert!(!leads("http://10.0.0.1:8080/v1", "0.0.0.0:8080"));
        assert!(!leads("https://api.example.com/v1", "0.0.0.0:443"));
    }

    #[test]
    fn a_breaker_that_opens_before_its_throttle_has_its_say_is_told_of() {
        let told = |more: &str| {
            let provider = format!("name = 'a'\nbase_url = 'http://h'\n{more}");
            before_throttle(&toml_edit::de::from_str(&provider).unwrap())
        };
        let hasty = told("throttle = {}").unwrap();
        assert!(hasty.contains("above 0.50"), "{hasty}");
        for right in [
            "",
            "throttle = {}\nbreaker = { failure_ratio = 0.9 }",
            "throttle = { k = 1.5 }",
            "throttle = {}\nbreaker = { failure_ratio = 'none', consecutive_failures = 5 }",
        ] {
            assert_eq!(told(right), None, "{right}");
        }
    }

    #[test]
    fn a_breaker_that_opens_by_chance_is_told_of_and_one_that_seldom_does_is_not() {
        let told = |breaker: &str| {
            let provider = format!("name = 'a'\nbase_url = 'http://h'\nbreaker = {breaker}");
            by_chance(&toml_edit::de::from_str(&provider).unwrap())
        };
        let hasty = told("{ consecutive_failures = 2, failure_ratio = 'none' }").unwrap();
        assert!(hasty.contains("provider a: "), "{hasty}");
        assert!(hasty.contains("once in 10100 calls"), "{hasty}");
        // As many calls as are judged at the least, whenever they come.
        let timed = told("{ window = '10s', min_calls = 2, failure_ratio = 0.5 }").unwrap();
        assert!(timed.contains("once in 100 calls"), "{timed}");
        for seldom in [
            "{}",
            "{ window = '10s' }",
            "{ window = { cusum = { failures = { p0 = 0.01, p1 = 0.3, calls = 1e9 } } } }",
        ] {
            assert_eq!(told(seldom), None, "{seldom}");
        }
    }
}
