//! When the upstream was in trouble: as it is known, or as the log shows it in hindsight.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Error;
use crate::call::{Call, Keys};

/// A time in which an upstream was in trouble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What to call it.
    pub name: String,
    /// Whose trouble; `None` for all.
    pub key: Option<String>,
    /// When it began, in nanoseconds since the epoch.
    pub start: i64,
    /// When it ended.
    pub end: i64,
}

impl Trouble {
    /// Reads `key,start,end[,name]` a line, times in seconds since the epoch or RFC 3339; an empty key means all.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] with the line.
    pub fn read(name: &str, text: &str) -> Result<Vec<Self>, Error> {
        let mut troubles = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') || line.starts_with("key,") {
                continue;
            }
            let mut fields = line.split(',').map(str::trim);
            let key = fields.next().unwrap_or("");
            let mut time = || fields.next().and_then(crate::input::moment);
            let trouble = time().zip(time()).filter(|(start, end)| start <= end);
            let Some((start, end)) = trouble else {
                return Err(Error::Input {
                    name: name.to_owned(),
                    message: format!(
                        "line {}: write key,start,end and perhaps a name, the times in seconds since 1970 or as \
                         2026-01-31T12:00:00Z, the start not after the end",
                        index + 1
                    ),
                });
            };
            let named = fields
                .next()
                .map_or_else(|| format!("trouble {}", troubles.len() + 1), str::to_owned);
            troubles.push(Self {
                name: named,
                key: Some(key.to_owned()).filter(|key| !key.is_empty()),
                start,
                end,
            });
        }
        troubles.sort_by_key(|trouble| trouble.start);
        Ok(troubles)
    }

    /// Whether it is a trouble of this key.
    pub fn is_of(&self, key: &str) -> bool {
        key.is_empty() || self.key.as_deref().is_none_or(|own| own == key)
    }
}

/// Finds troubles in hindsight, each key's by itself.
///
/// A score goes up by ln(0.3 / 0.02) with each bad call and down by ln(0.98 / 0.7) with each well one, and not
/// below zero: what a sequential test adds that asks whether 30 % or 2 % of the calls are bad. A trouble is found
/// when the score is at 12 and one second has passed since it left zero, so that a burst of a tenth of a
/// second is none. It began with the first bad call since, and ended with the last bad one before
/// the score came back to zero. Troubles of one key less than a minute apart are one.
///
/// Not a breaker's rule: it looks at all calls, also at those that a breaker would have refused.
#[derive(Debug, Default)]
pub struct Finder {
    ending: BinaryHeap<Reverse<Ending>>,
    scores: Vec<Score>,
    found: Vec<(u32, i64, i64)>,
    count: u64,
}

/// A call that has begun. Of two that end at once the one that began first goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ending {
    end: i64,
    count: u64,
    start: i64,
    key: u32,
    bad: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Score {
    value: f64,
    since: i64,
    last_bad: i64,
    is_trouble: bool,
    /// The last trouble of the key, among those that were found, and one.
    found: usize,
}

impl Finder {
    const UP: f64 = 2.708;
    const DOWN: f64 = 0.336;
    const FOUND: f64 = 12.0;
    /// So that the end is seen after some hundred well calls, however long a trouble was.
    const MOST: f64 = 36.0;
    const LASTING: i64 = 1_000_000_000;
    const ONE: i64 = 60_000_000_000;

    /// Goes on with the next calls, in the order of their starts.
    pub fn feed(&mut self, calls: &[Call]) {
        for call in calls {
            self.end_until(call.start);
            self.count += 1;
            self.ending.push(Reverse(Ending {
                end: call.end(),
                count: self.count,
                start: call.start,
                key: call.key,
                bad: call.bad,
            }));
        }
    }

    fn end_until(&mut self, until: i64) {
        while let Some(&Reverse(call)) = self.ending.peek()
            && call.end <= until
        {
            self.ending.pop();
            self.note(&call);
        }
    }

    fn note(&mut self, call: &Ending) {
        let Ending {
            end,
            start,
            key,
            bad,
            ..
        } = *call;
        let index = key as usize;
        if self.scores.len() <= index {
            self.scores.resize(index + 1, Score::default());
        }
        let score = &mut self.scores[index];
        if bad {
            if score.value == 0.0 {
                score.since = start;
            }
            score.value = (score.value + Self::UP).min(Self::MOST);
            score.last_bad = end;
            score.is_trouble |= score.value >= Self::FOUND && end - score.since >= Self::LASTING;
        } else if score.value > 0.0 {
            score.value -= Self::DOWN;
            if score.value <= 0.0 {
                let over = *score;
                *score = Score {
                    found: over.found,
                    ..Score::default()
                };
                if over.is_trouble {
                    self.found(key, over);
                }
            }
        }
    }

    fn found(&mut self, key: u32, over: Score) {
        let last = over.found.checked_sub(1);
        match last.map(|last| &mut self.found[last]) {
            Some((_, _, end)) if over.since - *end < Self::ONE => *end = over.last_bad,
            _ => {
                self.found.push((key, over.since, over.last_bad));
                self.scores[key as usize].found = self.found.len();
            }
        }
    }

    /// Lets the calls in flight end; the troubles that were found.
    pub fn finish(mut self, keys: &Keys) -> Vec<Trouble> {
        self.end_until(i64::MAX);
        for index in 0..self.scores.len() {
            let score = self.scores[index];
            if score.is_trouble {
                self.found(u32::try_from(index).unwrap_or(u32::MAX), score);
            }
        }
        self.found.sort_by_key(|&(_, start, _)| start);
        let named = |(index, &(key, start, end)): (usize, &(u32, i64, i64))| Trouble {
            name: format!("trouble {}", index + 1),
            key: Some(keys.name(key).to_owned()).filter(|key| !key.is_empty()),
            start,
            end,
        };
        self.found.iter().enumerate().map(named).collect()
    }
}
