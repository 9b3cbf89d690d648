//! The configs that are tried.

use std::fmt::Write as _;
use std::time::Duration;

use crate::configs::{Named, parse, presets};

/// What of a log the candidates are made by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Log {
    /// The share of bad calls outside troubles.
    pub(super) quiet_rate: f64,
    /// From how long on a call is slow, if that is to be looked at.
    pub(super) slow: Option<Duration>,
}

/// The open waits: short at first and growing, and the default's.
const WAITS: [(&str, &str); 2] = [
    (
        "5 to 60 s open",
        r#"{ base = "5s", factor = 2.0, max = "60s" }"#,
    ),
    ("30 s open", r#""30s""#),
];

/// Presets, grids of ratios over counts and times, runs, slow calls, and scores by the log's own quiet rate.
pub(super) fn candidates(log: Log) -> Vec<Named> {
    let mut all = presets();
    let mut add = |name: String, text: String| {
        // What this core does not read, or refuses, is none of its configs.
        if let Ok(configs) = parse(&name, &text) {
            all.extend(configs);
        }
    };
    for (wait, open_wait) in WAITS {
        let end = format!("open_wait = {open_wait}\n");
        for (window, size, least) in windows() {
            for min_calls in least {
                for percent in [10, 20, 30, 50, 70] {
                    let ratio = f64::from(percent) / 100.0;
                    let name = format!("{percent} % of {size}, {min_calls} at least, {wait}");
                    add(
                        name,
                        format!(
                            "window = {window}\nmin_calls = {min_calls}\nfailure_ratio = {ratio}\n{end}"
                        ),
                    );
                }
            }
        }
        for run in [3, 5, 8, 12, 20] {
            let text = format!(
                "window = {{ count = 20 }}\nfailure_ratio = \"none\"\nconsecutive_failures = {run}\n{end}"
            );
            add(format!("{run} in a row, {wait}"), text);
        }
        if let Some(limit) = log.slow {
            for seconds in [10, 30] {
                for min_calls in [10, 20] {
                    for percent in [20, 30, 50] {
                        let name = format!(
                            "{percent} % failed or slow in {seconds} s, {min_calls} at least, {wait}"
                        );
                        let mut text = format!(
                            "window = {{ time = \"{seconds}s\" }}\nmin_calls = {min_calls}\n"
                        );
                        let (ratio, ms) = (f64::from(percent) / 100.0, limit.as_millis().max(1));
                        let _ = writeln!(text, "failure_ratio = {ratio}\noverdue = \"slow\"");
                        let _ = writeln!(
                            text,
                            "slow = {{ limit = \"{ms}ms\", ratio = {ratio} }}\n{end}"
                        );
                        add(name, text);
                    }
                }
            }
        }
        for (name, window) in scores(log.quiet_rate) {
            add(
                format!("{name}, {wait}"),
                format!("window = {window}\n{end}"),
            );
        }
    }
    all
}

fn windows() -> Vec<(String, String, [u32; 2])> {
    let mut windows = Vec::new();
    for count in [20_u32, 50, 100, 200] {
        let least = [10, (count / 2).max(20)];
        windows.push((
            format!("{{ count = {count} }}"),
            format!("the last {count}"),
            least,
        ));
    }
    for seconds in [10, 30, 60] {
        let window = format!("{{ time = \"{seconds}s\" }}");
        windows.push((window, format!("the last {seconds} s"), [10, 20]));
    }
    windows
}

/// Scores that tell the quiet rate from a rate of 10 to 50 %: a bad call adds ln(p1 / p0), a well one takes
/// ln((1 - p0) / (1 - p1)) off, to scale.
fn scores(quiet: f64) -> Vec<(String, String)> {
    let quiet = quiet.clamp(1e-4, 0.05);
    let mut scores = Vec::new();
    for ill in [0.1, 0.3, 0.5_f64] {
        let up = (ill / quiet).ln();
        let down = ((1.0 - quiet) / (1.0 - ill)).ln();
        let (bad, good) = if up / down > 60.0 {
            (60.0, 1.0)
        } else {
            (up / down * 4.0, 4.0)
        };
        let bad = bad.round().max(1.0);
        for failures in [5.0, 8.0, 12.0, 16.0] {
            let limit = (bad * failures).min(4_000.0);
            let name = format!(
                "score for {:.0} % against {:.2} %, {failures} in a row",
                ill * 100.0,
                quiet * 100.0
            );
            let window = format!(
                "{{ cusum = {{ failures = {{ bad = {bad}, good = {good}, limit = {limit} }} }} }}"
            );
            scores.push((name, window));
        }
    }
    scores
}
