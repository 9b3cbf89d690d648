//! A provider as the configuration in force has it.

use std::sync::Arc;

use http::{HeaderValue, Uri};
use secrecy::ExposeSecret;
use tokio::sync::Semaphore;

use super::suspension::{Suspension, Suspensions};
use crate::client::Client;
use crate::config;

/// A provider, ready to be called.
#[derive(Debug)]
pub struct Provider {
    /// What the configuration says of it.
    pub settings: config::Provider,
    /// One permit for each request that may be in flight to it.
    pub slots: Arc<Semaphore>,
    /// The `Authorization` header, marked as sensitive so that no log shows it.
    pub authorization: Option<HeaderValue>,
    /// The connections to it.
    pub client: Client,
    uris: [Uri; 2],
    /// Begins empty with each configuration: its keys may be others.
    suspensions: Suspensions,
}

/// What a provider can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// `/chat/completions`.
    Chat,
    /// `/embeddings`.
    Embeddings,
}

impl Endpoint {
    /// Its name in metrics and in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Embeddings => "embeddings",
        }
    }
}

impl Provider {
    /// Fetches the key. The slots of `before` are kept if their number is the same; else calls
    /// in flight still hold the old ones, and for their time the limit may be exceeded.
    pub(super) fn new(settings: config::Provider, before: Option<&Self>) -> Result<Self, String> {
        let authorization = match &settings.api_key {
            Some(source) => {
                let key = source.read()?;
                let mut value = HeaderValue::try_from(format!("Bearer {}", key.expose_secret()))
                    .map_err(|_| "the key has characters that no header can carry".to_owned())?;
                value.set_sensitive(true);
                Some(value)
            }
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
        let base = settings.base_url.trim_end_matches('/');
        let uri = |path| Uri::try_from(format!("{base}{path}")).map_err(|error| error.to_string());
        let uris = [uri("/chat/completions")?, uri("/embeddings")?];
        Ok(Self {
            settings,
            slots,
            authorization,
            client,
            uris,
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

    /// The address of an endpoint.
    pub fn uri(&self, endpoint: Endpoint) -> &Uri {
        match endpoint {
            Endpoint::Chat => &self.uris[0],
            Endpoint::Embeddings => &self.uris[1],
        }
    }
}
