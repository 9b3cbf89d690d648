//! Advice: many configs tried on the first part of a log, the best of them judged on the rest.

mod bootstrap;
mod candidates;
mod words;

use std::time::Duration;

use rayon::prelude::*;
use serde::Serialize;

use self::candidates::{Log, candidates};
use crate::Slow;
use crate::call::{Call, Keys};
use crate::configs::{self, Named};
use crate::judge::judge;
use crate::replay::{Order, Replay};
use crate::trouble::Trouble;

pub use bootstrap::FalseTrips;

/// The most calls that a search looks at: some 160 MB.
pub const MOST_CALLS: usize = 4_000_000;

/// What a search found out.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// How many configs were tried.
    pub tried: usize,
    /// Where the log was split, in nanoseconds since the epoch: chosen on what is before, judged on what is after.
    pub split_ns: i64,
    /// Troubles before and after the split.
    pub troubles: (usize, usize),
    /// The share of bad calls outside troubles.
    pub quiet_rate: f64,
    /// All configs that were tried, each with what it did before the split.
    pub points: Vec<Point>,
    /// Those that no other beats in both numbers before the split, from the one that spares most.
    pub front: Vec<Tried>,
    /// Which of the front is advised.
    pub chosen: Option<usize>,
    /// Its TOML.
    pub toml: String,
    /// How often it opens for nothing.
    pub false_trips: Option<FalseTrips>,
    /// The reasons in words, and how sure they are.
    pub sentences: Vec<String>,
}

/// What a config did, in the two numbers that are weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Point {
    /// Bad calls made.
    pub made_bad: u64,
    /// Well calls lost.
    pub lost: u64,
}

/// A config of the front.
#[derive(Clone, Debug, Serialize)]
pub struct Tried {
    /// What it is.
    pub name: String,
    /// What it did before the split.
    pub first: Numbers,
    /// What it did after it.
    pub second: Numbers,
    #[serde(skip)]
    config: cutout::Config,
}

/// What a config did in one part of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Numbers {
    /// Bad calls made.
    pub made_bad: u64,
    /// Bad calls spared.
    pub spared: u64,
    /// Well calls lost.
    pub lost: u64,
    /// Trips.
    pub trips: u64,
    /// Trips in no trouble.
    pub false_trips: u64,
    /// Troubles in which nothing opened.
    pub missed: u64,
}

/// What a search is given.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// The calls, in the order of their starts.
    pub calls: &'a [Call],
    /// Their keys.
    pub keys: &'a Keys,
    /// The troubles, known or found.
    pub troubles: &'a [Trouble],
    /// How long after a trouble's end a trip is still one of it, in nanoseconds.
    pub slack: u64,
    /// From how long on calls are bad.
    pub slow: &'a Slow,
}

impl Search<'_> {
    /// Tries a few hundred configs on the first part of the calls, and judges those that none beats on the rest.
    pub fn run(&self) -> Advice {
        let split = self.split();
        let at = self.calls.partition_point(|call| call.start < split);
        let (first, second) = self.calls.split_at(at);
        let quiet_rate = self.quiet_rate(first);
        let all = candidates(Log {
            quiet_rate,
            slow: self.slow.limit(""),
        });
        let numbers: Vec<Numbers> = all
            .par_iter()
            .map(|named| self.numbers(named, first))
            .collect();
        let mut front = front(&numbers);
        front.truncate(24);
        let front: Vec<Tried> = front
            .into_par_iter()
            .map(|index| Tried {
                name: all[index].name.clone(),
                first: numbers[index],
                second: self.numbers(&all[index], second),
                config: all[index].config,
            })
            .collect();
        // A well call that is lost weighs as much as a bad one that is made; of equals, the one that opens least.
        let weighed = |tried: &Tried| (tried.first.made_bad + tried.first.lost, tried.first.trips);
        let chosen = (0..front.len()).min_by_key(|&index| weighed(&front[index]));
        let before = self
            .troubles
            .iter()
            .filter(|trouble| trouble.start < split)
            .count();
        let mut advice = Advice {
            tried: all.len(),
            split_ns: split,
            troubles: (before, self.troubles.len() - before),
            quiet_rate,
            points: numbers.iter().map(Numbers::point).collect(),
            toml: chosen.map_or(String::new(), |index| configs::toml(&front[index].config)),
            false_trips: chosen.map(|index| bootstrap::false_trips(self, &front[index].config)),
            front,
            chosen,
            sentences: Vec::new(),
        };
        advice.sentences = words::sentences(&advice, self);
        advice
    }

    /// Between the troubles, so that half of them are before it; without two of them, at three fifths of the calls.
    fn split(&self) -> i64 {
        let half = self.troubles.len().div_ceil(2);
        if let (Some(last), Some(next)) = (
            half.checked_sub(1).map(|last| &self.troubles[last]),
            self.troubles.get(half),
        ) && last.end < next.start
        {
            return last.end + (next.start - last.end) / 2;
        }
        self.calls
            .get(self.calls.len() * 3 / 5)
            .map_or(0, |call| call.start)
    }

    fn quiet_rate(&self, calls: &[Call]) -> f64 {
        let quiet = calls.iter().filter(|call| self.is_quiet(call.start));
        let (all, bad) = quiet.fold((0_u64, 0_u64), |(all, bad), call| {
            (all + 1, bad + u64::from(call.bad))
        });
        bad as f64 / all.max(1) as f64
    }

    /// Whether no upstream was in trouble then, nor shortly before.
    fn is_quiet(&self, at: i64) -> bool {
        !self.troubles.iter().any(|trouble| {
            (trouble.start..=trouble.end.saturating_add_unsigned(self.slack)).contains(&at)
        })
    }

    fn numbers(&self, named: &Named, calls: &[Call]) -> Numbers {
        let (Some(first), Some(last)) = (calls.first(), calls.last()) else {
            return Numbers::default();
        };
        let Ok(mut replay) = Replay::new(named.config, Order::as_written()) else {
            return Numbers::default();
        };
        replay.feed(calls);
        let replayed = replay.finish();
        let sums = replayed.total();
        let own: Vec<Trouble> = self
            .troubles
            .iter()
            .filter(|trouble| trouble.end >= first.start && trouble.start <= last.start)
            .cloned()
            .collect();
        let judged = judge(
            &replayed.transitions,
            &own,
            self.keys,
            self.slack,
            last.end(),
        );
        Numbers {
            made_bad: sums.made_bad,
            spared: sums.spared,
            lost: sums.lost,
            trips: judged.trips,
            false_trips: judged.false_trips,
            missed: judged.missed,
        }
    }
}

impl Numbers {
    const fn point(&self) -> Point {
        Point {
            made_bad: self.made_bad,
            lost: self.lost,
        }
    }
}

/// Those that no other beats: none makes fewer bad calls and loses no more well ones.
fn front(numbers: &[Numbers]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by_key(|&index| {
        (
            numbers[index].made_bad,
            numbers[index].lost,
            numbers[index].trips,
        )
    });
    let mut least = u64::MAX;
    order.retain(|&index| {
        let better = numbers[index].lost < least;
        least = least.min(numbers[index].lost);
        better
    });
    order
}

/// A length in words.
fn days(nanos: u64) -> f64 {
    Duration::from_nanos(nanos).as_secs_f64() / 86_400.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_holds_what_no_other_beats() {
        let of = |made_bad, lost| Numbers {
            made_bad,
            lost,
            ..Numbers::default()
        };
        let numbers = [
            of(10, 5),
            of(3, 9),
            of(3, 8),
            of(20, 0),
            of(12, 5),
            of(30, 0),
        ];
        assert_eq!(front(&numbers), [2, 0, 3]);
    }
}
