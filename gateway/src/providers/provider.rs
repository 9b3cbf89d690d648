//! A provider as the configuration in force has it.

use std::sync::Arc;

use http::{HeaderName, HeaderValue, Uri};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;

use super::suspension::{Suspension, Suspensions};
use crate::client::Client;
use crate::config;
use crate::dialect::{Dialect, Endpoint};

/// A provider, ready to be called.
#[derive(Debug)]
pub struct Provider {
    /// What the configuration says of it.
    pub settings: config::Provider,
    /// One permit for each request that may be in flight to it.
    pub slots: Arc<Semaphore>,
    /// The header with the key, marked as sensitive so that no log shows it.
    pub key: Option<(HeaderName, HeaderValue)>,
    /// The connections to it.
    pub client: Client,
    /// The addresses of what has one whatever the model.
    addresses: Vec<(Endpoint, Uri)>,
    /// Begins empty with each configuration: its keys may be others.
    suspensions: Suspensions,
}

impl Provider {
    /// Fetches the key. The slots of `before` are kept if their number is the same; else calls
    /// in flight still hold the old ones, and for their time the limit may be exceeded.
    pub(super) fn new(settings: config::Provider, before: Option<&Self>) -> Result<Self, String> {
        let key = match &settings.api_key {
            Some(source) => Some(shown(settings.dialect, &source.read()?)?),
            None => None,
        };
        let slots = match before {
            Some(before) if before.settings.max_in_flight == settings.max_in_flight => {
                Arc::clone(&before.slots)
            }
            _ => Arc::new(Semaphore::new(
                settings.max_in_flight.min(Semaphore::MAX_PERMITS),
            )),
        };
        let limits = |settings: &config::Provider| settings.limits.connect;
        let client = match before {
            Some(before) if limits(&before.settings) == limits(&settings) => before.client.clone(),
            _ => Client::new(settings.limits.connect.get()),
        };
        let addresses = Endpoint::AT_PATHS.into_iter();
        let addresses = addresses.filter(|endpoint| endpoint.dialect() == settings.dialect);
        let addresses = addresses
            .map(|endpoint| Ok((endpoint, address(&settings, endpoint, "", None)?)))
            .collect::<Result<_, String>>()?;
        Ok(Self {
            settings,
            slots,
            key,
            client,
            addresses,
            suspensions: Suspensions::default(),
        })
    }

    /// Whether one of its models is left out, and why.
    pub fn suspended(&self, model: &str) -> Option<Suspension> {
        self.suspensions.of(model)
    }

    /// Leaves a model out for a time.
    pub(crate) fn suspend(&self, suspension: Suspension) {
        let (provider, model) = (&self.settings.name, suspension.model.clone());
        let (status, said) = (suspension.status, suspension.text.clone());
        let cause = suspension.cause;
        if self.suspensions.add(suspension) {
            tracing::warn!(provider, model, status, said, %cause, "a target is left out");
        }
    }

    /// Takes a model in again.
    pub(crate) fn resume(&self, model: &str) {
        self.suspensions.lift(model);
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

fn address(
    settings: &config::Provider,
    endpoint: Endpoint,
    model: &str,
    parameters: Option<&str>,
) -> Result<Uri, String> {
    let base = settings.base_url.trim_end_matches('/');
    let mut address = format!("{base}{}", endpoint.provider_path(model));
    if let Some(parameters) = parameters {
        address.push(if address.contains('?') { '&' } else { '?' });
        address.push_str(parameters);
    }
    Uri::try_from(address).map_err(|error| error.to_string())
}

/// The header that shows a key.
fn shown(dialect: Dialect, key: &SecretString) -> Result<(HeaderName, HeaderValue), String> {
    let (name, before) = dialect.key_header();
    let mut value = HeaderValue::try_from(format!("{before}{}", key.expose_secret()))
        .map_err(|_| "the key has characters that no header can carry".to_owned())?;
    value.set_sensitive(true);
    Ok((name, value))
}
