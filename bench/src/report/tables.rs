//! The page's tables.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::digits::{grouped, nanos, window};
use super::standing::{self, Standing, kind};
use super::summary::{Row, Void};
use crate::entry::Kind;

fn dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".into())
}

fn class(row: &Row) -> &'static str {
    match kind(row) {
        Kind::Ours => " class=ours",
        Kind::Floor => " class=floor",
        Kind::Peer => "",
    }
}

/// This crate in each workload: the first thing to look at. The main ones are in sight,
/// those where a peer is faster among them.
pub(super) fn standings(rows: &[Row]) -> String {
    let (main, others): (Vec<_>, Vec<_>) = standing::all(rows)
        .into_iter()
        .partition(|standing| standing.is_main() || standing.is_behind());
    let mut html = String::from(
        "<h2>In short</h2>\n<p>Median nanoseconds of a call on each thread. <em>Times</em>: how often \
         cutout's call fits into that of the fastest peer; where it is below 1 the peer is faster, and the row is marked. \
         <em>No breaker</em>: the same loop, or the service behind the layer, without one; it is in both numbers. \
         <em>In CAS</em>: how many bare compare-and-swap loops on as many threads the call costs.</p>\n",
    );
    html.push_str(&standings_table(&main));
    if !others.is_empty() {
        let table = standings_table(&others);
        let _ = writeln!(
            html,
            "<details><summary>More workloads and threads</summary>\n{table}</details>"
        );
    }
    html
}

fn standings_table(standings: &[Standing<'_>]) -> String {
    let mut html = String::from(
        "<div class=scroll><table><tr><th class=name>workload<th>window<th>threads<th>cutout\
         <th>fastest peer<th class=name>which<th>times<th>no breaker<th>in CAS\n",
    );
    for standing in standings {
        let ours = standing.ours;
        let _ = writeln!(
            html,
            "<tr{}><td class=name>{}<td>{}<td>{}<td>{}<td>{}<td class=name>{}<td>{}<td>{}<td>{}",
            if standing.is_behind() {
                " class=behind"
            } else {
                ""
            },
            standing.name(),
            window(ours.window),
            ours.threads,
            nanos(ours.ns_per_call_median),
            nanos(standing.peer.and_then(|peer| peer.ns_per_call_median)),
            standing.peer.map_or("none has it", |peer| &peer.name),
            dash(standing.times_peer().map(|times| format!("{times:.1}"))),
            nanos(standing.bare.and_then(|bare| bare.ns_per_call_median)),
            dash(standing.in_floors().map(|floors| format!("{floors:.2}"))),
        );
    }
    html.push_str("</table></div>\n");
    html
}

/// Single calls.
pub(super) fn latencies(rows: &[Row]) -> String {
    let mut html = String::from(
        "<h2>Single calls</h2>\n<p class=note>Nanoseconds; each call was timed alone, and two clock reads are in \
         each number. The maximum is over all processes, the rest the median over them.</p>\n\
         <div class=scroll><table><tr><th class=name>workload<th>threads<th class=name>subject\
         <th>50 %<th>99 %<th>99.9 %<th>99.99 %<th>max\n",
    );
    let timed = || rows.iter().filter(|row| row.latency_ns.is_some());
    for row in timed() {
        let workload = row.workload.trim_start_matches("latency_");
        let class = class(row);
        let _ = write!(
            html,
            "<tr{class}><td class=name>{workload}<td>{}<td class=name>{}",
            row.threads, row.name
        );
        for quantile in [0.5, 0.99, 0.999, 0.9999] {
            let _ = write!(html, "<td>{}", dash(row.latency(quantile).map(grouped)));
        }
        let _ = writeln!(html, "<td>{}", dash(row.latency_ns_max.map(grouped)));
    }
    html.push_str("</table></div>\n");
    if timed().next().is_some() {
        html
    } else {
        String::new()
    }
}

/// Everything that was timed, by workload.
pub(super) fn cells(rows: &[Row]) -> String {
    type Key<'a> = (&'a str, Option<usize>, usize, usize);
    let mut groups: Vec<(Key<'_>, Vec<&Row>)> = Vec::new();
    for row in rows.iter().filter(|row| row.ns_per_call_median.is_some()) {
        let key = (row.workload.as_str(), row.window, row.threads, row.breakers);
        match groups.iter_mut().find(|(of, _)| *of == key) {
            Some((_, group)) => group.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    let mut html = String::from("<h2>All cells</h2>\n");
    for ((workload, of, threads, breakers), mut group) in groups {
        let ns = |row: &Row| row.ns_per_call_median.unwrap_or(f64::MAX);
        group.sort_by(|one, other| ns(one).total_cmp(&ns(other)));
        let mut title = workload.to_string();
        if workload != "floor" {
            let _ = write!(title, ", window {}", window(of));
        }
        let _ = write!(
            title,
            ", {threads} thread{}",
            if threads == 1 { "" } else { "s" }
        );
        if workload == "breakers" {
            let _ = write!(title, ", {} in the process", grouped(breakers as f64));
        }
        let _ = writeln!(
            html,
            "<details><summary>{title}</summary>\n\
             <div class=scroll><table><tr><th class=name>subject<th>median ns<th>quartiles<th>min<th>rounds<th>calls/s\
             <th>to best peer<th>to CAS<th>fairness<th>allocations<th>bytes",
        );
        for row in group {
            html.push_str(&cell(rows, row));
        }
        html.push_str("</table></div></details>\n");
    }
    html
}

fn cell(rows: &[Row], row: &Row) -> String {
    let ratio = |to: Option<&Row>| {
        let to = to?.ns_per_call_median.filter(|to| *to > 0.0)?;
        Some(format!("{:.2}", row.ns_per_call_median? / to))
    };
    format!(
        "<tr{}><td class=name>{}<td>{}<td>{} – {}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}\n",
        class(row),
        row.name,
        nanos(row.ns_per_call_median),
        nanos(row.ns_per_call_q1),
        nanos(row.ns_per_call_q3),
        nanos(row.ns_per_call_min),
        row.rounds,
        dash(row.calls_per_second.map(grouped)),
        dash(ratio(standing::fastest_peer(rows, row))),
        dash(ratio(standing::floor(rows, "cas-loop", row.threads))),
        dash(row.fairness.map(|fairness| format!("{fairness:.2}"))),
        dash(row.allocations_per_call.map(|count| count.to_string())),
        dash(row.bytes_per_breaker.map(grouped)),
    )
}

/// What has no numbers, and why.
pub(super) fn voids(voids: &[Void]) -> String {
    let mut reasons: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for void in voids {
        let key = (void.subject.as_str(), void.reason.as_str());
        let cell = format!("{}\u{a0}({})", void.workload, void.threads);
        reasons.entry(key).or_default().push(cell);
    }
    if reasons.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<h2>Not measured, and why</h2>\n<p class=note>The number of threads is in brackets. A reason that names a \
         state means that the subject was set up, and left the state in which it was to be measured.</p>\n\
         <div class=scroll><table><tr><th class=name>subject<th class=name>reason<th class=name>workloads\n",
    );
    for ((subject, reason), cells) in reasons {
        let cells = cells.join(", ");
        let _ = writeln!(
            html,
            "<tr><td class=name>{subject}<td class=name>{reason}<td class=wide>{cells}"
        );
    }
    html.push_str("</table></div>\n");
    html
}
