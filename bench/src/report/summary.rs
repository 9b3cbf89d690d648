//! One row per cell: medians, quartiles, and what else was measured of it.

use std::collections::HashMap;
use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::cast;
use crate::record::{Cell, Outcome, QUANTILES, Record};

/// One object of `summary.json`. The names of the fields stay; null means not measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The crate, or what stands for it.
    #[serde(rename = "crate")]
    pub name: String,
    /// Its version.
    pub version: String,
    /// The workload.
    pub workload: String,
    /// Outcomes in the window; null for a time window.
    pub window: Option<usize>,
    /// Threads that call.
    pub threads: usize,
    /// Nanoseconds per call on each thread, median over the rounds.
    pub ns_per_call_median: Option<f64>,
    /// The best round.
    pub ns_per_call_min: Option<f64>,
    /// Calls of all threads together in a second, at the median.
    pub calls_per_second: Option<f64>,
    /// Allocations per call.
    pub allocations_per_call: Option<f64>,
    /// Bytes of one breaker, inline and heap, its window full.
    pub bytes_per_breaker: Option<f64>,
    /// A quarter of the rounds were at or below this.
    pub ns_per_call_q1: Option<f64>,
    /// Three quarters of the rounds were at or below this.
    pub ns_per_call_q3: Option<f64>,
    /// Rounds measured, of all processes.
    #[serde(default)]
    pub rounds: usize,
    /// Breakers that were called.
    pub breakers: usize,
    /// The fastest thread's time over the slowest's, median.
    pub fairness: Option<f64>,
    /// Nanoseconds of a single call at each of the [`QUANTILES`], median over processes.
    pub latency_ns: Option<Vec<f64>>,
    /// The slowest call of all.
    pub latency_ns_max: Option<f64>,
}

impl Row {
    /// The latency at one of the [`QUANTILES`].
    pub fn latency(&self, quantile: f64) -> Option<f64> {
        let place = QUANTILES.iter().position(|known| *known == quantile)?;
        self.latency_ns.as_ref()?.get(place).copied()
    }
}

/// The rows of a summary that was written down.
pub fn read(path: &Path) -> io::Result<Vec<Row>> {
    Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
}

/// A cell that has no numbers, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Void {
    /// The subject.
    pub subject: String,
    /// The workload.
    pub workload: String,
    /// Threads.
    pub threads: usize,
    /// Why.
    pub reason: String,
}

#[derive(Default)]
struct Gathered {
    ns: Vec<f64>,
    fairness: Vec<f64>,
    allocations: Option<f64>,
    bytes: Option<f64>,
    latencies: Vec<Vec<u64>>,
    max: Option<u64>,
    void: bool,
}

impl Gathered {
    fn add(&mut self, result: &Outcome) {
        match result {
            Outcome::Round {
                ns_per_call,
                fairness,
                allocations,
                ..
            } => {
                self.ns.push(*ns_per_call);
                self.fairness.push(*fairness);
                self.allocations = Some(*allocations);
            }
            Outcome::Latency { ns, max } => {
                self.latencies.push(ns.clone());
                self.max = self.max.max(Some(*max));
            }
            Outcome::Memory { bytes } => self.bytes = Some(*bytes),
            Outcome::Void { .. } => self.void = true,
        }
    }
}

/// The rows of all cells that have numbers, in the order in which they were measured.
pub fn rows(records: &[Record]) -> Vec<Row> {
    let mut places: HashMap<&Cell, usize> = HashMap::new();
    let mut cells: Vec<(&Cell, Gathered)> = Vec::new();
    for Record { cell, result } in records {
        let place = *places.entry(cell).or_insert(cells.len());
        if place == cells.len() {
            cells.push((cell, Gathered::default()));
        }
        cells[place].1.add(result);
    }
    // A subject that left its state in any process has no row.
    cells.retain(|(_, gathered)| !gathered.void);
    let with_bytes = cells.iter().filter(|(cell, _)| cell.breakers == 1);
    let bytes: HashMap<(&str, Option<usize>), f64> = with_bytes
        .filter_map(|(cell, gathered)| Some((by_window(cell), gathered.bytes?)))
        .collect();
    let row = |(cell, gathered): &(&Cell, Gathered)| {
        row(cell, gathered, bytes.get(&by_window(cell)).copied())
    };
    cells.iter().map(row).collect()
}

fn by_window(cell: &Cell) -> (&str, Option<usize>) {
    (&cell.subject, cell.window)
}

fn row(cell: &Cell, gathered: &Gathered, bytes: Option<f64>) -> Row {
    let ns = |quantile: f64| quantile_of(&gathered.ns, quantile);
    let latency_at = |place: usize| {
        let each = gathered.latencies.iter().map(|ns| ns[place] as f64);
        quantile_of(&each.collect::<Vec<_>>(), 0.5)
    };
    let version = cast::named(&cell.subject).map_or("", |entry| entry.version);
    Row {
        version: version.into(),
        ns_per_call_median: ns(0.5),
        ns_per_call_min: ns(0.0),
        ns_per_call_q1: ns(0.25),
        ns_per_call_q3: ns(0.75),
        calls_per_second: ns(0.5).map(|ns| (cell.threads as f64 * 1e9 / ns).round()),
        allocations_per_call: gathered.allocations,
        bytes_per_breaker: gathered.bytes.or(bytes),
        rounds: gathered.ns.len(),
        fairness: quantile_of(&gathered.fairness, 0.5),
        latency_ns: (0..QUANTILES.len()).map(latency_at).collect(),
        latency_ns_max: gathered.max.map(|ns| ns as f64),
        name: cell.subject.clone(),
        workload: cell.workload.clone(),
        window: cell.window,
        threads: cell.threads,
        breakers: cell.breakers,
    }
}

/// The cells without numbers, each once.
pub fn voids(records: &[Record]) -> Vec<Void> {
    let void = |record: &Record| match &record.result {
        Outcome::Void { reason } => Some(Void {
            subject: record.cell.subject.clone(),
            workload: record.cell.workload.clone(),
            threads: record.cell.threads,
            reason: reason.clone(),
        }),
        _ => None,
    };
    let mut voids: Vec<Void> = records.iter().filter_map(void).collect();
    voids.sort();
    voids.dedup();
    voids
}

/// A quantile of a list, between its values where it falls between them.
fn quantile_of(values: &[f64], quantile: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let place = quantile * last as f64;
    let (below, above) = (
        sorted[place.floor() as usize],
        sorted[place.ceil() as usize],
    );
    let between = below + (above - below) * place.fract();
    Some((between * 1000.0).round() / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(subject: &str, result: Outcome) -> Record {
        let cell = Cell {
            workload: "healthy".into(),
            window: Some(100),
            threads: 2,
            breakers: 1,
            subject: subject.into(),
        };
        Record { cell, result }
    }

    fn round(subject: &str, ns_per_call: f64) -> Record {
        let result = Outcome::Round {
            process: 0,
            ns_per_call,
            fairness: 1.0,
            allocations: 0.0,
        };
        record(subject, result)
    }

    #[test]
    fn medians_quartiles_and_totals_come_from_all_rounds() {
        let records: Vec<_> = [5.0, 1.0, 3.0, 2.0, 4.0]
            .map(|ns| round("cutout", ns))
            .into();
        let rows = rows(&records);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].ns_per_call_median, Some(3.0));
        assert_eq!(rows[0].ns_per_call_q1, Some(2.0));
        assert_eq!(rows[0].ns_per_call_min, Some(1.0));
        assert_eq!(rows[0].calls_per_second, Some(666_666_667.0));
    }

    #[test]
    fn a_subject_that_left_its_state_once_has_no_row() {
        let reason = "it is Open".to_string();
        let records = [
            round("cutout", 1.0),
            round("recloser", 2.0),
            record("recloser", Outcome::Void { reason }),
        ];
        let rows = rows(&records);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].name, "cutout");
        assert_eq!(voids(&records).len(), 1);
    }

    #[test]
    fn the_summary_has_the_promised_fields() {
        let rows = rows(&[round("cutout", 1.0)]);
        let json = serde_json::to_value(&rows).expect("rows can be written");
        for field in [
            "crate",
            "version",
            "workload",
            "window",
            "threads",
            "ns_per_call_median",
            "ns_per_call_min",
            "calls_per_second",
            "allocations_per_call",
            "bytes_per_breaker",
        ] {
            assert!(json[0].get(field).is_some(), "{field}");
        }
    }
}
