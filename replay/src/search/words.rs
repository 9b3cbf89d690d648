//! The advice in words.

use std::fmt;

use super::advice::{Advice, Numbers};
use super::subject::Search;
use crate::shown::{grouped, time};

/// Fewer bad calls than these in all troubles say little.
const ENOUGH_BAD: u64 = 50;

pub(super) fn sentences(advice: &Advice, search: &Search<'_>) -> Vec<String> {
    let mut sentences = vec![format!(
        "{} configs were tried on the calls before {} (UTC), with {} troubles in them; those that none beats are judged on the rest, with {}.",
        advice.tried,
        time(advice.split_ns),
        advice.troubles.0,
        advice.troubles.1
    )];
    if advice.tried < advice.of {
        let stopped = format!(
            "The search was stopped: {} of {} configs were tried.",
            advice.tried, advice.of
        );
        sentences.insert(0, stopped);
    }
    let looked_at = search.calls.len() as u64;
    if let (true, Some(last)) = (looked_at < search.of, search.calls.last()) {
        sentences.push(format!(
            "Of the log's {} calls the first {} were looked at, those before {}. For a later time give that part of the log alone.",
            grouped(search.of),
            grouped(looked_at),
            time(last.start)
        ));
    }
    let bad_in_trouble = search
        .calls
        .iter()
        .filter(|call| call.bad && !search.is_quiet(call.start))
        .count() as u64;
    let (before, after) = advice.troubles;
    if before == 0 || bad_in_trouble < ENOUGH_BAD {
        sentences.push(format!(
            "There is too little trouble in this log to choose by: {before} troubles before the split, {} bad calls in all of them. \
             What follows says how quiet a config stays, not how well it protects.",
            grouped(bad_in_trouble)
        ));
    } else if after == 0 {
        sentences.push("There is no trouble after the split: the rest of the log can show only what goes wrong in quiet.".to_owned());
    }
    let Some(index) = advice.chosen else {
        return sentences;
    };
    let tried = &advice.front[index];
    sentences.push(format!(
        "Advised is \"{}\": a well call that is lost was weighed as much as a bad one that is made, and it has the least of both before the split.",
        tried.name
    ));
    sentences.push(format!("Before the split it {}.", did(&tried.first)));
    sentences.push(format!(
        "After it, where it was not chosen by, it {}.",
        did(&tried.second)
    ));
    if let Some(better) = index.checked_sub(1).map(|better| &advice.front[better]) {
        sentences.push(format!(
            "Who wants fewer bad calls takes \"{}\": {} made in place of {}, for {} lost in place of {}.",
            better.name,
            grouped(better.first.made_bad),
            grouped(tried.first.made_bad),
            grouped(better.first.lost),
            grouped(tried.first.lost)
        ));
    }
    if let Some(gentler) = advice.front.get(index + 1) {
        sentences.push(format!(
            "Who wants fewer well calls lost takes \"{}\": {} lost in place of {}, for {} bad ones made in place of {}.",
            gentler.name,
            grouped(gentler.first.lost),
            grouped(tried.first.lost),
            grouped(gentler.first.made_bad),
            grouped(tried.first.made_bad)
        ));
    }
    if let Some(trips) = advice.false_trips {
        sentences.push(match trips.draws {
            0 => "There are no ten minutes of quiet in the log: how often it opens for nothing cannot be said.".to_owned(),
            draws if trips.a_day == 0.0 => format!(
                "In quiet it opened in none of {draws} draws of ten-minute blocks; {:.2} days of quiet leave up to {:.2} false trips a day possible (95 %).",
                trips.quiet_days, trips.high
            ),
            draws => format!(
                "In quiet it opens {:.2} times a day, between {:.2} and {:.2} in nine of ten of {draws} draws of ten-minute blocks from {:.2} days of quiet.",
                trips.a_day, trips.low, trips.high, trips.quiet_days
            ),
        });
    }
    let overfit = ratio(&tried.second) + 0.2 < ratio(&tried.first);
    if overfit && before > 0 && after > 0 {
        sentences.push("It spares a clearly smaller share after the split than before: its numbers fit the first part more than the service.".to_owned());
    }
    sentences
}

fn ratio(of: &Numbers) -> f64 {
    of.spared as f64 / (of.spared + of.made_bad).max(1) as f64
}

fn did(of: &Numbers) -> String {
    format!(
        "spares {} of {} bad calls and loses {} well ones, in {} trips, {} of them false; {} troubles missed",
        grouped(of.spared),
        grouped(of.spared + of.made_bad),
        grouped(of.lost),
        grouped(of.trips),
        grouped(of.false_trips),
        of.missed
    )
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        for sentence in &self.sentences {
            writeln!(f, "{sentence}")?;
        }
        writeln!(f, "\n{}", self.toml)
    }
}
