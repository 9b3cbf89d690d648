//! The `log` table.

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// What is written down.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// Where a line for each request goes.
    pub requests: RequestLog,
}

/// Where a line for each request goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestLog {
    /// `"stdout"`: to standard output.
    #[default]
    Stdout,
    /// `{ file = "path" }`: to the end of a file; relative to the configuration's folder.
    File(PathBuf),
    /// `"off"`: nowhere.
    Off,
}

impl RequestLog {
    /// The place, with the path of a file as it is seen from `folder`.
    #[must_use]
    pub fn within(&self, folder: &Path) -> Self {
        match self {
            Self::File(path) => Self::File(folder.join(path)),
            other => other.clone(),
        }
    }
}
