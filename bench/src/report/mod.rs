//! What the profile's measurements come to: a page, a summary for machines, a
//! table for the terminal.

mod chart;
pub mod compare;
mod figures;
mod ink;
pub mod machine;
mod page;
pub mod standing;
pub mod summary;
mod tables;
pub mod text;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::profile::record::Record;
use machine::Machine;
use summary::Row;

/// Where a run is written down.
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
    pub fn begin(&self, machine: &Machine) -> io::Result<()> {
        fs::create_dir_all(self.path.join("baselines"))?;
        if self.summary().exists() {
            fs::rename(self.summary(), self.baseline("previous"))?;
        }
        fs::write(self.samples(), "")?;
        fs::write(self.machine(), serde_json::to_string_pretty(machine)?)
    }
}

/// How much of a plan has been measured.
#[derive(Clone, Copy, Debug)]
pub struct Coverage {
    done: usize,
    planned: usize,
}

impl Coverage {
    /// So many tasks of so many.
    pub fn new(done: usize, planned: usize) -> Self {
        Self { done, planned }
    }

    /// All there is, whatever was planned.
    pub fn unknown() -> Self {
        Self::new(0, 0)
    }
}

/// The records of a run that was written down.
pub fn read(folder: &Folder) -> io::Result<Vec<Record>> {
    let text = fs::read_to_string(folder.samples())?;
    Ok(parse(text.lines()).collect())
}

/// The records in lines of JSON. A line that was cut off is left out.
pub fn parse<'a>(lines: impl Iterator<Item = &'a str>) -> impl Iterator<Item = Record> {
    lines.filter_map(|line| serde_json::from_str(line).ok())
}

/// Writes the page and the summary.
pub fn write(
    folder: &Folder,
    records: &[Record],
    machine: &Machine,
    coverage: Coverage,
) -> io::Result<()> {
    let rows = summary::rows(records);
    let voids = summary::voids(records);
    fs::write(
        folder.summary(),
        serde_json::to_string_pretty(&rows)? + "\n",
    )?;
    fs::write(folder.page(), page::html(&rows, &voids, machine, coverage))
}

/// The summary of a run that was written down.
pub fn summary_of(folder: &Folder) -> io::Result<Vec<Row>> {
    let text = fs::read_to_string(folder.summary())?;
    Ok(serde_json::from_str(&text)?)
}
