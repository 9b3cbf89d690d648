//! Both ends of a call may write a line: they are told to be one call.

use std::collections::{HashMap, VecDeque};

use super::row::Side;

/// The lines of the last while whose other end was not seen yet.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// When they began.
    alone: HashMap<(u64, bool), Vec<i64>>,
    order: VecDeque<(i64, u64, bool)>,
}

impl Pairs {
    /// How many are kept: some 10 MB.
    const MOST: usize = 200_000;

    /// Whether this line is the other end of one that was counted. Lines come in the order of their starts;
    /// the two are less than `within` nanoseconds apart.
    pub(super) fn is_second(&mut self, start: i64, within: i64, side: Side, id: u64) -> bool {
        while let Some(&(then, id, caller)) = self.order.front()
            && (start - then > within || self.order.len() > Self::MOST)
        {
            self.order.pop_front();
            self.take(id, caller, |start| start == then);
        }
        let caller = side == Side::Caller;
        if self.take(id, !caller, |_| true) {
            return true;
        }
        self.alone.entry((id, caller)).or_default().push(start);
        self.order.push_back((start, id, caller));
        false
    }

    fn take(&mut self, id: u64, caller: bool, like: impl Fn(i64) -> bool) -> bool {
        let Some(starts) = self.alone.get_mut(&(id, caller)) else {
            return false;
        };
        let Some(index) = starts.iter().position(|&start| like(start)) else {
            return false;
        };
        starts.remove(index);
        if starts.is_empty() {
            self.alone.remove(&(id, caller));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_end_takes_one_other_end_and_only_for_a_while() {
        let mut pairs = Pairs::default();
        assert!(!pairs.is_second(0, 10, Side::Caller, 1));
        assert!(!pairs.is_second(1, 10, Side::Caller, 1));
        assert!(pairs.is_second(2, 10, Side::Callee, 1));
        assert!(pairs.is_second(3, 10, Side::Callee, 1));
        assert!(!pairs.is_second(4, 10, Side::Callee, 1));
        assert!(!pairs.is_second(5, 10, Side::Callee, 2));
        assert!(!pairs.is_second(20, 10, Side::Caller, 2));
    }
}
