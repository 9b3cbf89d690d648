//! What operators have ordered, of one name or of all.
//!
//! Of each there is one order, the newest: that with the largest number. Who orders takes a number above all that it knows. An
//! order that was ended is kept as one, so that what is older does not come back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::health::OrderHealth;
use crate::statement::{Action, MAX_ORDERS, Order, millis};

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
        if !is_news {
            return false;
        }
        if known.is_none() && self.known.len() >= MAX_ORDERS {
            // Those whose time is over have gone from the server by themselves.
            self.known
                .retain(|_, (order, heard)| holds(&at(order, *heard, now)));
            if self.known.len() >= MAX_ORDERS {
                return false;
            }
        }
        self.known.insert(order.name.clone(), (order, now));
        true
    }

    /// The newest that concerns a name and whose time is not over, as it is now; or one that is over.
    pub(super) fn of(&self, name: &Arc<str>, now: Duration) -> Option<Order> {
        let of_name = self.known.get(&Some(Arc::clone(name)));
        let all = of_name.into_iter().chain(self.known.get(&None));
        let all = all.map(|(order, heard)| at(order, *heard, now));
        all.max_by_key(|order| (holds(order), order.number, Arc::clone(&order.member)))
    }

    /// All that hold, as they are now.
    pub(super) fn health(&self, now: Duration) -> Vec<OrderHealth> {
        let all = self.known.values();
        let all = all.map(|(order, heard)| at(order, *heard, now));
        let held = all
            .filter(|order| holds(order) && !matches!(order.what, Action::Resume | Action::Close));
        held.map(|order| OrderHealth {
            name: order.name,
            what: order.what,
            left: order.left_ms.map(Duration::from_millis),
            reason: order.reason,
            author: order.author,
            member: order.member,
            number: order.number,
        })
        .collect()
    }
}

/// Whether an order's time is not over. One to close says for good that what was before it has ended.
pub(super) fn holds(order: &Order) -> bool {
    order.left_ms != Some(0) || order.what == Action::Close
}

/// An order that was heard then, as it is now.
pub(super) fn at(order: &Order, heard: Duration, now: Duration) -> Order {
    let passed = millis(now.saturating_sub(heard));
    Order {
        left_ms: order.left_ms.map(|left| left.saturating_sub(passed)),
        ..order.clone()
    }
}
