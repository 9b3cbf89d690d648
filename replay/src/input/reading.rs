//! What was read, and what was not.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::format::Name;
use crate::call::{Call, Keys};

/// What was read of the inputs, and what was not: each line and each call is in one of the counts.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Reading {
    /// The inputs, in the order in which they were given.
    pub inputs: Vec<InputRead>,
    /// Lines, empty ones aside.
    pub lines: u64,
    /// Lines that hold no call: headers, other measurements, sums of other rows.
    pub not_calls: u64,
    /// Lines, or calls of a line, that could not be read, by why.
    pub skipped: BTreeMap<String, u64>,
    /// The first three of them: where, why, and the line without its query strings. Not in the report.
    #[serde(skip)]
    pub examples: Vec<String>,
    /// What the log said of calls that failed or timed out, by number; the first says nothing.
    #[serde(skip)]
    pub labels: Keys,
    /// Calls that the replay got.
    pub calls: u64,
    /// Those of them whose duration the log does not say.
    pub without_duration: u64,
    /// Lines by the other end of a call that was counted already.
    pub duplicates: u64,
    /// When the first call began, in nanoseconds since the epoch.
    pub first_ns: Option<i64>,
    /// When the last call ended.
    pub last_ns: Option<i64>,
    /// The longest times without a start, of 10 s and more: when they began and how long they were, in nanoseconds.
    pub gaps: Vec<(i64, u64)>,
    /// What the stamps are multiples of, in nanoseconds.
    pub resolution_ns: u64,
    /// Whether it was stopped before the end of the inputs.
    pub stopped: bool,
}

/// One input.
#[derive(Clone, Debug, Serialize)]
pub struct InputRead {
    /// Its name.
    pub name: String,
    /// The format that was found, or given.
    #[serde(serialize_with = "label")]
    pub format: Name,
    /// Why it ended before its end, if it did.
    pub cut_short: Option<String>,
}

fn label<S: serde::Serializer>(name: &Name, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(name.label())
}

impl Reading {
    const SHORTEST_GAP: u64 = 10_000_000_000;
    const GAPS: usize = 3;

    pub(super) fn skip(&mut self, why: &str, place: impl FnOnce() -> String) {
        if self.examples.len() < 3 {
            self.examples.push(place());
        }
        match self.skipped.get_mut(why) {
            Some(count) => *count += 1,
            None => {
                self.skipped.insert(why.to_owned(), 1);
            }
        }
    }

    /// The number of what a line says of a failure, short and without what may be secret.
    ///
    /// There are as many as there are statuses and words for them; of more than that only the first are kept.
    pub(super) fn label(&mut self, said: &str) -> u16 {
        const MOST: usize = 1_000;
        const LONGEST: usize = 60;
        if self.labels.is_empty() {
            self.labels.number("");
        }
        let said = if said.contains(['?', '@']) {
            Cow::Owned(shown(said.as_bytes()))
        } else {
            Cow::Borrowed(said.trim())
        };
        let end = said.char_indices().nth(LONGEST);
        let said = &said[..end.map_or(said.len(), |(end, _)| end)];
        let number = match self.labels.find(said) {
            None if self.labels.len() >= MOST => 0,
            None => self.labels.number(said),
            Some(number) => number,
        };
        u16::try_from(number).unwrap_or(0)
    }

    /// Of calls that were not read, but made.
    pub fn of_calls(calls: &[Call]) -> Self {
        Self {
            calls: calls.len() as u64,
            first_ns: calls.first().map(|call| call.start),
            last_ns: calls.iter().map(Call::end).max(),
            resolution_ns: 1,
            ..Self::default()
        }
    }

    /// How many lines or calls could not be read.
    pub fn skips(&self) -> u64 {
        self.skipped.values().sum()
    }

    pub(super) fn gap(&mut self, from: i64, to: i64) {
        let length = to.abs_diff(from);
        if length < Self::SHORTEST_GAP {
            return;
        }
        self.gaps.push((from, length));
        self.gaps
            .sort_by_key(|&(from, length)| (std::cmp::Reverse(length), from));
        self.gaps.truncate(Self::GAPS);
    }
}

/// A line as it may be shown: short, printable, without the queries and passwords of URLs.
pub(super) fn shown(line: &[u8]) -> String {
    const LONGEST: usize = 160;
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * LONGEST)]);
    let mut shown = String::new();
    let mut query = false;
    for (count, letter) in text.chars().enumerate() {
        if count >= LONGEST {
            shown.push('…');
            break;
        }
        match letter {
            '?' if !query => {
                query = true;
                shown.push_str("?…");
            }
            ' ' | '"' | ',' | '\t' => query = false,
            '@' => {
                // What stands between `//` and an `@` names a user and a password.
                if let Some(at) = shown.rfind("//")
                    && !shown[at + 2..].contains(['/', ' ', '"'])
                {
                    shown.truncate(at + 2);
                    shown.push('…');
                }
            }
            _ => {}
        }
        if !query {
            shown.push(if letter.is_control() { '·' } else { letter });
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_line_holds_no_query_and_no_password() {
        let line = br#"GET /x?token=secret HTTP/1.1 "https://user:pass@host/y?key=hidden" end"#;
        let text = shown(line);
        assert_eq!(text, r#"GET /x?… HTTP/1.1 "https://…@host/y?…" end"#);
        assert!(shown(&[b'x'; 5000]).chars().count() < 200);
    }
}
