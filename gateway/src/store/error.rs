//! Why there is no store, or no answer from it.

use std::fmt;
use std::path::{Path, PathBuf};

/// What is wrong with the database, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    /// The database file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: Fault,
}

/// The kinds of fault that call for different remedies.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Another process holds the file.
    Locked,
    /// The file is damaged or is no database; what SQLite said.
    Corrupt(String),
    /// A newer program wrote it, in this version of the tables.
    Newer(i64),
    /// It is a database of some other program.
    Foreign,
    /// It cannot be opened, read or written; what SQLite said.
    Unusable(String),
    /// The store was closed, or did not answer in time.
    NoAnswer,
}

impl StoreError {
    pub(super) fn new(path: &Path, fault: Fault) -> Self {
        Self {
            path: path.to_owned(),
            fault,
        }
    }

    pub(super) fn from_sqlite(path: &Path, error: &rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseCorrupt, DatabaseLocked, NotADatabase};
        let fault = match error.sqlite_error_code() {
            Some(DatabaseBusy | DatabaseLocked) => Fault::Locked,
            Some(DatabaseCorrupt | NotADatabase) => Fault::Corrupt(error.to_string()),
            _ => Fault::Unusable(error.to_string()),
        };
        Self::new(path, fault)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.fault {
            Fault::Locked => write!(
                f,
                "database {path} is in use by another process; stop that one or give this one a file of its own"
            ),
            Fault::Corrupt(detail) => write!(
                f,
                "database {path} is damaged ({detail}); move it away, and the next start makes a new one"
            ),
            Fault::Newer(version) => write!(
                f,
                "database {path} was written by a newer version (tables of version {version}); run that version or move the file away"
            ),
            Fault::Foreign => write!(
                f,
                "database {path} belongs to another program; choose another file"
            ),
            Fault::Unusable(detail) => write!(
                f,
                "database {path} cannot be used ({detail}); check that its folder exists, may be written and has room"
            ),
            Fault::NoAnswer => write!(
                f,
                "database {path} did not answer: it is closed, or busy for too long"
            ),
        }
    }
}

impl std::error::Error for StoreError {}
