//! Through whom a provider is reached.

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::KeySource;

/// Through whom a provider is reached, whatever the environment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proxy {
    /// Nobody.
    None,
    /// The proxy of this URL.
    Url(String),
    /// The proxy of a URL that is found elsewhere, since it has a user and a password in it.
    Secret(KeySource),
}

impl<'de> Deserialize<'de> for Proxy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

/// Reads it by hand: an error must not repeat what may be a password, and a derived one would.
struct Written;

const EXPECTED: &str = "\"none\", \"http://host:port\", or, for a URL with a user and a password, `{ env = \"NAME\" }` or \
                        `{ file = \"path\" }`";

impl<'de> Visitor<'de> for Written {
    type Value = Proxy;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Proxy, E> {
        match text {
            "none" => Ok(Proxy::None),
            url if url.starts_with("http://") && !url.contains('@') => {
                Ok(Proxy::Url(url.to_owned()))
            }
            _ => Err(E::custom(format_args!("must be {EXPECTED}"))),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Proxy, A::Error> {
        KeySource::deserialize(MapAccessDeserializer::new(map)).map(Proxy::Secret)
    }
}
