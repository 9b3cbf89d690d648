//! Sorting within a bound.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

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
#[derive(Debug)]
pub(super) struct Sorter {
    waiting: BinaryHeap<Reverse<Item>>,
    within: i64,
    /// How many wait at most. The earliest is given on when there are more.
    most: usize,
    newest: i64,
}

impl Sorter {
    /// How many wait at most in the sorters of all files: some 60 MB.
    pub(super) const MOST: usize = 1_000_000;

    pub(super) fn new(within: i64, most: usize) -> Self {
        Self {
            waiting: BinaryHeap::new(),
            within,
            most,
            newest: i64::MIN,
        }
    }

    pub(super) fn push(&mut self, item: Item) {
        self.newest = self.newest.max(item.call.start);
        self.waiting.push(Reverse(item));
    }

    /// The next start, if no earlier call can come: with `all`, because none comes at all.
    pub(super) fn peek(&self, all: bool) -> Option<i64> {
        let start = self.waiting.peek()?.0.call.start;
        let sure = all
            || start <= self.newest.saturating_sub(self.within)
            || self.waiting.len() >= self.most;
        sure.then_some(start)
    }

    pub(super) fn pop(&mut self) -> Option<Item> {
        self.waiting.pop().map(|Reverse(item)| item)
    }
}
