//! What operators have ordered, of one name or of all.
//!
//! Of each there is one order, the newest: that with the largest number. Who orders takes a number above all that it knows. An
//! order that was ended is kept as one, so that what is older does not come back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::{Act, Breakers, Member};
use crate::statement::{Action, Order, millis};

/// How many names may have orders.
pub(crate) const MAX_ORDERS: usize = 1000;

#[derive(Debug, Default)]
pub(super) struct Orders {
    /// By name; none is all of them.
    known: BTreeMap<Option<Arc<str>>, (Order, Duration)>,
}

impl Orders {
    fn rank(order: &Order) -> (u64, &str) {
        (order.number, &order.member)
    }

    fn highest(&self) -> Option<&(Order, Duration)> {
        self.known
            .values()
            .max_by_key(|(order, _)| Self::rank(order))
    }

    /// The newest of all, as it is now.
    pub(super) fn newest(&self, now: Duration) -> Option<Order> {
        self.highest().map(|(order, heard)| at(order, *heard, now))
    }

    /// Takes it in, if it is newer than what is known of the name.
    fn learn(&mut self, order: Order, now: Duration) -> bool {
        let known = self.known.get(&order.name);
        let is_news = known.is_none_or(|(known, _)| Self::rank(&order) > Self::rank(known));
        let has_room = known.is_some() || self.known.len() < MAX_ORDERS;
        if is_news && has_room {
            self.known.insert(order.name.clone(), (order, now));
        }
        is_news && has_room
    }

    /// The newest that concerns a name and whose time is not over, as it is now; or one that is over.
    fn of(&self, name: &Arc<str>, now: Duration) -> Option<Order> {
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
fn at(order: &Order, heard: Duration, now: Duration) -> Order {
    let passed = millis(now.saturating_sub(heard));
    Order {
        left_ms: order.left_ms.map(|left| left.saturating_sub(passed)),
        ..order.clone()
    }
}

impl Member {
    /// An operator of this member orders something.
    pub(crate) fn order(
        &mut self,
        order: (Option<Arc<str>>, Action, Option<Duration>),
        (reason, author): (Arc<str>, Arc<str>),
        now: Duration,
        breakers: &mut impl Breakers,
    ) -> Order {
        let (name, what, left) = order;
        let highest = self.orders.highest().map_or(0, |(order, _)| order.number);
        let order = Order {
            name,
            number: highest + 1,
            member: Arc::clone(&self.name),
            what,
            left_ms: left.map(millis),
            reason,
            author,
        };
        self.orders.learn(order.clone(), now);
        self.acts.push_back(Act::Keep(order.clone()));
        self.has_news = true;
        self.carry_out(now, breakers);
        order
    }

    /// Another member has told of an order.
    pub(super) fn learn(&mut self, order: Order, now: Duration, breakers: &mut impl Breakers) {
        let (highest, number) = (self.orders.highest(), order.number);
        let next = highest.map_or(0, |(order, _)| order.number) + 1;
        if self.orders.learn(order, now) {
            // It tells of the newest only: there may be others between.
            if number > next {
                self.acts.push_back(Act::Recall);
            }
            self.carry_out(now, breakers);
        }
    }

    /// All orders that are kept, and those of this member that are not, or are kept as older ones.
    pub(crate) fn recalled(
        &mut self,
        kept: Vec<Order>,
        now: Duration,
        breakers: &mut impl Breakers,
    ) {
        let known: BTreeMap<_, _> = kept
            .iter()
            .map(|order| {
                (
                    order.name.clone(),
                    (order.number, Arc::clone(&order.member)),
                )
            })
            .collect();
        for order in kept {
            self.orders.learn(order, now);
        }
        for (name, (order, heard)) in &self.orders.known {
            let rank = (order.number, Arc::clone(&order.member));
            let order = at(order, *heard, now);
            let is_over = order.left_ms == Some(0);
            if !is_over && known.get(name).is_none_or(|known| *known < rank) {
                self.acts.push_back(Act::Keep(order));
            }
        }
        self.carry_out(now, breakers);
    }

    /// Has the breakers do what was ordered, each order once.
    pub(super) fn carry_out(&mut self, now: Duration, breakers: &mut impl Breakers) {
        if self.orders.known.is_empty() {
            return;
        }
        for (name, local) in &mut self.names {
            let Some(order) = self.orders.of(name, now) else {
                continue;
            };
            let is_over = order.left_ms == Some(0) || order.what == Action::Resume;
            let (last, was_over) = std::mem::replace(&mut local.order, (order.number, is_over));
            let is_done = (last, was_over) == (order.number, is_over);
            if is_done || is_over && was_over {
                continue;
            }
            let what = if is_over { Action::Resume } else { order.what };
            let reason = format!("{} ({})", order.reason, order.author);
            let left = order.left_ms.map(Duration::from_millis);
            breakers.order(name, what, left, &reason);
        }
    }
}
