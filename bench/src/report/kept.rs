//! Results of whole runs that the repository carries, one folder for each kind of machine.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::folder::Folder;
use super::machine::Machine;
use super::summary::{self, Row};

/// A machine, and what was measured on it.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The machine.
    pub machine: Machine,
    /// The rows of its summary.
    pub rows: Vec<Row>,
}

/// The folder of all of them.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
}

/// The folder of a machine's results.
pub fn folder(machine: &Machine) -> Folder {
    Folder::of(root().join(machine.slug()))
}

/// All that are kept, by the names of their folders.
pub fn all() -> io::Result<Vec<Kept>> {
    let folders = fs::read_dir(root())?.map(|entry| Ok(entry?.path()));
    let mut folders = folders.collect::<io::Result<Vec<_>>>()?;
    folders.retain(|path| path.is_dir());
    folders.sort();
    let read = |path| {
        let folder = Folder::of(path);
        Ok(Kept {
            machine: Machine::read(&folder.machine())?,
            rows: summary::read(&folder.summary())?,
        })
    };
    folders.into_iter().map(read).collect()
}
