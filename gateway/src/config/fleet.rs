//! The `fleet` table.

use serde::Deserialize;

use super::KeySource;

/// The replicas that share what they find; a change needs a restart.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Fleet {
    /// The Redis or Valkey server (6 or later): `redis://host:6379/0`, `rediss://` for TLS, or `unix:///path`. No password in it.
    pub url: String,
    /// The user's name there, if it is not the default one.
    pub user: Option<String>,
    /// The password there.
    pub password: Option<KeySource>,
    /// Replicas of one name are one fleet.
    #[serde(default = "Fleet::default_name")]
    pub name: String,
    /// This replica's own name, unlike that of any other. By default the host's and the port, `HOSTNAME:8080`; a new one at each start
    /// where the environment has no `HOSTNAME`.
    pub member: Option<String>,
}

impl Fleet {
    fn default_name() -> String {
        "cutout-gateway".to_owned()
    }
}
