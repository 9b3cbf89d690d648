//! What came of a scenario.

use cutout::Outcome;

use crate::simulation::scenario::Scenario;

/// Parts of a second in which calls are counted.
const PARTS: usize = 10;

/// What happened in a part of a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Part {
    /// Calls made.
    pub sent: u32,
    /// Those that were made to what was down.
    pub dead: u32,
    /// Calls that came to a good answer, by when it came.
    pub good: u32,
    /// Calls not made.
    pub refused: u32,
    /// Those of them that would have come to a good answer.
    pub well_refused: u32,
    /// Calls a second that the upstream could take.
    pub capacity: f64,
}

/// All parts, and what they come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    parts: Vec<Part>,
    trouble: (f64, f64),
}

/// What a course comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Good answers a second while the trouble lasted, and from its end on.
    pub good: (f64, f64),
    /// Calls made in the first second of the recovery, by what the upstream could take in a second at its begin. The recovery
    /// begins with the first good answer after the trouble's end.
    pub overshoot: f64,
    /// Calls made in the worst second after the trouble's end, by what the upstream could take in it.
    pub peak: f64,
    /// Seconds from the trouble's end until the good answers of a second were 95 % of those before; `None` if they never were.
    pub recovered: Option<f64>,
    /// Calls made to what was down.
    pub dead: u32,
    /// Calls not made that would have come to a good answer, while the trouble lasted.
    pub well_refused: u32,
}

impl Course {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let parts = (scenario.length * PARTS as f64).ceil() as usize;
        Self {
            parts: vec![Part::default(); parts],
            trouble: scenario.trouble,
        }
    }

    fn part(&mut self, at: f64) -> &mut Part {
        let last = self.parts.len() - 1;
        &mut self.parts[index(at).min(last)]
    }

    pub(super) fn capacity_at(&mut self, at: f64, capacity: f64) {
        self.part(at).capacity = capacity;
    }

    pub(super) fn sent(&mut self, at: f64, is_dead: bool) {
        let part = self.part(at);
        part.sent += 1;
        part.dead += u32::from(is_dead);
    }

    pub(super) fn refused(&mut self, at: f64, is_well: bool) {
        let part = self.part(at);
        part.refused += 1;
        part.well_refused += u32::from(is_well);
    }

    pub(super) fn ended(&mut self, at: f64, outcome: Outcome) {
        self.part(at).good += u32::from(outcome == Outcome::Success);
    }

    /// Each second: when it began, and good answers and calls in it.
    pub fn seconds(&self) -> impl Iterator<Item = (f64, Part)> {
        let chunks = self.parts.chunks(PARTS).enumerate();
        chunks.map(|(second, parts)| (second as f64, sum(parts)))
    }

    /// What happened from when to when.
    pub fn between(&self, from: f64, to: f64) -> Part {
        sum(&self.parts[index(from)..index(to).min(self.parts.len())])
    }

    /// What it comes to.
    pub fn figures(&self) -> Figures {
        let (from, to) = self.trouble;
        let end = self.parts.len() as f64 / PARTS as f64;
        let rate =
            |from: f64, to: f64| f64::from(self.between(from, to).good) / (to - from).max(0.1);
        let before = rate(from / 2.0, from);
        let after = || index(to)..self.parts.len().saturating_sub(PARTS);
        let second = |first: usize| sum(&self.parts[first..first + PARTS]);
        let load = |part: Part| f64::from(part.sent) / part.capacity.max(1.0);
        let first_good = after().find(|&part| self.parts[part].good > 0);
        Figures {
            good: (rate(from, to), rate(to, end)),
            overshoot: first_good.map_or(0.0, |part| {
                load(Part {
                    capacity: self.parts[part].capacity,
                    ..second(part)
                })
            }),
            peak: after().map(|part| load(second(part))).fold(0.0, f64::max),
            recovered: after()
                .find(|&part| f64::from(second(part).good) >= 0.95 * before)
                .map(|part| (part - index(to)) as f64 / PARTS as f64),
            dead: self.parts.iter().map(|part| part.dead).sum(),
            well_refused: self.between(from, to).well_refused,
        }
    }
}

fn index(at: f64) -> usize {
    (at * PARTS as f64 + 1e-6) as usize
}

/// The sum of the counts, and the mean capacity.
fn sum(parts: &[Part]) -> Part {
    let mut sum = parts.iter().fold(Part::default(), |sum, part| Part {
        sent: sum.sent + part.sent,
        dead: sum.dead + part.dead,
        good: sum.good + part.good,
        refused: sum.refused + part.refused,
        well_refused: sum.well_refused + part.well_refused,
        capacity: sum.capacity + part.capacity,
    });
    sum.capacity /= parts.len().max(1) as f64;
    sum
}
