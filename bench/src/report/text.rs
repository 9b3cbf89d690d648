//! The summary on a terminal, and numbers as people read them.

use std::fmt::Write;

use super::standing;
use super::summary::Row;
use crate::workload::Window;

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

/// A window as its number of outcomes, or as its length.
pub fn window(outcomes: Option<usize>) -> String {
    let window = outcomes.map_or(Window::Time, Window::Count);
    window.to_string()
}

/// Nanoseconds with the digits that matter.
pub fn nanos(ns: Option<f64>) -> String {
    match ns {
        None => "-".into(),
        Some(ns) if ns < 10.0 => format!("{ns:.2}"),
        Some(ns) if ns < 100.0 => format!("{ns:.1}"),
        Some(ns) => grouped(ns),
    }
}

/// A whole number with separated thousands.
pub fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_the_digits_that_matter() {
        assert_eq!(nanos(Some(0.954)), "0.95");
        assert_eq!(nanos(Some(12.345)), "12.3");
        assert_eq!(nanos(Some(58_573.6)), "58,574");
        assert_eq!(nanos(None), "-");
    }
}
