//! What changed since an earlier summary.

use std::fmt::Write;
use std::path::Path;

use super::digits::window;
use super::folder::Folder;
use super::kept;
use super::machine::Machine;
use super::standing::kind;
use super::summary::{self, Row};
use crate::entry::Kind;

/// The name of what the repository carries of this machine.
const KEPT: &str = "kept";

/// A change below this is noise on most machines.
const NOISE: f64 = 0.10;

/// What became of a cell.
#[derive(Clone, Debug)]
pub struct Change {
    /// As it is now.
    pub row: Row,
    /// The earlier median.
    pub before: f64,
    /// The median over the earlier one; above 1 it is slower.
    pub ratio: f64,
    /// The same of the best rounds.
    best: f64,
}

impl Change {
    fn between(before: &Row, row: &Row) -> Option<Self> {
        let ratio = |now: Option<f64>, before: Option<f64>| {
            Some(now? / before.filter(|before| *before > 0.0)?)
        };
        Some(Self {
            row: row.clone(),
            before: before.ns_per_call_median?,
            ratio: ratio(row.ns_per_call_median, before.ns_per_call_median)?,
            best: ratio(row.ns_per_call_min, before.ns_per_call_min)?,
        })
    }

    /// Slower, faster or neither: median and best round must both say so.
    pub fn verdict(&self) -> &'static str {
        let both = |test: fn(f64) -> bool| test(self.ratio) && test(self.best);
        if both(|ratio| ratio > 1.0 + NOISE) {
            "slower"
        } else if both(|ratio| ratio < 1.0 - NOISE) {
            "faster"
        } else {
            ""
        }
    }
}

/// Two summaries of one machine, cell by cell.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What the earlier one is called.
    pub name: String,
    /// All cells that are in both, the worst change first.
    pub changes: Vec<Change>,
}

impl Comparison {
    /// Compares with a summary that was kept under a name, or with the file of that path.
    ///
    /// # Errors
    ///
    /// Says why there is nothing to compare with: no such summary, or one of another machine.
    pub fn with(
        folder: &Folder,
        machine: &Machine,
        name: &str,
        rows: &[Row],
    ) -> Result<Self, String> {
        Ok(Self::between(name, &earlier(folder, machine, name)?, rows))
    }

    /// Compares two lists of rows.
    pub fn between(name: &str, earlier: &[Row], rows: &[Row]) -> Self {
        let change = |row: &Row| {
            let before = earlier.iter().find(|before| is_same_cell(before, row))?;
            Change::between(before, row)
        };
        let mut changes: Vec<Change> = rows.iter().filter_map(change).collect();
        changes.sort_by(|one, other| other.ratio.total_cmp(&one.ratio));
        Self {
            name: name.into(),
            changes,
        }
    }

    /// How many cells changed, and how far those that are not of this crate did, which nobody touched.
    pub fn heading(&self) -> String {
        let of = |verdict| {
            let found = |change: &&Change| change.verdict() == verdict;
            self.changes.iter().filter(found).count()
        };
        let mut text = format!(
            "{} cells compared with {}: {} slower and {} faster by more than {:.0} % in both median and best round",
            self.changes.len(),
            self.name,
            of("slower"),
            of("faster"),
            NOISE * 100.0,
        );
        let others = |change: &&Change| kind(&change.row) != Kind::Ours;
        let others: Vec<&Change> = self.changes.iter().filter(others).collect();
        if let Some(middle) = others.get(others.len() / 2) {
            let _ = write!(
                text,
                "; the median change of all but this crate is {:.2} times, which is the machine's",
                middle.ratio
            );
        }
        text
    }

    /// For a terminal: this crate's cells, and what changed of the others.
    pub fn text(&self) -> String {
        let mut text = self.heading() + "\n";
        let _ = writeln!(
            text,
            "{:>6} {:>10} {:>10}         cell",
            "times", "ns/call", "was"
        );
        for change in &self.changes {
            let Change { row, before, .. } = change;
            let verdict = change.verdict();
            if verdict.is_empty() && kind(row) != Kind::Ours {
                continue;
            }
            let _ = writeln!(
                text,
                "{:>6.2} {:>10.1} {before:>10.1} {verdict:<6}  {} {}, window {}, threads {}, breakers {}",
                change.ratio,
                row.ns_per_call_median.unwrap_or_default(),
                row.name,
                row.workload,
                window(row.window),
                row.threads,
                row.breakers,
            );
        }
        text
    }
}

/// The summary that was kept under a name, or is the file of that path.
///
/// # Errors
///
/// Says why there is none to compare with: no such summary, or one of another machine.
pub fn earlier(folder: &Folder, machine: &Machine, name: &str) -> Result<Vec<Row>, String> {
    let file = Path::new(name);
    let path = if name == KEPT {
        kept::folder(machine).summary()
    } else if file.is_file() {
        is_of(machine, file)?;
        file.into()
    } else {
        folder.baseline(name)
    };
    summary::read(&path).map_err(|error| format!("no summary in {}: {error}", path.display()))
}

/// Numbers of two machines differ by the machines, so a summary is asked for its own.
fn is_of(machine: &Machine, summary: &Path) -> Result<(), String> {
    let beside = summary.with_file_name("machine.json");
    let other = Machine::read(&beside).map_err(|error| {
        format!(
            "not compared: which machine {} is of would be in {}: {error}",
            summary.display(),
            beside.display()
        )
    })?;
    if other.slug() == machine.slug() {
        return Ok(());
    }
    Err(format!(
        "not compared: {} is of another machine ({other}) than this run ({machine}); \
         `cargo run -p cutout-bench --example machines` shows machines side by side",
        summary.display()
    ))
}

fn is_same_cell(one: &Row, other: &Row) -> bool {
    one.name == other.name
        && one.workload == other.workload
        && (one.window, one.threads, one.breakers) == (other.window, other.threads, other.breakers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Cell, Outcome, Record};

    fn summary(cells: &[(&str, f64)]) -> Vec<Row> {
        let record = |&(subject, ns_per_call): &(&str, f64)| Record {
            cell: Cell {
                workload: "healthy".into(),
                window: Some(100),
                threads: 1,
                breakers: 1,
                subject: subject.into(),
            },
            result: Outcome::Round {
                process: 0,
                ns_per_call,
                fairness: 1.0,
                allocations: 0.0,
            },
        };
        summary::rows(&cells.iter().map(record).collect::<Vec<_>>())
    }

    #[test]
    fn the_worst_change_comes_first_with_its_ratio() {
        let earlier = summary(&[("recloser", 2.0), ("cutout", 1.0), ("std-mutex", 4.0)]);
        let now = summary(&[("recloser", 1.0), ("cutout", 1.5), ("std-mutex", 4.1)]);
        let comparison = Comparison::between("old", &earlier, &now);
        let ratios = comparison.changes.iter().map(|change| change.ratio);
        assert_eq!(ratios.collect::<Vec<_>>(), [1.5, 4.1 / 4.0, 0.5]);
        let text = comparison.text();
        assert!(
            text.starts_with("3 cells compared with old: 1 slower and 1 faster"),
            "{text}"
        );
        assert!(
            text.contains("  1.50        1.5        1.0 slower  cutout healthy, window 100"),
            "{text}"
        );
        assert!(!text.contains("std-mutex"), "a peer that stayed: {text}");
    }

    #[test]
    fn a_summary_of_another_machine_is_refused() {
        let folder = Folder::of(kept::root().join("amd-epyc-family-25-model-1-2-cores"));
        let machine = Machine::read(&folder.machine()).expect("it is kept");
        let name = folder.summary();
        let name = name.to_str().expect("its name is text");
        let rows = summary(&[("cutout", 1.0)]);
        let same = Comparison::with(&folder, &machine, name, &rows).expect("the same machine");
        assert_eq!(same.changes.len(), 1);
        let kept = Comparison::with(&folder, &machine, KEPT, &rows).expect("by its name");
        assert_eq!(kept.changes.len(), 1);
        let other = Machine {
            model: Some(2),
            ..machine
        };
        let refusal = Comparison::with(&folder, &other, name, &rows).expect_err("another one");
        assert!(
            refusal.contains("family 25 model 1, 2 cores, virtual (AuthenticAMD)) than"),
            "{refusal}"
        );
    }

    #[test]
    fn a_summary_without_its_machine_is_refused() {
        let machine = Machine::of_here("full");
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let refusal = Comparison::with(&Folder::of("."), &machine, file, &[]);
        let refusal = refusal.expect_err("there is no machine beside it");
        assert!(refusal.contains("machine.json"), "{refusal}");
    }
}
