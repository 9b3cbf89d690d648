//! Sorting within a bound.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

use super::row::Side;
use crate::call::Call;

/// A call on its way to the replay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) call: Call,
    pub(super) without_duration: bool,
    pub(super) side: Option<(Side, u64)>,
    /// Its place in the file: of two that begin at once the first goes first.
    pub(super) place: u64,
}

impl Item {
    fn order(&self) -> (i64, u64) {
        (self.call.start, self.place)
    }
}

impl Ord for Item {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Item {}

/// Calls that may not be given on yet, since an earlier one may come.
///
/// Those of the earliest second are a heap, those of later seconds wait as they came: a heap of all
/// would be larger than the processor's caches, and each call would go down through all of it.
#[derive(Debug)]
pub(super) struct Sorter {
    first: BinaryHeap<Reverse<Item>>,
    /// The latest second of which calls are in `first`.
    second: i64,
    later: BTreeMap<i64, Vec<Reverse<Item>>>,
    waiting: usize,
    within: i64,
    /// How many wait at most. The earliest is given on when there are more.
    most: usize,
    newest: i64,
}

impl Sorter {
    /// How many wait at most in the sorters of all files: some 60 MB.
    pub(super) const MOST: usize = 700_000;

    pub(super) fn new(within: i64, most: usize) -> Self {
        Self {
            first: BinaryHeap::new(),
            second: i64::MIN,
            later: BTreeMap::new(),
            waiting: 0,
            within,
            most,
            newest: i64::MIN,
        }
    }

    pub(super) fn push(&mut self, item: Item) {
        const SECOND: i64 = 1_000_000_000;
        self.newest = self.newest.max(item.call.start);
        self.waiting += 1;
        let second = item.call.start.div_euclid(SECOND);
        if second <= self.second {
            self.first.push(Reverse(item));
        } else {
            self.later.entry(second).or_default().push(Reverse(item));
        }
    }

    /// The next start, if no earlier call can come: with `all`, because none comes at all.
    pub(super) fn peek(&mut self, all: bool) -> Option<i64> {
        if self.first.is_empty()
            && let Some((second, calls)) = self.later.pop_first()
        {
            self.first = calls.into();
            self.second = second;
        }
        let start = self.first.peek()?.0.call.start;
        let sure =
            all || start <= self.newest.saturating_sub(self.within) || self.waiting >= self.most;
        sure.then_some(start)
    }

    /// The call that [`peek`](Self::peek) has seen.
    pub(super) fn pop(&mut self) -> Option<Item> {
        let Reverse(item) = self.first.pop()?;
        self.waiting -= 1;
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use cutout::Outcome;

    use super::*;

    #[test]
    fn calls_come_out_by_their_starts_and_of_equals_as_they_came() {
        let mut random = fastrand::Rng::with_seed(5);
        for within in [0, 700_000_000, 30_000_000_000] {
            let mut sorter = Sorter::new(within, 400);
            let (mut given, mut pushed) = (Vec::new(), 0);
            for place in 0..5_000_u64 {
                let start = place as i64 * 100_000_000 - random.i64(0..=within) / 1_000 * 1_000;
                sorter.push(Item {
                    call: Call {
                        start,
                        took: 0,
                        key: 0,
                        outcome: Outcome::Success,
                        label: 0,
                        bad: false,
                    },
                    without_duration: true,
                    side: None,
                    place,
                });
                pushed += 1;
                while sorter.peek(false).is_some() {
                    given.extend(sorter.pop());
                }
                assert!(sorter.waiting < 400);
            }
            while sorter.peek(true).is_some() {
                given.extend(sorter.pop());
            }
            assert_eq!((given.len(), sorter.waiting), (pushed, 0));
            assert!(given.is_sorted());
        }
    }
}
