//! Keys, which the file only points at.

use std::path::PathBuf;

use secrecy::SecretString;
use serde::Deserialize;

/// Where a key is found. The key itself is never in the configuration.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum KeySource {
    /// The name of an environment variable.
    Env(String),
    /// A file that holds the key and nothing else.
    File(PathBuf),
}

impl KeySource {
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
