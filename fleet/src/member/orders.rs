//! What operators have ordered, of one name or of all.
//!
//! Of each there is one order, the newest: that with the largest number. Who orders takes a number above all that it knows. An
//! order that was ended is kept as one, so that what is older does not come back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::statement::{MAX_ORDERS, Order, millis};

#[derive(Debug, Default)]
pub(super) struct Orders {
    /// By name; none is all of them.
    pub(super) known: BTreeMap<Option<Arc<str>>, (Order, Duration)>,
}

impl Orders {
    fn rank(order: &Order) -> (u64, &str) {
        (order.number, &order.member)
    }

    pub(super) fn highest(&self) -> Option<&(Order, Duration)> {
        self.known
            .values()
            .max_by_key(|(order, _)| Self::rank(order))
    }

    /// The newest of all, as it is now.
    pub(super) fn newest(&self, now: Duration) -> Option<Order> {
        self.highest().map(|(order, heard)| at(order, *heard, now))
    }

    /// Takes it in, if it is newer than what is known of the name.
    pub(super) fn learn(&mut self, order: Order, now: Duration) -> bool {
        let known = self.known.get(&order.name);
        let is_news = known.is_none_or(|(known, _)| Self::rank(&order) > Self::rank(known));
        let has_room = known.is_some() || self.known.len() < MAX_ORDERS;
        if is_news && has_room {
            self.known.insert(order.name.clone(), (order, now));
        }
        is_news && has_room
    }

    /// The newest that concerns a name and whose time is not over, as it is now; or one that is over.
    pub(super) fn of(&self, name: &Arc<str>, now: Duration) -> Option<Order> {
        let of_name = self.known.get(&Some(Arc::clone(name)));
        let all = of_name.into_iter().chain(self.known.get(&None));
        let all = all.map(|(order, heard)| at(order, *heard, now));
        all.max_by_key(|order| {
            (
                order.left_ms != Some(0),
                order.number,
                Arc::clone(&order.member),
            )
        })
    }
}

/// An order that was heard then, as it is now.
pub(super) fn at(order: &Order, heard: Duration, now: Duration) -> Order {
    let passed = millis(now.saturating_sub(heard));
    Order {
        left_ms: order.left_ms.map(|left| left.saturating_sub(passed)),
        ..order.clone()
    }
}
