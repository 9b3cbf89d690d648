//! In which order calls are replayed whose stamps do not say it.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::call::Call;

/// The order of calls: as they were written, or one that their stamps allow as well.
///
/// A stamp of whole seconds says that a call was somewhere in that second. A drawn order puts each call at a
/// random place in it, so that several of them show how much of a result hangs on what the log does not say.
#[derive(Debug)]
pub struct Order {
    drawn: Option<Drawn>,
}

#[derive(Debug)]
struct Drawn {
    random: fastrand::Rng,
    width: u64,
    waiting: BinaryHeap<Waiting>,
    count: u64,
}

/// A call that was put somewhere, until it is its turn; the earliest is the greatest.
#[derive(Debug)]
struct Waiting {
    call: Call,
    count: u64,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.call.start, other.count).cmp(&(self.call.start, self.count))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}

impl Order {
    /// As the calls were written.
    pub const fn as_written() -> Self {
        Self { drawn: None }
    }

    /// Each call somewhere in its stamp, which is `width` nanoseconds wide.
    pub fn drawn(seed: u64, width: u64) -> Self {
        Self {
            drawn: Some(Drawn {
                random: fastrand::Rng::with_seed(seed),
                width: width.max(1),
                waiting: BinaryHeap::new(),
                count: 0,
            }),
        }
    }

    pub(super) const fn is_as_written(&self) -> bool {
        self.drawn.is_none()
    }

    /// Puts a call somewhere in its stamp.
    pub(super) fn draw(&mut self, mut call: Call) {
        if let Some(drawn) = &mut self.drawn {
            call.start = call
                .start
                .saturating_add_unsigned(drawn.random.u64(0..drawn.width));
            drawn.count += 1;
            let count = drawn.count;
            drawn.waiting.push(Waiting { call, count });
        }
    }

    /// The next call that begins before all whose stamps are this or later.
    pub(super) fn before(&mut self, stamp: i64) -> Option<Call> {
        let drawn = self.drawn.as_mut()?;
        let start = drawn.waiting.peek()?.call.start;
        if start > stamp || (start == stamp && stamp != i64::MAX) {
            return None;
        }
        drawn.waiting.pop().map(|waiting| waiting.call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawn_order_keeps_each_call_in_its_stamp_and_gives_them_in_order() {
        let mut order = Order::drawn(1, 1_000);
        let mut drawn = Vec::new();
        for index in 0..500 {
            let stamp = index / 50 * 1_000;
            while let Some(call) = order.before(stamp) {
                drawn.push(call);
            }
            order.draw(Call {
                start: stamp,
                took: index.unsigned_abs(),
                key: 0,
                outcome: cutout::Outcome::Success,
                label: 0,
                bad: false,
            });
        }
        while let Some(call) = order.before(i64::MAX) {
            drawn.push(call);
        }
        assert_eq!(drawn.len(), 500);
        assert!(drawn.is_sorted_by_key(|call| call.start));
        assert!(!drawn.is_sorted_by_key(|call| call.took));
        let stamp = |call: &Call| call.took as i64 / 50 * 1_000;
        assert!(
            drawn
                .iter()
                .all(|call| (stamp(call)..stamp(call) + 1_000).contains(&call.start))
        );
    }
}
