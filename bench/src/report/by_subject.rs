//! All subjects on one machine.

use std::fmt::Write;

use super::digits::{nanos, window};
use super::kept::Kept;
use super::standing::kind;
use super::summary::Row;
use crate::entry::Kind;

/// The page of a machine: medians of each workload, a column for each subject.
pub(super) fn page(kept: &Kept) -> String {
    let Kept { machine, rows } = kept;
    let mut names: Vec<&str> = Vec::new();
    let mut cells: Vec<&Row> = Vec::new();
    for row in rows.iter().filter(|row| is_shown(row)) {
        if !names.contains(&row.name.as_str()) {
            names.push(&row.name);
        }
        if !cells.iter().any(|cell| key(cell) == key(row)) {
            cells.push(row);
        }
    }
    let mut text = format!(
        "# {machine}\n\nVersion {}, measured {}, {}, {}. Median nanoseconds of a call on each thread, \
         in bold where none is faster.\n\n| workload, window | threads | {} |\n| --- | --: |{}\n",
        machine.version.as_deref().unwrap_or("unknown"),
        machine.date,
        machine.system,
        machine.compiler,
        names.join(" | "),
        " --: |".repeat(names.len()),
    );
    for cell in cells {
        let of = |name: &&str| {
            rows.iter()
                .find(|row| row.name == **name && key(row) == key(cell))
        };
        let ns: Vec<Option<f64>> = names
            .iter()
            .map(|name| of(name).and_then(|row| row.ns_per_call_median))
            .collect();
        let best = ns.iter().flatten().copied().fold(f64::MAX, f64::min);
        let _ = write!(
            text,
            "| {}, {} | {} |",
            cell.workload,
            window(cell.window),
            cell.threads
        );
        for ns in ns {
            let text_of = match ns {
                None => String::new(),
                Some(ns) if ns <= best => format!("**{}**", nanos(Some(ns))),
                ns => nanos(ns),
            };
            let _ = write!(text, " {text_of} |");
        }
        text.push('\n');
    }
    text
}

fn is_shown(row: &Row) -> bool {
    row.ns_per_call_median.is_some() && row.breakers == 1 && kind(row) != Kind::Floor
}

fn key(row: &Row) -> (&str, Option<usize>, usize) {
    (&row.workload, row.window, row.threads)
}
