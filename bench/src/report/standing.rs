//! Where this crate stands in each workload: beside its fastest peer and a bare CAS.

use super::digits::grouped;
use super::summary::Row;
use crate::cast;
use crate::entry::Kind;

/// One workload on so many threads.
#[derive(Clone, Debug)]
pub struct Standing<'a> {
    /// This crate.
    pub ours: &'a Row,
    /// The fastest of the others.
    pub peer: Option<&'a Row>,
    /// The same loop without a breaker: what of these numbers is not theirs.
    pub bare: Option<&'a Row>,
    /// A bare CAS loop on as many threads.
    pub floor: Option<&'a Row>,
}

impl Standing<'_> {
    /// How many times faster than the fastest peer; below 1 the peer is faster.
    pub fn times_peer(&self) -> Option<f64> {
        Some(self.peer?.ns_per_call_median? / self.ours.ns_per_call_median?)
    }

    /// Whether the peer is faster.
    pub fn is_behind(&self) -> bool {
        self.times_peer().is_some_and(|times| times < 1.0)
    }

    /// Whether this is what most will look for: a whole workload, on one and on two threads.
    pub fn is_main(&self) -> bool {
        const MAIN: [&str; 13] = [
            "healthy",
            "failing_1",
            "failing_20",
            "failing_50",
            "rejecting",
            "half_open_storm",
            "flapping",
            "healthy_scores",
            "failing_1_scores",
            "failing_20_scores",
            "healthy_time_window",
            "failing_20_time_window",
            "healthy_layer",
        ];
        let Row {
            workload, window, ..
        } = self.ours;
        MAIN.contains(&workload.as_str())
            && matches!(window, None | Some(100) | Some(10))
            && self.ours.threads <= 2
    }

    /// The workload's name, and how many breakers there are if that is what varies.
    pub fn name(&self) -> String {
        let Row {
            workload, breakers, ..
        } = self.ours;
        if workload == "breakers" {
            format!("{workload} ({})", grouped(*breakers as f64))
        } else {
            workload.clone()
        }
    }

    /// How many CAS loops a call costs.
    pub fn in_floors(&self) -> Option<f64> {
        Some(self.ours.ns_per_call_median? / self.floor?.ns_per_call_median?)
    }
}

/// What a subject is to the comparison.
pub fn kind(row: &Row) -> Kind {
    cast::named(&row.name).map_or(Kind::Peer, |entry| entry.kind)
}

/// The fastest peer of a row's cell: same workload, window, threads and number of breakers.
pub fn fastest_peer<'a>(rows: &'a [Row], like: &Row) -> Option<&'a Row> {
    fastest(rows, like, Kind::Peer)
}

fn fastest<'a>(rows: &'a [Row], like: &Row, of_kind: Kind) -> Option<&'a Row> {
    let of = |row: &Row| (row.window, row.threads, row.breakers);
    let ns = |row: &Row| row.ns_per_call_median.unwrap_or(f64::MAX);
    rows.iter()
        .filter(|row| row.workload == like.workload && of(row) == of(like))
        .filter(|row| kind(row) == of_kind && row.ns_per_call_median.is_some())
        .min_by(|one, other| ns(one).total_cmp(&ns(other)))
}

/// A floor on so many threads.
pub fn floor<'a>(rows: &'a [Row], name: &str, threads: usize) -> Option<&'a Row> {
    rows.iter()
        .find(|row| row.name == name && row.threads == threads)
}

/// All workloads in which this crate was timed.
pub fn all(rows: &[Row]) -> Vec<Standing<'_>> {
    rows.iter()
        .filter(|row| kind(row) == Kind::Ours && row.ns_per_call_median.is_some())
        .map(|ours| Standing {
            ours,
            peer: fastest_peer(rows, ours),
            bare: fastest(rows, ours, Kind::Floor),
            floor: floor(rows, "cas-loop", ours.threads),
        })
        .collect()
}

/// The p99.9 of single calls on the most threads: this crate's, and the least of the peers'.
pub fn tail<'a>(rows: &'a [Row], workload: &str) -> Option<(&'a Row, &'a Row)> {
    let timed = || {
        let of_workload = rows.iter().filter(move |row| row.workload == workload);
        of_workload.filter(|row| row.latency(0.999).is_some())
    };
    let threads = timed().map(|row| row.threads).max()?;
    let on_most = || timed().filter(move |row| row.threads == threads);
    let p999 = |row: &Row| row.latency(0.999).unwrap_or(f64::MAX);
    let ours = on_most().find(|row| kind(row) == Kind::Ours)?;
    let peers = on_most().filter(|row| kind(row) == Kind::Peer);
    let peer = peers.min_by(|one, other| p999(one).total_cmp(&p999(other)))?;
    Some((ours, peer))
}
