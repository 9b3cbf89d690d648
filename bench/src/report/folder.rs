//! Where a run is written down.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The folder of a run, and what lies in it.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// `contention` in cargo's target folder, of which some file or folder
    /// inside is named. A run that measures only a part has a folder of its own in there.
    pub fn new(inside_target: &str, in_part: bool) -> Self {
        let target = Path::new(inside_target).parent();
        let mut path = target.unwrap_or(Path::new("target")).join("contention");
        if in_part {
            path.push("in-part");
        }
        Self { path }
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

    /// The summary that was kept under a name.
    pub fn baseline(&self, name: &str) -> PathBuf {
        self.path.join("baselines").join(format!("{name}.json"))
    }

    /// Makes room for a run; the summary of the last one is kept as `previous`.
    pub fn begin(&self) -> io::Result<()> {
        fs::create_dir_all(self.path.join("baselines"))?;
        if self.summary().exists() {
            fs::rename(self.summary(), self.baseline("previous"))?;
        }
        fs::write(self.samples(), "")
    }
}
