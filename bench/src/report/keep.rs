//! How the results of a run become those that the repository carries.

use std::path::Path;
use std::{fs, io};

use serde_json::Value;

use super::compare::Comparison;
use super::coverage::Coverage;
use super::folder::Folder;
use super::machine::Machine;
use super::summary::{self, Row};
use super::{kept, readmes};

/// What a table or a comparison needs of a row; the rest follows from these, or is not kept.
const FIELDS: [&str; 9] = [
    "crate",
    "version",
    "workload",
    "window",
    "threads",
    "breakers",
    "ns_per_call_median",
    "ns_per_call_min",
    "latency_ns",
];

/// Takes over the results of a whole run in place of those of the same machine, and says what
/// changed. Writes all tables again.
///
/// # Errors
///
/// Says why not: the run is not a full one, or was stopped.
pub fn keep(run: &Folder) -> Result<String, String> {
    let (machine, rows) = whole(run)?;
    let kept = kept::folder(&machine);
    let changes = match (
        Machine::read(&kept.machine()),
        summary::read(&kept.summary()),
    ) {
        (Ok(before), Ok(earlier)) => {
            let version = before.version.as_deref().unwrap_or("unknown");
            let name = format!("version {version}, measured {}", before.date);
            Comparison::between(&name, &earlier, &rows).text()
        }
        _ => format!("the first results of {machine}\n"),
    };
    put(&kept, &machine, &rows).map_err(|error| error.to_string())?;
    readmes::write().map_err(|error| error.to_string())?;
    Ok(changes)
}

/// What is to be kept of a run.
fn whole(run: &Folder) -> Result<(Machine, Vec<Row>), String> {
    let machine = read(&run.machine(), Machine::read)?;
    let coverage = read(&run.coverage(), Coverage::read)?;
    if machine.mode != "full" {
        return Err(format!("not kept: it is a {} run", machine.mode));
    }
    if let Some(warning) = coverage.warning() {
        return Err(format!("not kept: {warning}"));
    }
    let rows = read(&run.summary(), summary::read)?;
    Ok((machine, rows))
}

fn read<T>(path: &Path, read: impl FnOnce(&Path) -> io::Result<T>) -> Result<T, String> {
    read(path).map_err(|error| {
        format!(
            "{}: {error}; `cargo bench -p cutout-bench --bench contention` measures",
            path.display()
        )
    })
}

fn put(kept: &Folder, machine: &Machine, rows: &[Row]) -> io::Result<()> {
    let at = kept.machine();
    fs::create_dir_all(at.parent().expect("it lies in a folder"))?;
    machine.write(&at)?;
    let lines: Vec<String> = rows
        .iter()
        .filter_map(|row| small(row).transpose())
        .collect::<serde_json::Result<_>>()?;
    fs::write(kept.summary(), format!("[\n{}\n]\n", lines.join(",\n")))
}

/// A row on one line; none if it has no times.
fn small(row: &Row) -> serde_json::Result<Option<String>> {
    if row.ns_per_call_median.or(row.latency(0.5)).is_none() {
        return Ok(None);
    }
    let mut value = serde_json::to_value(row)?;
    if let Value::Object(fields) = &mut value {
        fields.retain(|name, value| FIELDS.contains(&name.as_str()) && !value.is_null());
    }
    serde_json::to_string(&value).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report;

    fn run_of(name: &str, mode: &str, coverage: Coverage) -> Folder {
        let path = std::env::temp_dir().join(format!("cutout-keep-{name}-{}", std::process::id()));
        let folder = Folder::of(path);
        folder
            .begin()
            .expect("the folder of temporary files is writable");
        let machine = Machine::of_here(mode);
        machine.write(&folder.machine()).expect("as above");
        report::write(&folder, &[], &machine, coverage).expect("as above");
        folder
    }

    fn remove(folder: &Folder) {
        let path = folder.page();
        fs::remove_dir_all(path.parent().expect("it lies in the folder")).expect("it is there");
    }

    #[test]
    fn a_run_that_was_stopped_or_is_short_is_not_kept() {
        let stopped = run_of("stopped", "full", Coverage::new(3, 7));
        let refusal = whole(&stopped).expect_err("it was stopped");
        assert!(refusal.contains("3 of 7 tasks"), "{refusal}");
        remove(&stopped);
        let quick = run_of("quick", "quick", Coverage::new(7, 7));
        let refusal = whole(&quick).expect_err("it is quick");
        assert!(refusal.contains("a quick run"), "{refusal}");
        remove(&quick);
    }

    #[test]
    fn who_reports_a_stopped_run_again_is_warned_again() {
        let folder = run_of("again", "full", Coverage::new(3, 7));
        let coverage = Coverage::read(&folder.coverage()).expect("it is beside the samples");
        let machine = Machine::read(&folder.machine()).expect("as above");
        report::write(&folder, &[], &machine, coverage).expect("as above");
        let page = fs::read_to_string(folder.page()).expect("as above");
        assert!(page.contains("3 of 7 tasks are measured"), "{page}");
        remove(&folder);
    }
}
