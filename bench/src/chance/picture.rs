//! Delay against false trips: each rule a curve.

use cutout::Score;

use super::rules::Rule;
use super::text::power_of_ten;
use crate::report::chart::{self, Axes, Line};
use crate::report::ink::Ink;

/// The share of failures of an upstream that is well, and of one that is ill.
const SHARES: (f64, f64) = (0.01, 0.3);

/// The picture, as SVG that needs no style sheet.
pub(super) fn draw() -> String {
    let score = Score::for_rates(SHARES.0, SHARES.1, 1e3).expect("the shares are far apart");
    let limits = (score.bad..=90).step_by(5);
    let lines = [
        (
            "scores",
            Ink::OURS,
            limits
                .map(|limit| Rule::of_score(Score { limit, ..score }))
                .collect(),
        ),
        ("of the last 20", Ink::peer(0), windows(20, 2..=10)),
        ("of the last 100", Ink::peer(1), windows(100, 3..=20)),
        ("in a row", Ink::peer(2), (2..=6).map(Rule::run).collect()),
    ]
    .map(|(label, ink, rules)| line(label, ink, rules));
    let axes = Axes {
        x: "calls between two false trips while 1 % fail",
        y: "calls until it opens when 30 % fail",
        ticks: &[(1e3, "10³"), (1e6, "10⁶"), (1e9, "10⁹"), (1e12, "10¹²")],
        y_name: power_of_ten,
    };
    alone(&chart::lines(&axes, &lines))
}

fn windows(size: u32, failures: impl Iterator<Item = u32>) -> Vec<Rule> {
    failures
        .map(|failures| Rule::window(failures, size))
        .collect()
}

fn line(label: &str, ink: Ink, rules: Vec<Rule>) -> Line {
    let points = rules.into_iter().map(|rule| {
        let (well, ill) = SHARES;
        (rule.mean_calls(well), rule.mean_calls(ill))
    });
    // What the picture has room for.
    let is_shown =
        |&(seldom, delay): &(f64, f64)| (1e3..=1e12).contains(&seldom) && delay <= 1000.0;
    Line {
        label: label.into(),
        ink,
        points: points.filter(is_shown).collect(),
    }
}

/// In colours that can be seen on light and on dark, and as one block of HTML.
fn alone(svg: &str) -> String {
    let svg = [
        ("var(--ink-0)", "currentColor"),
        ("var(--ink-1)", "#8886"),
        ("var(--ink-2)", "#d81b60"),
        ("var(--ink-4)", "#2a80c8"),
        ("var(--ink-5)", "#0f9f7f"),
        ("var(--ink-6)", "#b86b00"),
    ]
    .into_iter()
    .fold(svg.to_owned(), |svg, (from, to)| svg.replace(from, to));
    let lines = svg.lines().filter(|line| !line.trim().is_empty());
    let svg: Vec<_> = lines.collect();
    format!("<div>\n{}\n</div>\n", svg.join("\n"))
}
