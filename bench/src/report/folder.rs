//! Where a run is written down.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::machine::Machine;

/// The name of the run before, which a run sets aside as it begins.
pub const PREVIOUS: &str = "previous";

/// The folder of a run, and what lies in it.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The machine's own folder under `contention` in cargo's target folder, of which some file or folder
    /// inside is named. A run that measures only a part has a folder of its own in there.
    pub fn new(inside_target: impl AsRef<Path>, machine: &Machine, in_part: bool) -> Self {
        let target = inside_target.as_ref().parent();
        let mut path = target.unwrap_or(Path::new("target")).join("contention");
        path.push(machine.slug());
        if in_part {
            path.push("in-part");
        }
        Self { path }
    }

    /// A folder in which a machine and a summary lie.
    pub fn of(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The page.
    pub fn page(&self) -> PathBuf {
        self.path.join("index.html")
    }

    /// The list for machines.
    pub fn summary(&self) -> PathBuf {
        self.path.join("summary.json")
    }

    /// All that workers said, as it came.
    pub fn samples(&self) -> PathBuf {
        self.path.join("samples.jsonl")
    }

    /// What was measured on.
    pub fn machine(&self) -> PathBuf {
        self.path.join("machine.json")
    }

    /// How much of the plan was measured.
    pub fn coverage(&self) -> PathBuf {
        self.path.join("coverage.json")
    }

    /// The summary that was kept under a name.
    pub fn baseline(&self, name: &str) -> PathBuf {
        self.path.join("baselines").join(format!("{name}.json"))
    }

    /// Makes room for a run; the summary of the last one is kept as `previous`.
    pub fn begin(&self) -> io::Result<()> {
        fs::create_dir_all(self.path.join("baselines"))?;
        if self.summary().exists() {
            fs::rename(self.summary(), self.baseline(PREVIOUS))?;
        }
        fs::write(self.samples(), "")
    }
}
