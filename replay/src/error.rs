//! What ends a run before it has a result.

use std::fmt;
use std::path::PathBuf;

/// Why there is no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read or written.
    File {
        /// Which.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// An input is not what it should be; the text says where and what would be.
    Input {
        /// Which input.
        name: String,
        /// What is wrong, and what to do.
        message: String,
    },
    /// A config is not legal; the text has the line and the column where there is one.
    Config {
        /// Which config.
        name: String,
        /// What is wrong.
        message: String,
    },
    /// An option says something that cannot be meant.
    Usage(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Input { name, message } | Self::Config { name, message } => {
                write!(f, "{name}: {message}")
            }
            Self::Usage(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { error, .. } => Some(error),
            _ => None,
        }
    }
}
