//! What the profile's measurements come to: a page, a summary for machines, a
//! table for the terminal.

mod by_subject;
pub(crate) mod chart;
pub mod compare;
mod coverage;
mod digits;
mod figures;
mod folder;
pub(crate) mod ink;
pub mod keep;
pub mod kept;
pub mod machine;
mod page;
pub mod readmes;
pub mod side_by_side;
pub mod standing;
pub mod summary;
mod tables;
pub mod text;

use std::{fs, io};

pub use coverage::Coverage;
pub use folder::{Folder, PREVIOUS};
use machine::Machine;

use crate::record::Record;

/// The records of a run that was written down.
pub fn read(folder: &Folder) -> io::Result<Vec<Record>> {
    let text = fs::read_to_string(folder.samples())?;
    Ok(parse(text.lines()).collect())
}

/// The records in lines of JSON. A line that was cut off is left out.
pub fn parse<'a>(lines: impl Iterator<Item = &'a str>) -> impl Iterator<Item = Record> {
    lines.filter_map(record)
}

/// The record in a line of JSON.
pub fn record(line: &str) -> Option<Record> {
    serde_json::from_str(line).ok()
}

/// Writes the page and the summary.
pub fn write(
    folder: &Folder,
    records: &[Record],
    machine: &Machine,
    coverage: Coverage,
) -> io::Result<()> {
    coverage.write(&folder.coverage())?;
    let rows = summary::rows(records);
    let voids = summary::voids(records);
    fs::write(
        folder.summary(),
        serde_json::to_string_pretty(&rows)? + "\n",
    )?;
    fs::write(folder.page(), page::html(&rows, &voids, machine, coverage))
}
