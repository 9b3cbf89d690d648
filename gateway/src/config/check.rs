//! What the types cannot say: names that must exist, values that must be in range.

use std::collections::HashSet;

use http::uri::Authority;
use http::{HeaderName, HeaderValue, Uri};

use super::{CheckKind, Config, Fleet, Provider, Route, Scope, Server};
use crate::dialect::{Dialect, headers};

/// A field's path, and what is wrong with it.
type Fault = (String, String);

/// Checks what the types do not.
pub(super) fn check(config: &Config) -> Result<(), Fault> {
    server(config)?;
    if let Some(webhook) = &config.webhook {
        url("webhook.url", &webhook.url)?;
    }
    if let Some(fleet) = &config.fleet {
        self::fleet(fleet)?;
    }
    let mut names = HashSet::new();
    for (index, provider) in config.provider.iter().enumerate() {
        let path = format!("provider[{index}]");
        if !names.insert(provider.name.as_str()) {
            return fault(
                &path,
                "name",
                format!("there are two providers {:?}", provider.name),
            );
        }
        self::provider(&path, provider)?;
    }
    checks(config)?;
    dialects(config)?;
    fallbacks(config)?;
    let mut models = HashSet::new();
    for (index, route) in config.route.iter().enumerate() {
        let path = format!("route[{index}]");
        if !models.insert(route.model.as_str()) {
            return fault(
                &path,
                "model",
                format!("there are two routes for {:?}", route.model),
            );
        }
        self::route(&path, route, &names)?;
    }
    if config.route.is_empty() {
        let message = "there is no [[route]]: the file is empty or cut off, or names no model yet";
        return Err(("route".to_owned(), message.to_owned()));
    }
    Ok(())
}

/// A check asks for what some breaker guards.
fn checks(config: &Config) -> Result<(), Fault> {
    for (index, provider) in config.provider.iter().enumerate() {
        let Some(check) = &provider.check else {
            continue;
        };
        let is_guarded = config.route.iter().any(|route| {
            route
                .targets()
                .any(|(name, model)| *name == provider.name && model == check.model)
        });
        if check.kind == CheckKind::Embeddings && provider.dialect != Dialect::OpenAi {
            let message = "is of OpenAI's dialect alone: this provider is checked by a \"chat\"";
            return fault(&format!("provider[{index}]"), "check.kind", message);
        }
        if provider.scope == Scope::Model && !is_guarded {
            let message = "must be a model that a route asks this provider for";
            return fault(&format!("provider[{index}]"), "check.model", message);
        }
    }
    Ok(())
}

/// Nothing is translated, so whoever may be asked in place of another speaks the same.
fn dialects(config: &Config) -> Result<(), Fault> {
    let of = |name: &str| {
        let mut providers = config.provider.iter();
        providers
            .find(|provider| provider.name == name)
            .map(|provider| provider.dialect)
    };
    for (index, route) in config.route.iter().enumerate() {
        let mut known = route
            .targets()
            .filter_map(|(name, _)| Some((name, of(name)?)));
        let Some((first, dialect)) = known.next() else {
            continue;
        };
        if let Some((other, another)) = known.find(|(_, another)| *another != dialect) {
            let message = format!(
                "{first:?} speaks the dialect of {}, and {other:?} that of {}: nothing is translated, so make a route for \
                 each",
                dialect.name(),
                another.name()
            );
            return fault(&format!("route[{index}]"), "queue", message);
        }
    }
    Ok(())
}

/// A fallback is another route of the same dialect, and no chain of them comes back.
fn fallbacks(config: &Config) -> Result<(), Fault> {
    let of = |model: &str| config.route.iter().find(|route| route.model == model);
    let dialect = |route: &Route| {
        let name = &route.queue.first()?.provider;
        let mut providers = config.provider.iter();
        providers
            .find(|provider| provider.name == *name)
            .map(|provider| provider.dialect)
    };
    for (index, route) in config.route.iter().enumerate() {
        for (field, to) in route.fallback.all() {
            let wrong = |message: String| {
                fault(
                    &format!("route[{index}]"),
                    &format!("fallback.{field}"),
                    message,
                )
            };
            let Some(other) = of(to) else {
                return wrong(format!("there is no route {to:?}"));
            };
            if dialect(route) != dialect(other) {
                return wrong(format!(
                    "the providers of {to:?} speak another dialect, and nothing is translated"
                ));
            }
            let mut reached = vec![to];
            let mut next = 0;
            while let Some(name) = reached.get(next) {
                if **name == route.model {
                    return wrong(format!("leads back to {:?}", route.model));
                }
                let onward = of(name).into_iter().flat_map(|route| route.fallback.all());
                let onward: Vec<_> = onward
                    .map(|(_, to)| to)
                    .filter(|to| !reached.contains(to))
                    .collect();
                reached.extend(onward);
                next += 1;
            }
        }
    }
    Ok(())
}

fn server(config: &Config) -> Result<(), Fault> {
    let server = &config.server;
    for (field, value, least) in [
        ("max_body_bytes", server.max_body_bytes, 1024),
        (
            "max_body_memory",
            server.max_body_memory,
            server.max_body_bytes,
        ),
        ("max_header_bytes", server.max_header_bytes, 8192),
        ("max_headers", server.max_headers, 16),
        ("max_connections", server.max_connections, 1),
        ("max_requests", server.max_requests, 1),
        ("max_streams", server.max_streams, 1),
    ] {
        at_least("server", field, value, least)?;
    }
    doors(server)
}

/// Who may use the gateway.
fn doors(server: &Server) -> Result<(), Fault> {
    if server.allow_without_key && !server.client_keys.is_empty() {
        let message = "says that nobody needs a key, and client_keys that everyone does: take one of them out";
        return fault("server", "allow_without_key", message);
    }
    let mut names = HashSet::new();
    for (index, key) in server.client_keys.iter().enumerate() {
        let field = format!("client_keys[{index}]");
        if key.name.is_empty() {
            return fault("server", &field, "must have a name that is not empty");
        }
        if !names.insert(key.name.as_str()) {
            let message = format!("there are two client keys {:?}", key.name);
            return fault("server", &field, message);
        }
    }
    let each =
        |field: &'static str, texts: &[String], legal: fn(&str) -> bool, message: &str| match texts
            .iter()
            .position(|text| !legal(text))
        {
            Some(index) => fault("server", &format!("{field}[{index}]"), message),
            None => Ok(()),
        };
    each(
        "allowed_hosts",
        &server.allowed_hosts,
        |host| {
            host.parse::<Authority>()
                .is_ok_and(|name| name.port().is_none() && name.host() == host)
        },
        "must be a name without scheme and port, like \"gateway.example\"",
    )?;
    each(
        "allowed_origins",
        &server.allowed_origins,
        |origin| {
            let name = ["https://", "http://"]
                .iter()
                .find_map(|scheme| origin.strip_prefix(scheme));
            name.is_some_and(|name| {
                name.parse::<Authority>()
                    .is_ok_and(|all| !all.as_str().contains('@'))
            })
        },
        "must be a scheme and a name, and the port if it is another, without a path: \"https://chat.example\"",
    )?;
    each(
        "pass_headers",
        &server.pass_headers,
        |name| HeaderName::try_from(name).is_ok_and(|name| headers::may_be_passed(&name)),
        "must be the name of a header that is neither a credential nor of one connection alone",
    )
}

/// What can be said of it without its password.
fn fleet(fleet: &Fleet) -> Result<(), Fault> {
    if cfg!(not(feature = "fleet")) {
        let message = "this program was built without it: build it with the feature \"fleet\"";
        return Err(("fleet".to_owned(), message.to_owned()));
    }
    let schemes = ["redis://", "rediss://", "unix://"];
    if !schemes.iter().any(|scheme| fleet.url.starts_with(scheme)) {
        let message = "must be like redis://host:6379, rediss://host:6379 or unix:///path";
        return fault("fleet", "url", message);
    }
    // Of a socket's address they would stand in the query.
    if fleet.url.contains(['@', '?', '#']) {
        let message = "must have no user and no password in it: set fleet.user and fleet.password";
        return fault("fleet", "url", message);
    }
    if fleet.user.is_some() && fleet.password.is_none() {
        return fault("fleet", "user", "needs a fleet.password");
    }
    let named = [
        ("name", Some(&fleet.name)),
        ("member", fleet.member.as_ref()),
    ];
    for (field, name) in named {
        if name.is_some_and(|name| !(1..=256).contains(&name.len())) {
            return fault("fleet", field, "must have 1 to 256 bytes");
        }
    }
    Ok(())
}

fn provider(path: &str, provider: &Provider) -> Result<(), Fault> {
    // The name is a label, a part of a path, and half of a breaker's name.
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if provider.name.is_empty() || !provider.name.chars().all(legal) {
        return fault(path, "name", "must be letters, digits, '-', '_' and '.'");
    }
    url(&format!("{path}.base_url"), &provider.base_url)?;
    at_least(path, "max_in_flight", provider.max_in_flight, 1)?;
    for (name, value) in &provider.headers {
        let is_free = HeaderName::try_from(name).is_ok_and(|name| headers::may_be_passed(&name));
        if !is_free || HeaderValue::try_from(value).is_err() {
            let message =
                "must be a header that is neither a credential nor of one connection alone";
            return fault(path, &format!("headers.{name}"), message);
        }
    }
    if let Some(index) = provider
        .drop
        .iter()
        .position(|field| field == "model" || field == "stream")
    {
        return fault(path, &format!("drop[{index}]"), "is needed in each request");
    }
    at_least(
        path,
        "limits.max_answer_bytes",
        provider.limits.max_answer_bytes,
        1024,
    )?;
    let overdue = provider.limits.overdue;
    if !(overdue > 0.0 && overdue <= 1.0) {
        return fault(path, "limits.overdue", "must be above 0 and at most 1");
    }
    if !(1..=10).contains(&provider.retry.attempts) {
        return fault(path, "retry.attempts", "must be 1 to 10");
    }
    told(&format!("{path}.breaker"), provider.breaker.validate())?;
    let throttle = provider.throttle.as_ref();
    told(
        &format!("{path}.throttle"),
        throttle.map_or(Ok(()), cutout::ThrottleConfig::validate),
    )
}

/// What the core finds wrong with a table.
fn told(path: &str, checked: Result<(), cutout::ConfigError>) -> Result<(), Fault> {
    checked.map_err(|error| {
        let field = format!("{path}.{}", error.field());
        let message = format!(
            "{} is not legal: it must be {}",
            error.value(),
            error.legal()
        );
        (field, message)
    })
}

fn route(path: &str, route: &Route, providers: &HashSet<&str>) -> Result<(), Fault> {
    if route.model.is_empty() {
        return fault(path, "model", "must not be empty");
    }
    if route.model.trim_end_matches('*').contains('*') || route.model.ends_with("**") {
        let message = "may have one '*', at its end, for all models that begin so";
        return fault(path, "model", message);
    }
    if !(1..=100).contains(&route.max_calls) {
        return fault(path, "max_calls", "must be 1 to 100");
    }
    if route.queue.is_empty() {
        return fault(path, "queue", "needs at least one provider");
    }
    let known = |field: String, provider: &str| {
        if providers.contains(provider) {
            return Ok(());
        }
        fault(
            path,
            &format!("{field}.provider"),
            format!("there is no provider {provider:?}"),
        )
    };
    let mut seen = HashSet::new();
    for (index, target) in route.queue.iter().enumerate() {
        known(format!("queue[{index}]"), &target.provider)?;
        if !(1..=10_000).contains(&target.weight) {
            return fault(
                path,
                &format!("queue[{index}].weight"),
                "must be 1 to 10000",
            );
        }
        if !seen.insert((&target.provider, &target.model)) {
            let field = format!("queue[{index}]");
            return fault(path, &field, "is in the queue twice");
        }
    }
    for (index, target) in route.degraded.models.iter().enumerate() {
        known(format!("degraded.models[{index}]"), &target.provider)?;
    }
    if let Some(canary) = &route.canary {
        known("canary".to_owned(), &canary.provider)?;
        if !(canary.share > 0.0 && canary.share <= 1.0) {
            return fault(path, "canary.share", "must be above 0 and at most 1");
        }
    }
    if let Some(header) = &route.sticky_header
        && HeaderName::try_from(header).is_err()
    {
        return fault(path, "sticky_header", "is no header name");
    }
    if route.degraded.cached_answers > 10_000 {
        return fault(path, "degraded.cached_answers", "must be at most 10000");
    }
    Ok(())
}

fn url(field: &str, text: &str) -> Result<(), Fault> {
    let legal = Uri::try_from(text.replace("{model}", "m")).is_ok_and(|uri| {
        let scheme = matches!(uri.scheme_str(), Some("http" | "https"));
        let plain = uri
            .authority()
            .is_some_and(|authority| !authority.as_str().contains('@'));
        scheme && plain && uri.query().is_none()
    });
    if legal {
        return Ok(());
    }
    let message = "must be an http or https URL without a user, a password or a query";
    Err((field.to_owned(), message.to_owned()))
}

fn at_least(path: &str, field: &str, value: usize, least: usize) -> Result<(), Fault> {
    if value >= least {
        return Ok(());
    }
    fault(path, field, format!("must be at least {least}"))
}

fn fault<T>(path: &str, field: &str, message: impl Into<String>) -> Result<T, Fault> {
    Err((format!("{path}.{field}"), message.into()))
}
