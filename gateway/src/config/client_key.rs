//! A client's key: its name, where it is found, and what may be spent with it.

use std::num::NonZeroU64;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::KeySource;

/// A key of which clients must present one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientKey {
    /// Where it is found.
    pub source: KeySource,
    /// What the log, the metrics and the dashboard call it.
    pub name: String,
    /// What may be spent with it.
    pub limits: KeyLimits,
}

/// What may be spent with a key; each is above zero, or there is no such limit. Minutes and days are those of UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyLimits {
    /// Requests that are let in within a minute.
    pub requests_per_minute: Option<NonZeroU64>,
    /// Tokens within a minute, in and out. A request is let in as long as some are left.
    pub tokens_per_minute: Option<NonZeroU64>,
    /// Tokens within a day.
    pub tokens_per_day: Option<NonZeroU64>,
}

impl<'de> Deserialize<'de> for ClientKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

/// Reads it by hand: an error must not repeat what may be a key, and a derived one would.
struct Written;

const EXPECTED: &str = "`{ env = \"NAME\" }` or `{ file = \"path\" }`, with `name`, `requests_per_minute`, \
                        `tokens_per_minute` and `tokens_per_day` if wanted; the key itself does not belong in this file";

impl<'de> Visitor<'de> for Written {
    type Value = ClientKey;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<ClientKey, E> {
        Err(E::custom(format_args!("must be {EXPECTED}")))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ClientKey, A::Error> {
        let wrong = || A::Error::custom(format_args!("must be {EXPECTED}"));
        let (mut sources, mut name) = (Vec::new(), None);
        let mut limits = KeyLimits::default();
        while let Some(field) = map.next_key::<String>()? {
            match field.as_str() {
                "env" => sources.push(KeySource::Env(map.next_value()?)),
                "file" => sources.push(KeySource::File(map.next_value()?)),
                "name" => name = Some(map.next_value::<String>()?),
                "requests_per_minute" => limits.requests_per_minute = Some(map.next_value()?),
                "tokens_per_minute" => limits.tokens_per_minute = Some(map.next_value()?),
                "tokens_per_day" => limits.tokens_per_day = Some(map.next_value()?),
                _ => return Err(wrong()),
            }
        }
        let (Some(source), true) = (sources.pop(), sources.is_empty()) else {
            return Err(wrong());
        };
        let name = name.unwrap_or_else(|| source.name().to_owned());
        Ok(ClientKey {
            source,
            name,
            limits,
        })
    }
}
