//! The summary on a terminal.

use std::fmt::Write;

use super::digits::{nanos, window};
use super::standing;
use super::summary::Row;

/// This crate in each workload, beside its fastest peer.
pub fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<32} {:>6} {:>7} {:>10} {:>12} {:>7}  fastest peer\n",
        "workload", "window", "threads", "ns/call", "peer's ns", "times"
    );
    for standing in standing::all(rows) {
        let ours = standing.ours;
        let workload = standing.name();
        let ns = nanos(ours.ns_per_call_median);
        let _ = write!(
            text,
            "{workload:<32} {:>6} {:>7} {ns:>10}",
            window(ours.window),
            ours.threads
        );
        match (standing.peer, standing.times_peer()) {
            (Some(peer), Some(times)) => {
                let ns = nanos(peer.ns_per_call_median);
                let _ = writeln!(text, " {ns:>12} {times:>7.1}  {}", peer.name);
            }
            _ => text.push_str("            -       -  (no peer has it)\n"),
        }
    }
    for workload in ["latency_healthy", "latency_failing_20"] {
        if let Some((ours, peer)) = standing::tail(rows, workload) {
            let name = format!("{} p99.9", workload.replace("latency_", ""));
            let (ours_ns, peer_ns) = (ours.latency(0.999), peer.latency(0.999));
            let times = peer_ns.unwrap_or_default() / ours_ns.unwrap_or(f64::MAX);
            let _ = writeln!(
                text,
                "{name:<32} {:>6} {:>7} {:>10} {:>12} {times:>7.1}  {}",
                window(ours.window),
                ours.threads,
                nanos(ours_ns),
                nanos(peer_ns),
                peer.name
            );
        }
    }
    text
}
