//! What each figure of the page shows.

use super::chart::{self, Axes, Bar, Line};
use super::digits::{grouped, nanos};
use super::ink::Ink;
use super::standing::kind;
use super::summary::Row;
use crate::cast;
use crate::entry::Kind;
use crate::record::QUANTILES;

/// The breakers in the order in which they are drawn, ours on top.
fn breakers() -> Vec<(&'static str, Ink)> {
    let peers = cast::peers();
    let numbered = peers.iter().enumerate();
    let mut breakers: Vec<_> = numbered
        .map(|(number, peer)| (peer.name, Ink::peer(number)))
        .collect();
    breakers.push((cast::ours().name, Ink::OURS));
    breakers
}

/// One line per breaker that has points.
fn lines_of(rows: &[Row], point: impl Fn(&Row) -> Option<(f64, f64)>) -> Vec<Line> {
    let each = breakers().into_iter();
    each.filter_map(|(name, ink)| line(rows, name, ink, &point))
        .collect()
}

fn line(
    rows: &[Row],
    name: &str,
    ink: Ink,
    point: impl Fn(&Row) -> Option<(f64, f64)>,
) -> Option<Line> {
    let of_subject = rows.iter().filter(|row| row.name == name);
    let mut points: Vec<_> = of_subject.filter_map(point).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let label = name.to_string();
    (!points.is_empty()).then_some(Line { label, ink, points })
}

fn per_second(power: i32) -> String {
    let (unit, step) = match power {
        ..3 => ("", 0),
        3..6 => (" k", 3),
        6..9 => (" M", 6),
        _ => (" G", 9),
    };
    format!("{}{unit}", 10_f64.powi(power - step))
}

fn duration(power: i32) -> String {
    let (unit, step) = match power {
        ..3 => ("ns", 0),
        3..6 => ("µs", 3),
        6..9 => ("ms", 6),
        _ => ("s", 9),
    };
    format!("{} {unit}", 10_f64.powi(power - step))
}

/// Calls per second by threads, with floors below.
pub(super) fn by_threads(rows: &[Row], workload: &str, floors: &[&str]) -> String {
    let window = if workload.contains("time_window") {
        None
    } else {
        Some(100)
    };
    let point = |row: &Row| Some((row.threads as f64, row.calls_per_second?));
    let takes = |row: &Row| row.workload == workload && row.window == window;
    let mut lines = lines_of(rows, |row| takes(row).then(|| point(row))?);
    let most = rows
        .iter()
        .filter(|row| takes(row))
        .map(|row| row.threads)
        .max();
    let most = most.unwrap_or(1);
    for name in floors {
        let below = |row: &Row| (row.threads <= most).then(|| point(row))?;
        lines.extend(line(rows, name, Ink::FLOOR, below));
    }
    let ticks: Vec<_> = [(1.0, "1"), (2.0, "2"), (4.0, "4"), (8.0, "8"), (16.0, "16")]
        .into_iter()
        .filter(|(threads, _)| *threads <= most.max(2) as f64)
        .collect();
    let axes = Axes {
        x: "threads that share one breaker",
        y: "calls per second, all threads together",
        ticks: &ticks,
        y_name: per_second,
    };
    chart::lines(&axes, &lines)
}

/// Time per call by window.
pub(super) fn by_window(rows: &[Row]) -> String {
    let lines = lines_of(rows, |row| {
        let takes = row.workload == "failing_20" && row.threads == 1;
        Some((row.window? as f64, row.ns_per_call_median?)).filter(|_| takes)
    });
    let axes = Axes {
        x: "outcomes in the window",
        y: "time per call",
        ticks: &[
            (20.0, "20"),
            (100.0, "100"),
            (1000.0, "1000"),
            (4096.0, "4096"),
        ],
        y_name: duration,
    };
    chart::lines(&axes, &lines)
}

/// Time per call by the number of breakers.
pub(super) fn by_breakers(rows: &[Row]) -> String {
    let lines = lines_of(rows, |row| {
        let takes = row.workload == "breakers";
        Some((row.breakers as f64, row.ns_per_call_median?)).filter(|_| takes)
    });
    let points = lines.iter().flat_map(|line| &line.points);
    let most = points.map(|(breakers, _)| *breakers).fold(100.0, f64::max);
    let ticks: Vec<_> = [
        (1.0, "1"),
        (1e2, "100"),
        (1e4, "10,000"),
        (1e6, "1,000,000"),
    ]
    .into_iter()
    .filter(|(breakers, _)| *breakers <= most)
    .collect();
    let axes = Axes {
        x: "breakers in the process",
        y: "time per call",
        ticks: &ticks,
        y_name: duration,
    };
    chart::lines(&axes, &lines)
}

/// Single calls by quantile.
pub(super) fn latency(rows: &[Row], workload: &str, threads: usize) -> String {
    let each = breakers().into_iter();
    let lines: Vec<Line> = each
        .filter_map(|(name, ink)| {
            let of_subject = |row: &&Row| row.name == name && row.threads == threads;
            let mut found = rows.iter().filter(of_subject);
            let row = found.find(|row| row.workload == workload)?;
            let points = QUANTILES.into_iter().zip(row.latency_ns.as_ref()?);
            let points = points
                .filter(|(quantile, _)| *quantile >= 0.5)
                .map(|(quantile, ns)| (1.0 / (1.0 - quantile), *ns))
                .collect();
            let label = name.into();
            Some(Line { label, ink, points })
        })
        .collect();
    let axes = Axes {
        x: "share of calls that took at most so long",
        y: "duration of a call, two clock reads included",
        ticks: &[
            (2.0, "50 %"),
            (10.0, "90 %"),
            (1e2, "99 %"),
            (1e3, "99.9 %"),
            (1e4, "99.99 %"),
            (1e5, "99.999 %"),
        ],
        y_name: duration,
    };
    chart::lines(&axes, &lines)
}

/// What a call through a tower service takes, by layer.
pub(super) fn layers(rows: &[Row]) -> String {
    let called = |layer: &str| format!("healthy_{layer}");
    let (shared, borrowing) = (called("layer"), called("borrowing_layer"));
    let mut bars = Vec::new();
    for row in rows.iter().filter(|row| row.threads == 1) {
        let label = match kind(row) {
            Kind::Ours if row.workload == borrowing => format!("{}, borrowing", row.name),
            _ if row.workload == shared => row.name.clone(),
            _ => continue,
        };
        let mut drawn = breakers().into_iter();
        let ink = drawn.find(|(name, _)| *name == row.name);
        let Some(value) = row.ns_per_call_median else {
            continue;
        };
        bars.push(Bar {
            label,
            value_label: format!("{} ns", nanos(Some(value))),
            ink: ink.map_or(Ink::FLOOR, |(_, ink)| ink),
            value,
        });
    }
    sorted(bars)
}

/// Bytes of a breaker.
pub(super) fn bytes(rows: &[Row]) -> String {
    let each = breakers().into_iter();
    let bars: Vec<Bar> = each
        .filter_map(|(name, ink)| {
            let of_subject = |row: &&Row| row.name == name && row.workload == "memory";
            let row = rows
                .iter()
                .filter(of_subject)
                .find(|row| row.window == Some(100))?;
            let value = row.bytes_per_breaker?;
            Some(Bar {
                label: name.into(),
                value_label: format!("{} B", grouped(value)),
                ink,
                value,
            })
        })
        .collect();
    sorted(bars)
}

fn sorted(mut bars: Vec<Bar>) -> String {
    bars.sort_by(|one, other| one.value.total_cmp(&other.value));
    if bars.is_empty() {
        return String::new();
    }
    chart::bars(&bars)
}
