//! The keys and tokens that the configuration in force asks for.

use std::sync::Arc;

use http::HeaderMap;
use secrecy::{ExposeSecret, SecretString};

use super::token::{bearer, same, shown};
use crate::config::Server;

/// What operators and clients have to show.
#[derive(Clone, Debug)]
pub struct Keys {
    operators: SecretString,
    /// Whether the operators' token is in the configuration, rather than made at the start.
    configured: bool,
    clients: Vec<(Arc<str>, SecretString)>,
}

/// A field that would ask less than before, and what to do instead.
type Lowered = (&'static str, &'static str);

impl Keys {
    /// Fetches what `server` names; without an admin token `made` takes its place.
    ///
    /// # Errors
    ///
    /// The field whose key cannot be fetched, and why.
    pub fn read(server: &Server, made: &SecretString) -> Result<Self, (String, String)> {
        let operators = match &server.admin_token {
            Some(source) => source
                .read()
                .map_err(|why| ("server.admin_token".to_owned(), why))?,
            None => made.clone(),
        };
        let mut clients: Vec<(Arc<str>, SecretString)> = Vec::new();
        for (index, named) in server.client_keys.iter().enumerate() {
            let field = || format!("server.client_keys[{index}]");
            let key = named.source.read().map_err(|why| (field(), why))?;
            // Nobody could tell whose requests are whose.
            let given = key.expose_secret().as_bytes();
            if let Some((other, _)) = clients.iter().find(|(_, other)| same(given, other)) {
                return Err((field(), format!("is the same key as {other:?}")));
            }
            clients.push((Arc::from(named.name.as_str()), key));
        }
        Ok(Self {
            operators,
            configured: server.admin_token.is_some(),
            clients,
        })
    }

    /// Whether the operators' token is in the configuration. If not it was made at the start.
    pub fn is_configured(&self) -> bool {
        self.configured
    }

    /// Whether clients must show a key.
    pub fn asks_clients(&self) -> bool {
        !self.clients.is_empty()
    }

    /// The token that was made at the start, if it is in force.
    pub fn made(&self) -> Option<&str> {
        (!self.configured).then(|| self.operators.expose_secret())
    }

    /// What `next` would ask less of than this. What was asked for once is asked for until a restart, unless the file says
    /// outright that it is no more: a file that has lost a line must not open a door.
    pub fn lowered_by(&self, next: &Self, server: &Server) -> Option<Lowered> {
        if self.configured && !next.configured {
            return Some((
                "server.admin_token",
                "the gateway runs with an admin token and this file names none; put it back, or restart to go on without",
            ));
        }
        if self.asks_clients() && !next.asks_clients() && !server.allow_without_key {
            return Some((
                "server.client_keys",
                "the gateway runs with client keys and this file names none; put them back, or set \
                 allow_without_key = true if everyone may use your providers' keys",
            ));
        }
        None
    }

    /// Whether a request shows the operators' token.
    pub(super) fn is_operator(&self, headers: &HeaderMap) -> bool {
        bearer(headers).is_some_and(|given| same(given, &self.operators))
    }

    /// The name of the client key that a request shows.
    pub(super) fn client(&self, headers: &HeaderMap) -> Option<Arc<str>> {
        // All are compared, so that the time does not tell which one came close.
        let mut found = None;
        for given in shown(headers) {
            for (name, key) in &self.clients {
                if same(given, key) {
                    found.get_or_insert(name);
                }
            }
        }
        found.cloned()
    }
}
