//! The page.

use std::fmt::Write;

use super::coverage::Coverage;
use super::machine::Machine;
use super::summary::{Row, Void};
use super::{figures, tables};
use crate::cast;

/// The page as one self-contained file.
pub(super) fn html(rows: &[Row], voids: &[Void], machine: &Machine, coverage: Coverage) -> String {
    let mut page = String::from(include_str!("head.html"));
    page.push_str(&introduction(machine, coverage));
    page.push_str(&tables::standings(rows));
    let latency_threads = 8;
    for (title, note, svg) in [
        (
            "Healthy: calls per second by threads",
            "Every call succeeds. Beyond the machine's cores threads take turns.",
            figures::by_threads(rows, "healthy", &["cas-loop", "relaxed-load"]),
        ),
        (
            "20 % failures: calls per second by threads",
            "The failures are spread evenly and do not trip the breaker.",
            figures::by_threads(rows, "failing_20", &["cas-loop", "relaxed-load"]),
        ),
        (
            "Open: rejections per second by threads",
            "The wait is an hour; most breakers read a clock to know that it is not over.",
            figures::by_threads(rows, "rejecting", &["std-clock", "system-clock"]),
        ),
        (
            "Time window, healthy: calls per second by threads",
            "The last ten seconds in ten buckets. Each outcome needs the time: a clock read is the floor.",
            figures::by_threads(rows, "healthy_time_window", &["std-clock", "system-clock"]),
        ),
        (
            "Time window, 20 % failures: calls per second by threads",
            "",
            figures::by_threads(
                rows,
                "failing_20_time_window",
                &["std-clock", "system-clock"],
            ),
        ),
        (
            "A call through a tower service, healthy, one thread",
            "The service answers at once; bare-service is that service with no layer before it.",
            figures::layers(rows),
        ),
        (
            "Healthy, 8 threads: how long single calls take",
            "The tail is where a thread is preempted while it holds a lock.",
            figures::latency(rows, "latency_healthy", latency_threads),
        ),
        (
            "20 % failures, 8 threads: how long single calls take",
            "",
            figures::latency(rows, "latency_failing_20", latency_threads),
        ),
        (
            "Time per call by window, 20 % failures, one thread",
            "Not all of them have a count window; see the README of the benches.",
            figures::by_window(rows),
        ),
        (
            "Time per call by number of breakers, healthy, one thread",
            "Each call goes to another breaker, in an order that no prefetcher follows.",
            figures::by_breakers(rows),
        ),
        (
            "Bytes of a breaker with a window of 100",
            "Inline and heap, the window full.",
            figures::bytes(rows),
        ),
    ] {
        if !svg.is_empty() {
            let _ = writeln!(
                page,
                "<h2>{title}</h2>\n<p class=note>{note}</p>\n<figure>{svg}</figure>"
            );
        }
    }
    page.push_str(&tables::latencies(rows));
    page.push_str(&tables::cells(rows));
    page.push_str(&tables::voids(voids));
    page.push_str("</main>\n</html>\n");
    page
}

fn introduction(machine: &Machine, coverage: Coverage) -> String {
    let versions: Vec<String> = cast::breakers()
        .iter()
        .map(|entry| {
            format!("{} {}", entry.name, entry.version)
                .trim()
                .to_string()
        })
        .collect();
    let mut text = format!(
        "<p class=meta>{machine} · {} · {} · {} · {} run · cutout {}</p>\n<p class=meta>{}</p>\n\
         <p class=meta>again: <code>cargo bench --bench contention</code>, \
         or for half a minute <code>cargo bench --bench contention -- --quick</code></p>\n",
        machine.system,
        machine.compiler,
        machine.date,
        machine.mode,
        machine
            .version
            .as_deref()
            .unwrap_or("of an unknown version"),
        versions.join(" · "),
    );
    if let Some(warning) = coverage.warning() {
        let _ = writeln!(text, "<p class=warning>{warning}</p>");
    }
    text
}
