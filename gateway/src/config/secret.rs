//! Keys, which the file only points at.

use std::path::PathBuf;

use secrecy::SecretString;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

/// Where a key is found. The key itself is never in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// The name of an environment variable.
    Env(String),
    /// A file that holds the key and nothing else.
    File(PathBuf),
}

impl KeySource {
    /// What it is called: the variable, or the file. This is nothing secret.
    pub fn name(&self) -> &str {
        match self {
            Self::Env(name) => name,
            Self::File(path) => path.to_str().unwrap_or("a file"),
        }
    }

    /// Fetches the key, without the white space around it.
    ///
    /// # Errors
    ///
    /// Says what is missing, and never what was found.
    pub fn read(&self) -> Result<SecretString, String> {
        let text = match self {
            Self::Env(name) => std::env::var(name)
                .map_err(|_| format!("the environment variable {name} is not set")),
            Self::File(path) => std::fs::read_to_string(path)
                .map_err(|error| format!("{} cannot be read: {}", path.display(), error.kind())),
        }?;
        let key = text.trim();
        // What a header can carry.
        let legal = !key.is_empty() && key.bytes().all(|byte| (0x21..0x7f).contains(&byte));
        if legal {
            Ok(SecretString::from(key))
        } else {
            Err("the key is empty or has characters that no header can carry".to_owned())
        }
    }
}

impl<'de> Deserialize<'de> for KeySource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

/// Reads it by hand: an error must not repeat what may be a key, and a derived one would.
struct Written;

const EXPECTED: &str =
    "`{ env = \"NAME\" }` or `{ file = \"path\" }`; the key itself does not belong in this file";

impl<'de> Visitor<'de> for Written {
    type Value = KeySource;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<KeySource, E> {
        Err(E::custom(format_args!("must be {EXPECTED}")))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<KeySource, A::Error> {
        let wrong = || A::Error::custom(format_args!("must be {EXPECTED}"));
        let source = match map.next_key::<String>()?.as_deref() {
            Some("env") => KeySource::Env(map.next_value()?),
            Some("file") => KeySource::File(map.next_value()?),
            _ => return Err(wrong()),
        };
        if map.next_key::<String>()?.is_some() {
            return Err(wrong());
        }
        Ok(source)
    }
}
