//! How many calls pass until a breaker opens, of rules that open by chance as seldom as each other.

use std::fmt::Write as _;

use cutout::{Breaker, Config, ManualClock, Settled, Window};

use super::rules::Rule;
use super::text::{calls, percent, power_of_ten};
use crate::draws::Draws;

/// The shares of failures at which the calls are counted.
const SHARES: [f64; 4] = [0.3, 0.5, 0.9, 1.0];

/// How often each breaker is made to open at each of them, at the most.
const RUNS: u32 = 10_000;

/// After how many calls it is often enough.
const ENOUGH: u64 = 10_000_000;

/// What is asked of the rules of one part of the table.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    p0: f64,
    /// What the score and the count window are made for.
    p1: f64,
    /// One in so many calls may open by chance: the power of ten.
    power: i32,
}

/// A rule, and what comes of it.
#[derive(Clone, Debug)]
pub struct Delays {
    /// The rule.
    pub rule: Rule,
    /// Calls until its breaker opens, at each share.
    pub calls: [f64; SHARES.len()],
}

impl Case {
    /// All of them.
    pub fn all() -> Vec<Self> {
        let mut cases = Vec::new();
        for (p0, p1) in [(0.01, 0.3), (0.05, 0.5), (0.1, 0.5)] {
            for power in [6, 9] {
                cases.push(Self { p0, p1, power });
            }
        }
        cases
    }

    fn rules(self) -> [Rule; 3] {
        let Self { p0, p1, power } = self;
        let calls = 10_f64.powi(power);
        [
            Rule::score(p0, p1, calls),
            Rule::best_window(p0, p1, calls),
            Rule::best_run(p0, calls),
        ]
    }

    /// What comes of the score, the best count window and the best run, in this order.
    pub fn delays(self) -> [Delays; 3] {
        self.rules().map(Delays::of)
    }

    /// At which of the shares the score was made to be first.
    pub fn design(self) -> usize {
        let is_design = |share: &f64| *share == self.p1;
        SHARES
            .iter()
            .position(is_design)
            .expect("it is one of them")
    }

    /// The rows of the table.
    pub fn rows(self, delays: &[Delays]) -> String {
        let mut rows = String::new();
        for Delays { rule, calls: means } in delays {
            let name = &rule.name;
            let asked = power_of_ten(self.power);
            let really = calls(rule.mean_calls(self.p0));
            let _ = write!(rows, "| {} | {asked} | {name} | {really}", percent(self.p0));
            for (index, mean) in means.iter().enumerate() {
                let text = calls(*mean);
                let all = delays.iter().map(|other| other.calls[index]);
                let least = all.fold(f64::INFINITY, f64::min);
                let _ = match text == calls(least) {
                    true => write!(rows, " | **{text}**"),
                    false => write!(rows, " | {text}"),
                };
            }
            rows.push_str(" |\n");
        }
        rows
    }
}

impl Delays {
    /// Makes breakers of the rule open, again and again.
    pub fn of(rule: Rule) -> Self {
        let mut seed = 0;
        let calls = SHARES.map(|share| {
            seed += 1;
            mean_calls(&rule.config, share, seed)
        });
        Self { rule, calls }
    }
}

/// How many calls a breaker that was well takes until it opens, on average.
fn mean_calls(config: &Config, share: f64, seed: u64) -> f64 {
    let clock = ManualClock::new();
    let builder = Breaker::builder().config(*config).clock(clock);
    let breaker = builder.build().expect("the rules are legal");
    let well = match config.window {
        Window::Count(size) => size,
        _ => 0,
    };
    let mut draws = Draws::new(seed);
    let (mut calls, mut runs) = (0_u64, 0);
    while runs < RUNS && calls < ENOUGH {
        runs += 1;
        breaker.close("the next run");
        let done = |outcome| match breaker.allow() {
            Ok(permit) => permit.done(outcome) == Settled::Tripped,
            Err(_) => true,
        };
        for _ in 0..well {
            done(cutout::Outcome::Success);
        }
        calls += 1;
        while !done(draws.outcome(share)) {
            calls += 1;
        }
    }
    calls as f64 / f64::from(runs)
}

/// The table of all cases.
pub(super) fn table(found: &[(Case, [Delays; 3])]) -> String {
    let mut text = String::from(
        "| p0 | calls between false trips, at least | rule | by its odds | calls until it opens at 30 % | 50 % | 90 % | all fail |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (case, delays) in found {
        text += &case.rows(delays);
    }
    text
}

/// Where another rule is ahead of the score.
pub(super) fn losses(found: &[(Case, [Delays; 3])]) -> String {
    let mut text = String::new();
    for (case, [score, others @ ..]) in found {
        for (index, share) in SHARES.into_iter().enumerate() {
            let ahead = others.iter().filter(|other| {
                // What differs by less may be the lots.
                other.calls[index] < 0.98 * score.calls[index]
            });
            for other in ahead {
                let _ = writeln!(
                    text,
                    "- p0 {}, one in {}: when {} fail, {} opens after {} calls, and the score after {}.",
                    percent(case.p0),
                    power_of_ten(case.power),
                    percent(share),
                    other.rule.name,
                    calls(other.calls[index]),
                    calls(score.calls[index]),
                );
            }
        }
    }
    text
}
