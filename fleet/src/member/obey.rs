//! Orders given here, heard, and kept: what a member does with them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::orders::{at, holds};
use super::{Act, Breakers, Member};
use crate::statement::{Action, Order, millis};

/// How long who hears an order to close carries it out: those that have been cut off for longer go on as they are.
const CLOSING: Duration = Duration::from_secs(10);

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
        let left = if what == Action::Close {
            Some(CLOSING)
        } else {
            left
        };
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

    /// The breaker of this name has come as it was kept by an earlier process: what was ordered of it may have ended meanwhile.
    pub(crate) fn restored(&mut self, name: &str) {
        if let Some(local) = self.names.get_mut(name)
            && local.order.0 == 0
        {
            local.order.1 = false;
        }
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
        for mut order in kept {
            // Given before: nobody can tell when.
            if order.what == Action::Close {
                order.left_ms = Some(0);
            }
            self.orders.learn(order, now);
        }
        for (name, (order, heard)) in &self.orders.known {
            let rank = (order.number, Arc::clone(&order.member));
            let order = at(order, *heard, now);
            if holds(&order) && known.get(name).is_none_or(|known| *known < rank) {
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
