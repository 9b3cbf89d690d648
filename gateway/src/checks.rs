//! Active checks: a tiny real request, on a schedule or at an operator's word. They are few, and go past a throttle.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use cutout::Outcome;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::clock::unix_millis;
use crate::config::{Check, CheckKind, Scope};
use crate::dialect::{Dialect, Endpoint};
use crate::gateway::Gateway;
use crate::providers::{Fleet, Target, Upstream, is_pattern};
use crate::proxy;
use crate::store::ProbeResult;

/// How often the schedule is looked at.
const TICK: Duration = Duration::from_millis(200);

/// Sends the checks that are due, for ever.
pub(crate) async fn schedule(gateway: Arc<Gateway>) {
    let mut last: HashMap<String, Last> = HashMap::new();
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        ticks.tick().await;
        let fleet = gateway.fleet.load_full();
        last.retain(|name, _| fleet.providers.contains_key(name));
        for (name, provider) in &fleet.providers {
            let Some(check) = &provider.settings.check else {
                continue;
            };
            let Some(target) = target(&fleet, name, check) else {
                continue;
            };
            let calls = target.upstream.totals().calls;
            let last = last.entry(name.clone()).or_insert_with(|| Last::now(calls));
            if last.at.elapsed() < check.every.get() {
                continue;
            }
            let quiet = last.calls == calls;
            *last = Last::now(calls);
            // Traffic tells more than a check could.
            if check.counts && !quiet {
                continue;
            }
            let (gateway, check) = (Arc::clone(&gateway), check.clone());
            tokio::spawn(async move {
                scheduled(&gateway, &target, &check).await;
            });
        }
    }
}

/// The last check of a provider, and how many calls it had had then.
struct Last {
    at: Instant,
    calls: u64,
}

impl Last {
    fn now(calls: u64) -> Self {
        Self {
            at: Instant::now(),
            calls,
        }
    }
}

async fn scheduled(gateway: &Gateway, target: &Arc<Target>, check: &Check) {
    if !check.counts {
        send(gateway, target, check.kind, None).await;
        return;
    }
    // An open breaker that is not due has its provider left alone.
    if let Ok(permit) = target.upstream.breaker.allow_owned() {
        send(gateway, target, check.kind, Some(permit)).await;
    }
}

/// Sends one request now, as a probe if the breaker admits it. `None` if there is no model to ask for.
pub(crate) async fn now(gateway: &Gateway, upstream: &Arc<Upstream>) -> Option<ProbeResult> {
    let fleet = gateway.fleet.load_full();
    let provider = fleet.providers.get(&upstream.provider)?;
    let mut targets = fleet.config.route.iter().flat_map(|route| route.targets());
    let routed = targets.find(|(name, model)| {
        **name == upstream.provider
            && !is_pattern(model)
            && upstream.model.as_ref().is_none_or(|own| own == model)
    });
    let check = provider.settings.check.as_ref();
    let kind = check.map_or(CheckKind::Chat, |check| check.kind);
    let model = match (&upstream.model, check) {
        (Some(model), _) => model.clone(),
        (None, Some(check)) => check.model.clone(),
        (None, None) => routed?.1.to_owned(),
    };
    let target = Arc::new(Target {
        provider: Arc::clone(provider),
        upstream: Arc::clone(upstream),
        throttle: None,
        model,
        takes_any: false,
    });
    let permit = upstream.breaker.allow_owned().ok();
    Some(send(gateway, &target, kind, permit).await)
}

async fn send(
    gateway: &Gateway,
    target: &Arc<Target>,
    kind: CheckKind,
    permit: Option<cutout::OwnedPermit>,
) -> ProbeResult {
    let (endpoint, body) = question(target.provider.settings.dialect, kind);
    let at_ms = unix_millis();
    let since = Instant::now();
    let answer = proxy::once(gateway, target, endpoint, body).await;
    let scope = target.provider.settings.scope;
    let counted = permit.is_some();
    if let Some(permit) = permit {
        permit.done(
            answer
                .as_ref()
                .map_or_else(|failed| failed.report(scope), |()| Outcome::Success.into()),
        );
    }
    let result = ProbeResult {
        breaker: target.upstream.name.clone(),
        at_ms,
        took_ms: u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX),
        error: answer.err().map(|failed| failed.what()),
        counted,
    };
    gateway.store.probe(result.clone());
    result
}

/// The smallest request of a dialect.
fn question(dialect: Dialect, kind: CheckKind) -> (Endpoint, &'static str) {
    const CHAT: &str =
        r#"{"model":"","max_tokens":1,"messages":[{"role":"user","content":"ping"}]}"#;
    match (dialect, kind) {
        (Dialect::OpenAi, CheckKind::Chat) => (Endpoint::Chat, CHAT),
        (Dialect::OpenAi, CheckKind::Embeddings) => {
            (Endpoint::Embeddings, r#"{"model":"","input":"ping"}"#)
        }
        (Dialect::Anthropic, _) => (Endpoint::Messages, CHAT),
        (Dialect::Gemini, _) => (
            Endpoint::Generate,
            r#"{"contents":[{"role":"user","parts":[{"text":"ping"}]}],"generationConfig":{"maxOutputTokens":1}}"#,
        ),
    }
}

/// What a provider's check asks for.
fn target(fleet: &Fleet, provider: &str, check: &Check) -> Option<Arc<Target>> {
    let settings = fleet.providers.get(provider)?;
    let name = match settings.settings.scope {
        Scope::Provider => provider.to_owned(),
        Scope::Model => format!("{provider}/{}", check.model),
    };
    Some(Arc::new(Target {
        provider: Arc::clone(settings),
        upstream: Arc::clone(fleet.upstreams.get(&name)?),
        throttle: None,
        model: check.model.clone(),
        takes_any: false,
    }))
}
