//! The tables of the READMEs: this crate and its best peer, machine beside machine.

use std::fmt::Write;

use super::digits::{nanos, window};
use super::kept::Kept;
use super::standing;
use super::summary::Row;

/// The workloads of the benches' README, and their windows.
const WORKLOADS: [(&str, Option<usize>); 14] = [
    ("healthy", Some(100)),
    ("failing_1", Some(100)),
    ("failing_20", Some(100)),
    ("failing_50", Some(100)),
    ("failing_20", Some(1000)),
    ("failing_20", Some(4096)),
    ("rejecting", Some(100)),
    ("half_open_storm", Some(100)),
    ("flapping", Some(10)),
    ("healthy_time_window", None),
    ("failing_20_time_window", None),
    ("healthy_layer", Some(100)),
    ("healthy_owned", Some(100)),
    ("failing_20_timeout_rule", Some(4096)),
];

/// The threads that are shown: alone, on all cores of the smallest machine, and crowded, also by many.
const THREADS: [usize; 4] = [1, 2, 8, 16];

/// The cases of the core's README: what they are called, the subject, the workload and its window.
const CASES: [(&str, &str, &str, Option<usize>); 18] = [
    (
        "floor: a compare-and-swap loop",
        "cas-loop",
        "floor",
        Some(100),
    ),
    ("floor: a clock read", "quanta-clock", "floor", Some(100)),
    ("healthy", OURS, "healthy", Some(100)),
    ("1 % of the calls fail", OURS, "failing_1", Some(100)),
    ("20 % of the calls fail", OURS, "failing_20", Some(100)),
    ("50 % of the calls fail", OURS, "failing_50", Some(100)),
    ("20 %, a window of 4096", OURS, "failing_20", Some(4096)),
    (
        "20 %, two rules that count",
        OURS,
        "failing_20_timeout_rule",
        Some(100),
    ),
    ("rejecting while open", OURS, "rejecting", Some(100)),
    (
        "half-open, the probe is out",
        OURS,
        "half_open_storm",
        Some(100),
    ),
    (
        "trip, probe and close, over and over",
        OURS,
        "flapping",
        Some(10),
    ),
    (
        "time window of 10 s, healthy",
        OURS,
        "healthy_time_window",
        None,
    ),
    (
        "the same, 20 % of the calls fail",
        OURS,
        "failing_20_time_window",
        None,
    ),
    ("with `Builder::totals`", OURS, "healthy_counted", Some(100)),
    (
        "a slow rule: two clock reads",
        OURS,
        "healthy_slow_rule",
        Some(100),
    ),
    ("an owned permit", OURS, "healthy_owned", Some(100)),
    (
        "`tower` layer, its breaker in an `Arc`",
        OURS,
        "healthy_layer",
        Some(100),
    ),
    (
        "`tower` layer, its breaker borrowed",
        OURS,
        "healthy_borrowing_layer",
        Some(100),
    ),
];

const OURS: &str = "cutout";

/// The benches' table: this crate and its best peer by threads.
pub fn with_peers(kept: &[Kept]) -> String {
    let mut text = legend(kept);
    text.push_str("\n| workload, window | threads |");
    for (place, _) in kept.iter().enumerate() {
        let letter = letter(place);
        let _ = write!(text, " {letter}: cutout | best peer | times |");
    }
    text.push_str("\n| --- | --: |");
    text.push_str(&" --: | --- | --: |".repeat(kept.len()));
    for (workload, of) in WORKLOADS {
        for threads in THREADS {
            let cells: Vec<_> = kept
                .iter()
                .map(|kept| find(kept, OURS, workload, of, threads))
                .collect();
            if cells.iter().all(Option::is_none) {
                continue;
            }
            let _ = write!(text, "\n| {workload}, {} | {threads} |", window(of));
            for (kept, ours) in kept.iter().zip(cells) {
                text.push_str(&beside_peer(kept, ours));
            }
        }
    }
    text.push('\n');
    text.push_str(&tails(kept));
    text
}

/// The core's table: nanoseconds by case, and the times of the best peer in brackets.
pub fn by_case(kept: &[Kept]) -> String {
    let mut text = legend(kept);
    text.push_str("\n| case |");
    for (place, _) in kept.iter().enumerate() {
        let letter = letter(place);
        let _ = write!(text, " {letter}: one thread | two, each |");
    }
    text.push_str("\n| --- |");
    text.push_str(&" --- | --- |".repeat(kept.len()));
    for (name, subject, workload, of) in CASES {
        let _ = write!(text, "\n| {name} |");
        for kept in kept {
            for threads in [1, 2] {
                let cell = find(kept, subject, workload, of, threads).map(|row| {
                    let ns = nanos(row.ns_per_call_median);
                    match times(kept, row) {
                        Some((times, _)) if subject == OURS => format!("{ns} ({times})"),
                        _ => ns,
                    }
                });
                let _ = write!(text, " {} |", cell.unwrap_or_default());
            }
        }
    }
    text.push('\n');
    text
}

fn letter(place: usize) -> char {
    char::from(b'A' + u8::try_from(place).unwrap_or(u8::MAX - b'A'))
}

fn legend(kept: &[Kept]) -> String {
    let mut text = String::new();
    for (place, Kept { machine, .. }) in kept.iter().enumerate() {
        let version = machine.version.as_deref().unwrap_or("unknown");
        let _ = writeln!(
            text,
            "- {}: {machine}; version {version}, measured {}, {}",
            letter(place),
            machine.date.split('T').next().unwrap_or_default(),
            machine.compiler,
        );
    }
    text
}

fn find<'a>(
    kept: &'a Kept,
    name: &str,
    workload: &str,
    window: Option<usize>,
    threads: usize,
) -> Option<&'a Row> {
    let of = (name, workload, window, threads);
    kept.rows
        .iter()
        .filter(|row| row.ns_per_call_median.is_some())
        .find(|row| {
            (
                row.name.as_str(),
                row.workload.as_str(),
                row.window,
                row.threads,
            ) == of
        })
}

/// How many times the best peer takes, in bold where it takes less, and the peer.
fn times<'a>(kept: &'a Kept, ours: &Row) -> Option<(String, &'a Row)> {
    let peer = standing::fastest_peer(&kept.rows, ours)?;
    let times = peer.ns_per_call_median? / ours.ns_per_call_median?;
    let text = format!("{times:.2}");
    // By what is shown: 1.00 is not behind.
    let is_behind = text.starts_with("0.");
    Some((
        if is_behind {
            format!("**{text}**")
        } else {
            text
        },
        peer,
    ))
}

fn beside_peer(kept: &Kept, ours: Option<&Row>) -> String {
    let Some(ours) = ours else {
        return " | | |".into();
    };
    let ns = nanos(ours.ns_per_call_median);
    match times(kept, ours) {
        Some((times, peer)) => {
            let peers = nanos(peer.ns_per_call_median);
            format!(" {ns} | {peers} {} | {times} |", peer.name)
        }
        None => format!(" {ns} | | |"),
    }
}

fn tails(kept: &[Kept]) -> String {
    let mut text = String::new();
    for workload in ["latency_healthy", "latency_failing_20"] {
        let cells = kept.iter().map(|kept| standing::tail(&kept.rows, workload));
        let cells: Vec<_> = cells.collect();
        let Some((ours, _)) = cells.iter().flatten().next() else {
            continue;
        };
        let name = workload.trim_start_matches("latency_");
        let _ = write!(text, "| {name}, p99.9 | {} |", ours.threads);
        for cell in cells {
            let Some((ours, peer)) = cell else {
                text.push_str(" | | |");
                continue;
            };
            let (ours, peers) = (ours.latency(0.999), peer.latency(0.999));
            let times = peers.unwrap_or_default() / ours.unwrap_or(f64::MAX);
            let bold = if times < 0.995 { "**" } else { "" };
            let (ours, peers) = (nanos(ours), nanos(peers));
            let _ = write!(
                text,
                " {ours} | {peers} {} | {bold}{times:.2}{bold} |",
                peer.name
            );
        }
        text.push('\n');
    }
    text
}
