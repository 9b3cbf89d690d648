//! How much of a plan has been measured.

use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

/// Tasks done, of those planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    done: usize,
    planned: usize,
}

impl Coverage {
    /// So many tasks of so many.
    pub fn new(done: usize, planned: usize) -> Self {
        Self { done, planned }
    }

    /// What to say of a run that is not complete.
    pub fn warning(&self) -> Option<String> {
        let Self { done, planned } = self;
        (done < planned).then(|| {
            format!("{done} of {planned} tasks are measured: the run goes on, or was stopped.")
        })
    }

    /// Writes it down beside what is measured, for whoever makes the page again.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        fs::write(path, serde_json::to_string(self)? + "\n")
    }

    /// How much of a run that was written down is measured.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
    }
}
