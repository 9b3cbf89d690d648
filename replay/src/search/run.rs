//! Configs tried, and the best of them judged.

use rayon::prelude::*;

use super::advice::{Advice, Numbers, Tried};
use super::candidates::{Log, candidates};
use super::subject::Search;
use super::{bootstrap, words};
use crate::call::Call;
use crate::configs::{self, Named};
use crate::judge::judge;
use crate::replay::{Order, Replay};
use crate::trouble::Trouble;

impl Search<'_> {
    /// Tries a few hundred configs on the first part of the calls, and judges those that none beats on the rest.
    pub fn run(&self) -> Advice {
        let last = self.calls.last().map_or(i64::MIN, |call| call.start);
        let seen = self
            .troubles
            .partition_point(|trouble| trouble.start <= last);
        let seen = Search {
            troubles: &self.troubles[..seen],
            ..*self
        };
        seen.advise()
    }

    fn advise(&self) -> Advice {
        let split = self.split();
        let at = self.calls.partition_point(|call| call.start < split);
        let (first, second) = self.calls.split_at(at);
        let quiet_rate = self.quiet_rate(first);
        let all = candidates(Log {
            quiet_rate,
            slow: self.slow.limit(""),
        });
        let of = all.len();
        let (all, numbers): (Vec<Named>, Vec<Numbers>) = all
            .into_par_iter()
            .filter(|_| !self.is_stopped())
            .map(|named| {
                let numbers = self.numbers(&named, first);
                (named, numbers)
            })
            .unzip();
        let mut front = front(&numbers);
        front.truncate(24);
        let front: Vec<Tried> = front
            .into_par_iter()
            .map(|index| Tried {
                name: all[index].name.clone(),
                first: numbers[index],
                second: self.numbers(&all[index], second),
                guards: all[index].guards,
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
            of,
            split_ns: split,
            troubles: (before, self.troubles.len() - before),
            quiet_rate,
            points: numbers.iter().map(Numbers::point).collect(),
            toml: chosen.map_or(String::new(), |index| configs::toml(&front[index].guards)),
            config: chosen.map_or(toml::Table::new(), |index| {
                configs::differing(&front[index].guards)
            }),
            false_trips: chosen
                .filter(|_| !self.is_stopped())
                .map(|index| bootstrap::false_trips(self, &front[index].guards)),
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

    fn numbers(&self, named: &Named, calls: &[Call]) -> Numbers {
        let (Some(first), Some(last)) = (calls.first(), calls.last()) else {
            return Numbers::default();
        };
        let Ok(mut replay) = Replay::new(named.guards, Order::as_written()) else {
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
        let judged = judge(&replayed, &own, self.keys, self.slack, last.end());
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use cutout::Outcome;

    use super::*;
    use crate::{Keys, Slow};

    #[test]
    fn a_search_that_is_stopped_advises_by_what_was_tried_and_says_so() {
        let call = |second| Call {
            start: second * 1_000_000_000,
            took: 0,
            key: 0,
            outcome: Outcome::Success,
            label: 0,
            bad: false,
        };
        let calls: Vec<Call> = (1_i64..50).map(call).collect();
        let mut keys = Keys::default();
        keys.number("");
        let advice = |stop| {
            Search {
                calls: &calls,
                of: 50,
                keys: &keys,
                troubles: &[],
                slack: 0,
                slow: &Slow::default(),
                stop: &AtomicBool::new(stop),
            }
            .run()
        };
        let (whole, stopped) = (advice(false), advice(true));
        assert!(whole.chosen.is_some() && whole.tried == whole.of);
        assert_eq!(
            (stopped.chosen, stopped.tried, stopped.of),
            (None, 0, whole.of)
        );
        assert!(stopped.toml.is_empty());
        let says = |advice: &Advice| advice.sentences[0].starts_with("The search was stopped");
        assert!(says(&stopped) && !says(&whole));
    }

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
