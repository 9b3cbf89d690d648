//! The configuration in force as one value.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use cutout::{Snapshot, Throttle};
use secrecy::SecretString;
use tokio_rustls::TlsAcceptor;

use super::{Provider, Route, Target, Upstream};
use crate::auth::Keys;
use crate::config::{self, Config, File, Problem, Scope, Version};
use crate::events::Events;
use crate::replicas::Replicas;
use crate::store::Store;
use crate::tls;

/// All that a request needs of the configuration: one value, replaced as a whole.
#[derive(Debug)]
pub struct Fleet {
    /// Which text it was made from.
    pub version: Version,
    /// What the text says.
    pub config: Config,
    /// The text.
    pub text: String,
    /// What it says that is legal and hardly meant.
    pub warnings: Vec<String>,
    /// The providers by name.
    pub providers: BTreeMap<String, Arc<Provider>>,
    /// What the breakers guard, by the breaker's name.
    pub upstreams: BTreeMap<String, Arc<Upstream>>,
    /// The throttles beside the breakers, by the same name.
    pub throttles: BTreeMap<String, Arc<Throttle>>,
    /// The routes by model, or by a pattern of models.
    pub routes: HashMap<String, Arc<Route>>,
    /// What operators and clients have to show.
    pub keys: Keys,
    /// What makes connections private, if they are to be.
    pub(crate) tls: Option<Acceptor>,
}

/// Keeps the key to itself.
#[derive(Clone)]
pub(crate) struct Acceptor(pub(crate) TlsAcceptor);

impl fmt::Debug for Acceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Acceptor")
    }
}

impl Fleet {
    /// Builds what `file` says, and changes nothing yet. Breakers of `before` that are still wanted stay as they are, but
    /// for their config; new ones go on from `resumed`, if it has them. A throttle stays unless its config changes. Without an admin token `made` takes its place.
    ///
    /// # Errors
    ///
    /// A [`Problem`], and then nothing was changed.
    pub(crate) fn prepare(
        file: File,
        before: Option<&Self>,
        mut resumed: BTreeMap<String, Snapshot>,
        events: &Arc<Events>,
        store: &Arc<Store>,
        made: &SecretString,
        replicas: Option<&Replicas>,
    ) -> Result<Next, Problem> {
        let mut providers = BTreeMap::new();
        for (index, settings) in file.config.provider.iter().enumerate() {
            let old = before.and_then(|before| before.providers.get(&settings.name));
            let provider =
                Provider::new(settings.clone(), old.map(AsRef::as_ref), replicas.cloned());
            let provider = provider.map_err(|(field, why)| {
                file.problem(&format!("provider[{index}].{field}"), &why)
            })?;
            providers.insert(settings.name.clone(), Arc::new(provider));
        }
        let mut upstreams = BTreeMap::new();
        let mut throttles = BTreeMap::new();
        let mut changed = Vec::new();
        for (provider, model) in guarded(&file.config) {
            let name = name(&provider.name, model);
            if let Some(config) = provider.throttle {
                let old = before.and_then(|before| before.throttles.get(&name));
                let throttle = match old.filter(|old| *old.config() == config) {
                    Some(old) => Arc::clone(old),
                    None => throttle(&name, config)
                        .map_err(|error| file.problem("", &error.to_string()))?,
                };
                throttles.insert(name.clone(), throttle);
            }
            let config = provider.breaker_config();
            let upstream = match before.and_then(|before| before.upstreams.get(&name)) {
                Some(old) => {
                    changed.push((Arc::clone(old), config));
                    Arc::clone(old)
                }
                None => {
                    let resumed = resumed.remove(&name);
                    let name = &provider.name;
                    Upstream::new(name, model, config, resumed, events, store, replicas)
                        .map_err(|error| file.problem("", &error))?
                }
            };
            upstreams.insert(name, upstream);
        }
        let target = |route: &config::Route, to: &str, model: Option<&str>| {
            let provider = Arc::clone(providers.get(to)?);
            let model = model.unwrap_or(&route.model);
            let scoped = (provider.settings.scope == Scope::Model).then_some(model);
            let name = name(to, scoped);
            let upstream = Arc::clone(upstreams.get(&name)?);
            Some(Target {
                provider,
                upstream,
                throttle: throttles.get(&name).cloned(),
                model: model.to_owned(),
                takes_any: model == route.model && is_pattern(model),
            })
        };
        let mut routes = HashMap::new();
        for (index, settings) in file.config.route.iter().enumerate() {
            let listed = |targets: &[config::Target]| {
                let targets = targets.iter();
                targets
                    .filter_map(|entry| target(settings, &entry.provider, entry.model.as_deref()))
                    .collect()
            };
            let canary = settings.canary.as_ref();
            let canary = canary
                .and_then(|canary| target(settings, &canary.provider, canary.model.as_deref()));
            let old = before.and_then(|before| before.routes.get(&settings.model));
            let route = Route::new(
                settings.clone(),
                listed(&settings.queue),
                canary,
                listed(&settings.degraded.models),
                old.map(AsRef::as_ref),
            );
            let route = route
                .map_err(|error| file.problem(&format!("route[{index}]"), &error.to_string()))?;
            routes.insert(settings.model.clone(), Arc::new(route));
        }
        let keys = Keys::read(&file.config.server, made)
            .map_err(|(field, message)| file.problem(&field, &message))?;
        let tls = file.config.server.tls.as_ref().map(tls::acceptor);
        let tls = tls
            .transpose()
            .map_err(|(field, message)| file.problem(field, &message))?;
        if let Some(token) = file
            .config
            .webhook
            .as_ref()
            .and_then(|webhook| webhook.token.as_ref())
        {
            // It is fetched again for each transition; what is missing is better said now.
            token
                .read()
                .map_err(|message| file.problem("webhook.token", &message))?;
        }
        let fleet = Self {
            version: file.version,
            warnings: config::warnings(&file.config),
            config: file.config,
            text: file.text,
            providers,
            upstreams,
            throttles,
            routes,
            keys,
            tls: tls.map(Acceptor),
        };
        Ok(Next { fleet, changed })
    }
}

impl Fleet {
    /// The route of a model: its own, or else the one whose pattern says most of its name.
    pub(crate) fn route(&self, model: &str) -> Option<&Arc<Route>> {
        // A pattern is not a model that a client may name.
        let own = self.routes.get(model).filter(|_| !is_pattern(model));
        own.or_else(|| {
            let patterns = self.routes.iter().filter_map(|(name, route)| {
                let start = name.strip_suffix('*')?;
                model.starts_with(start).then_some((start.len(), route))
            });
            patterns
                .max_by_key(|(length, _)| *length)
                .map(|(_, route)| route)
        })
    }
}

/// Whether a route's model stands for all that begin so.
pub(crate) fn is_pattern(model: &str) -> bool {
    model.ends_with('*')
}

/// A configuration that is built and not yet in force.
#[derive(Debug)]
pub(crate) struct Next {
    pub(crate) fleet: Fleet,
    /// Breakers that go on with another config.
    changed: Vec<(Arc<Upstream>, cutout::Config)>,
}

impl Next {
    /// Gives the breakers their configs; nothing can fail any more.
    pub(crate) fn put_in_force(self) -> Fleet {
        for (upstream, config) in self.changed {
            if upstream.breaker.config() != config
                && let Err(error) = upstream.breaker.reconfigure(config)
            {
                tracing::error!(breaker = upstream.name, %error, "a checked config was refused");
            }
        }
        self.fleet
    }
}

/// What the breakers guard: a provider, or each model that a route asks it for.
fn guarded(config: &Config) -> Vec<(&config::Provider, Option<&str>)> {
    let mut guarded: Vec<(&config::Provider, Option<&str>)> = Vec::new();
    for provider in &config.provider {
        if provider.scope == Scope::Provider {
            guarded.push((provider, None));
            continue;
        }
        for route in &config.route {
            for (name, model) in route.targets() {
                let known = |(p, m): &(&config::Provider, Option<&str>)| {
                    p.name == *name && *m == Some(model)
                };
                if *name == provider.name && !guarded.iter().any(known) {
                    guarded.push((provider, Some(model)));
                }
            }
        }
    }
    guarded
}

fn throttle(
    name: &str,
    config: cutout::ThrottleConfig,
) -> Result<Arc<Throttle>, cutout::ConfigError> {
    let builder = Throttle::builder().name(name).totals(true);
    builder.config(config).build().map(Arc::new)
}

fn name(provider: &str, model: Option<&str>) -> String {
    match model {
        Some(model) => format!("{provider}/{model}"),
        None => provider.to_owned(),
    }
}
