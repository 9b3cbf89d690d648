//! What got slower since an earlier summary.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::digits::window;
use super::folder::Folder;
use super::summary::Row;

/// A change below this is noise on most machines.
const NOISE: f64 = 0.10;

/// Compares with a summary that was kept under a name, or with the file of that path.
pub fn with_baseline(folder: &Folder, name: &str, rows: &[Row]) -> String {
    let path = Path::new(name);
    let path = if path.is_file() {
        path.into()
    } else {
        folder.baseline(name)
    };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => return format!("no baseline {}: {error}", path.display()),
    };
    match serde_json::from_str::<Vec<Row>>(&text) {
        Ok(earlier) => changes(&earlier, rows),
        Err(error) => format!("{} is not a summary: {error}", path.display()),
    }
}

/// Cells whose median and whose best round both changed by more than noise.
fn changes(earlier: &[Row], rows: &[Row]) -> String {
    let mut slower = Vec::new();
    let mut faster = 0;
    let mut compared = 0;
    for row in rows {
        let before = earlier.iter().find(|before| is_same_cell(before, row));
        let Some((before, median, min)) = before.and_then(|before| {
            let median = ratio(row.ns_per_call_median, before.ns_per_call_median)?;
            let min = ratio(row.ns_per_call_min, before.ns_per_call_min)?;
            Some((before, median, min))
        }) else {
            continue;
        };
        compared += 1;
        if median > 1.0 + NOISE && min > 1.0 + NOISE {
            slower.push((median, before, row));
        } else if median < 1.0 - NOISE && min < 1.0 - NOISE {
            faster += 1;
        }
    }
    slower.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut text = format!(
        "{compared} cells compared: {} slower and {faster} faster by more than {:.0} % in both median and best round\n",
        slower.len(),
        NOISE * 100.0
    );
    for (ratio, before, row) in slower {
        let percent = (ratio - 1.0) * 100.0;
        let ns = |row: &Row| row.ns_per_call_median.unwrap_or_default();
        let _ = writeln!(
            text,
            "  slower by {percent:.0} %: {} {}, window {}, threads {}, breakers {}: {:.1} ns, was {:.1} ns",
            row.name,
            row.workload,
            window(row.window),
            row.threads,
            row.breakers,
            ns(row),
            ns(before),
        );
    }
    text
}

fn is_same_cell(one: &Row, other: &Row) -> bool {
    one.name == other.name
        && one.workload == other.workload
        && (one.window, one.threads, one.breakers) == (other.window, other.threads, other.breakers)
}

fn ratio(now: Option<f64>, before: Option<f64>) -> Option<f64> {
    Some(now? / before.filter(|before| *before > 0.0)?)
}

#[cfg(test)]
mod tests {
    use super::super::summary;
    use super::*;
    use crate::record::{Cell, Outcome, Record};

    fn summary(ns_per_call: f64) -> Vec<Row> {
        let cell = Cell {
            workload: "healthy".into(),
            window: Some(100),
            threads: 1,
            breakers: 1,
            subject: "cutout".into(),
        };
        let result = Outcome::Round {
            process: 0,
            ns_per_call,
            fairness: 1.0,
            allocations: 0.0,
        };
        summary::rows(&[Record { cell, result }])
    }

    #[test]
    fn what_got_slower_is_named_with_both_numbers() {
        let text = changes(&summary(1.0), &summary(1.5));
        assert!(
            text.contains("slower by 50 %: cutout healthy, window 100, threads 1"),
            "{text}"
        );
        assert!(text.contains("1.5 ns, was 1.0 ns"), "{text}");
        let text = changes(&summary(1.0), &summary(1.05));
        assert!(
            text.starts_with("1 cells compared: 0 slower and 0 faster"),
            "{text}"
        );
    }
}
