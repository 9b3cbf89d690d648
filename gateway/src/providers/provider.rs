//! A provider as the configuration in force has it.

use std::sync::Arc;

use http::{HeaderName, HeaderValue, Uri};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;

use crate::client::Client;
use crate::config::{self, KeyHeader, Proxy};
use crate::dialect::{Endpoint, in_path};
use crate::replicas::{Replicas, key_name};
use crate::suspension::{Suspension, Suspensions};

/// Stands in a `base_url` for the model's name.
const MODEL: &str = "{model}";

/// A provider, ready to be called.
#[derive(Debug)]
pub struct Provider {
    /// What the configuration says of it.
    pub settings: config::Provider,
    /// One permit for each request that may be in flight to it.
    pub slots: Arc<Semaphore>,
    /// The header with the key, marked as sensitive so that no log shows it.
    pub key: Option<(HeaderName, HeaderValue)>,
    /// Headers that all requests to it have.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// The connections to it.
    pub client: Client,
    /// The addresses of what has one whatever the model.
    addresses: Vec<(Endpoint, Uri)>,
    /// Begins empty with each configuration: its keys may be others.
    suspensions: Suspensions,
    /// Those that are told of them.
    replicas: Option<Replicas>,
    /// Of key and address: who has others is told apart by it.
    digest: u16,
}

impl Provider {
    /// Fetches the key. The slots of `before` are kept if their number is the same; else calls
    /// in flight still hold the old ones, and for their time the limit may be exceeded.
    ///
    /// # Errors
    ///
    /// Which field cannot be used, and why.
    pub(super) fn new(
        settings: config::Provider,
        before: Option<&Self>,
        replicas: Option<Replicas>,
    ) -> Result<Self, (&'static str, String)> {
        let key = settings.api_key.as_ref().map(|source| {
            let key = source.read()?;
            shown(&settings, &key)
        });
        let key = key.transpose().map_err(|why| ("api_key", why))?;
        let slots = match before {
            Some(before) if before.settings.max_in_flight == settings.max_in_flight => {
                Arc::clone(&before.slots)
            }
            _ => Arc::new(Semaphore::new(
                settings.max_in_flight.min(Semaphore::MAX_PERMITS),
            )),
        };
        let reached = |settings: &config::Provider| {
            let (ca_file, proxy) = (settings.ca_file.clone(), settings.proxy.clone());
            (
                settings.limits.connect,
                settings.max_in_flight,
                ca_file,
                proxy,
            )
        };
        // Behind a secret there may be another one by now.
        let is_certain = !matches!(settings.proxy, Some(Proxy::Secret(_)));
        let client = match before {
            Some(before) if is_certain && reached(&before.settings) == reached(&settings) => {
                before.client.clone()
            }
            _ => Client::of(&settings)?,
        };
        let headers = settings.headers.iter().map(|(name, value)| {
            let name = HeaderName::try_from(name).map_err(|error| error.to_string())?;
            let value = HeaderValue::try_from(value).map_err(|error| error.to_string())?;
            Ok((name, value))
        });
        let headers = headers.collect::<Result<_, String>>();
        let headers = headers.map_err(|why| ("headers", why))?;
        let addresses = Endpoint::AT_PATHS.into_iter();
        let names_model = settings.base_url.contains(MODEL);
        let addresses =
            addresses.filter(|endpoint| endpoint.dialect() == settings.dialect && !names_model);
        let addresses = addresses
            .map(|endpoint| Ok((endpoint, address(&settings, endpoint, "", None)?)))
            .collect::<Result<_, String>>()
            .map_err(|why| ("base_url", why))?;
        let shown = key.as_ref().map(|(_, value)| value.as_bytes());
        let digest = digest(&[settings.base_url.as_bytes(), shown.unwrap_or_default()]);
        Ok(Self {
            settings,
            slots,
            key,
            headers,
            client,
            addresses,
            suspensions: Suspensions::default(),
            replicas,
            digest,
        })
    }

    /// Whether one of its models is left out, and why.
    pub fn suspended(&self, model: &str) -> Option<Suspension> {
        self.suspensions.of(model)
    }

    /// Leaves a model out for a time, and tells the other replicas.
    pub(crate) fn suspend(&self, suspension: Suspension) {
        let told = self.replicas.as_ref().map(|all| (all, suspension.clone()));
        let model = suspension.model.clone();
        if self.follow(suspension)
            && let Some((replicas, suspension)) = told
        {
            replicas.suspend(&self.key_name(&model), &suspension);
        }
    }

    /// Leaves a model out for a time, unless it is already: then `false`.
    pub(crate) fn follow(&self, suspension: Suspension) -> bool {
        let (provider, model) = (&self.settings.name, suspension.model.clone());
        let (status, said) = (suspension.status, suspension.text.clone());
        let cause = suspension.cause;
        let is_new = self.suspensions.add(suspension);
        if is_new {
            tracing::warn!(provider, model, status, said, %cause, "a target is left out");
        }
        is_new
    }

    /// Takes a model in again, and tells the other replicas.
    pub(crate) fn resume(&self, model: &str) {
        if self.lift(model)
            && let Some(replicas) = &self.replicas
        {
            replicas.resume(&self.key_name(model));
        }
    }

    /// Takes a model in again, if it was left out.
    pub(crate) fn lift(&self, model: &str) -> bool {
        self.suspensions.lift(model)
    }

    /// What the replicas call one of its models with its key.
    pub(crate) fn key_name(&self, model: &str) -> String {
        key_name(&self.settings.name, model, self.digest)
    }

    /// The address of an endpoint for a model, with parameters of the client's.
    ///
    /// # Errors
    ///
    /// It is no address: why.
    pub(crate) fn address(
        &self,
        endpoint: Endpoint,
        model: &str,
        parameters: Option<&str>,
    ) -> Result<Uri, String> {
        let mut known = self.addresses.iter();
        match known.find(|(known, _)| *known == endpoint) {
            Some((_, address)) if parameters.is_none() => Ok(address.clone()),
            _ => address(&self.settings, endpoint, model, parameters),
        }
    }
}

/// So many bits that keys are told apart, and so few that they tell nothing of a key.
fn digest(parts: &[&[u8]]) -> u16 {
    let bytes = parts.iter().flat_map(|part| part.iter().chain(&[0]));
    // FNV-1a, the same in all processes.
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 48) as u16
}

fn address(
    settings: &config::Provider,
    endpoint: Endpoint,
    model: &str,
    parameters: Option<&str>,
) -> Result<Uri, String> {
    let base = settings.base_url.trim_end_matches('/');
    let base = base.replace(MODEL, &in_path(model));
    let mut address = format!("{base}{}", endpoint.provider_path(model));
    let fixed = settings.query.iter();
    let fixed = fixed.map(|(name, value)| format!("{}={}", in_path(name), in_path(value)));
    for parameter in fixed.chain(parameters.map(str::to_owned)) {
        address.push(if address.contains('?') { '&' } else { '?' });
        address.push_str(&parameter);
    }
    Uri::try_from(address).map_err(|error| error.to_string())
}

/// The header that shows a key.
fn shown(
    settings: &config::Provider,
    key: &SecretString,
) -> Result<(HeaderName, HeaderValue), String> {
    let own = || settings.dialect.key_header();
    let (name, before) = settings.key_header.map_or_else(own, KeyHeader::written);
    let mut value = HeaderValue::try_from(format!("{before}{}", key.expose_secret()))
        .map_err(|_| "the key has characters that no header can carry".to_owned())?;
    value.set_sensitive(true);
    Ok((name, value))
}
