//! Calls of a log before the real breaker, on a clock that follows the log.

mod flight;
mod lane;
mod order;
mod refusing;
mod seen;
mod sums;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use cutout::{AnyPermit, ConfigError, ManualClock};

use self::flight::{Flight, told};
use self::lane::Lane;
use crate::call::Call;
use crate::configs::Guards;

pub use order::Order;
pub use refusing::Refused;
pub use seen::{Evidence, Replayed, Transition};
pub use sums::Sums;

/// One config before the calls of a log, in one order.
///
/// A breaker, and the throttle behind it if there is one, is asked when a call begins, and told its outcome when it ends, while others are in flight as they
/// were. A call that it refuses is not made: it is *spared* if it was bad and *lost* if it was well.
///
/// What a log cannot tell: whether the upstream would have healed sooner for being called less, and what the
/// callers would have done instead of a call that is refused. Neither is assumed.
///
/// Calls must come in the order of their starts, as [`Input`](crate::input::Input) gives them.
pub struct Replay {
    guards: Guards,
    clock: ManualClock,
    /// The time of the log at which the clock is zero.
    origin: Option<i64>,
    lanes: Vec<Option<Lane>>,
    in_flight: BinaryHeap<Reverse<Flight>>,
    seen: Replayed,
    order: Order,
    count: u64,
}

impl Replay {
    /// A replay of calls in this order.
    ///
    /// Jitter, and which calls a throttle refuses, is drawn by a seed of each key's, so that a replay that is made twice says the same twice.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first illegal field.
    pub fn new(guards: impl Into<Guards>, order: Order) -> Result<Self, ConfigError> {
        let guards = guards.into();
        guards.validate()?;
        Ok(Self {
            guards,
            clock: ManualClock::new(),
            origin: None,
            lanes: Vec::new(),
            in_flight: BinaryHeap::new(),
            seen: Replayed::default(),
            order,
            count: 0,
        })
    }

    /// Goes on with the next calls.
    pub fn feed(&mut self, calls: &[Call]) {
        if self.order.is_as_written() {
            for call in calls {
                self.call(call);
            }
            return;
        }
        for call in calls {
            while let Some(earlier) = self.order.before(call.start) {
                self.call(&earlier);
            }
            self.order.draw(*call);
        }
    }

    /// Lets the calls in flight end; what came of it all.
    pub fn finish(mut self) -> Replayed {
        while let Some(call) = self.order.before(i64::MAX) {
            self.call(&call);
        }
        self.settle(i64::MAX);
        for lane in self.lanes.into_iter().flatten() {
            lane.finish(&mut self.seen);
        }
        self.seen
    }

    fn call(&mut self, call: &Call) {
        self.settle(call.start);
        self.set_clock(call.start);
        let index = call.key as usize;
        if self.lanes.len() <= index {
            self.lanes.resize_with(index + 1, || None);
            self.seen.sums.resize(index + 1, Sums::default());
        }
        let (guards, clock) = (&self.guards, &self.clock);
        let lane = self.lanes[index].get_or_insert_with(|| Lane::new(guards, clock, call.key));
        let made = lane.admit(call.start, &mut self.seen).map(|permits| {
            if call.took == 0 {
                // Begins and ends at once, before any other.
                permits.done(told(call));
            } else {
                self.count += 1;
                let flight = Flight::new(self.count, *call, permits);
                self.in_flight.push(Reverse(flight));
            }
        });
        lane.look(call.start, &mut self.seen);
        self.seen.sums[index].count(call, made);
    }

    /// Tells the breakers of all calls that ended by then.
    fn settle(&mut self, until: i64) {
        while let Some(Reverse(flight)) = self.in_flight.peek()
            && flight.end() <= until
        {
            let end = flight.end();
            self.set_clock(end);
            if let Some(Reverse(flight)) = self.in_flight.pop() {
                let key = flight.key() as usize;
                flight.settle();
                if let Some(Some(lane)) = self.lanes.get_mut(key) {
                    lane.look(end, &mut self.seen);
                }
            }
        }
    }

    fn set_clock(&mut self, to: i64) {
        let origin = *self.origin.get_or_insert(to);
        self.clock.set(Duration::from_nanos(to.abs_diff(origin)));
    }
}

impl std::fmt::Debug for Replay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replay")
            .field("guards", &self.guards)
            .field("in_flight", &self.in_flight.len())
            .finish_non_exhaustive()
    }
}
