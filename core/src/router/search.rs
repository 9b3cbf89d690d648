//! The search for a target that admits the call.

use alloc::sync::Arc;
use core::time::Duration;

use super::attempts::Attempts;
use super::choice::Choice;
use super::config::Policy;
use super::error::NoTarget;
use super::positions::Positions;
use super::queue::{Lane, Queue};
use super::shed;
use super::sticky;
use super::target::Member;
use crate::clock::Clock;
use crate::error::Rejected;
use crate::state::State;

/// One look for a target through one queue.
pub(super) struct Search<'a, T, C: Clock> {
    queue: &'a Queue<T, C>,
    attempts: &'a mut Attempts,
    /// The targets that are left to be asked.
    left: Positions,
    /// The rejection that ends first, and who gave it.
    rejected: Option<(usize, Rejected)>,
    /// Who is told of each rejection.
    watcher: &'a mut dyn FnMut(&Member<T, C>, &Rejected),
}

impl<'a, T, C: Clock> Search<'a, T, C> {
    pub(super) fn new(
        queue: &'a Queue<T, C>,
        attempts: &'a mut Attempts,
        eligible: impl Fn(&T) -> bool,
        watcher: &'a mut dyn FnMut(&Member<T, C>, &Rejected),
    ) -> Self {
        let left = Positions::where_(queue.seats.len(), |position| {
            let member = &queue.seats[position].member;
            !attempts.has_tried(member.entry().id) && eligible(member.payload())
        });
        Self {
            queue,
            attempts,
            left,
            rejected: None,
            watcher,
        }
    }

    pub(super) fn run(mut self, canary: bool) -> Result<Choice<T, C>, NoTarget> {
        let queue = self.queue;
        let canary = canary.then(|| self.ask(&queue.canary)).flatten();
        let chosen = canary
            .or_else(|| self.ask(&queue.ordinary))
            .or_else(|| self.resort());
        chosen.ok_or_else(|| self.give_up())
    }

    /// Asks the targets of a lane one after the other: those that are still on
    /// their way back to their full share once more when all others reject.
    fn ask(&mut self, lane: &Lane) -> Option<Choice<T, C>> {
        let mut left = self.left.and(lane.members);
        let mut deferred = Positions::NONE;
        while let Some(position) = self.pick(lane, left) {
            left.remove(position);
            let entry = self.queue.seats[position].member.entry();
            if entry.ramp.defers(&entry.breaker, self.queue.config.ramp) {
                lane.turns.take(position);
                deferred.insert(position);
            } else if let Some(choice) = self.try_reserve(lane, position) {
                return Some(choice);
            }
        }
        while let Some(position) = self.pick(lane, deferred) {
            deferred.remove(position);
            if let Some(choice) = self.try_reserve(lane, position) {
                return Some(choice);
            }
        }
        None
    }

    /// The next target to ask by the policy.
    fn pick(&self, lane: &Lane, among: Positions) -> Option<usize> {
        let seats = &self.queue.seats;
        match (self.queue.config.policy, self.attempts.key()) {
            (Policy::Priority, _) => among.first(),
            (Policy::LeastInFlight, _) => among.min_by_key(|&position| {
                let load = seats[position].member.in_flight() + 1;
                (
                    load * lane.turns.stride(position),
                    lane.turns.wait(position),
                )
            }),
            (Policy::Sticky, Some(key)) => {
                let score = |&position: &usize| {
                    let seat = &seats[position];
                    sticky::score(key, seat.member.entry().seed, seat.weight)
                };
                among.max_by(|a, b| score(a).total_cmp(&score(b)))
            }
            (Policy::RoundRobin | Policy::Weighted | Policy::Sticky, _) => lane.turns.next(among),
        }
    }

    fn try_reserve(&mut self, lane: &Lane, position: usize) -> Option<Choice<T, C>> {
        let entry = self.queue.seats[position].member.entry();
        let permit = match entry.breaker.allow_owned() {
            Ok(permit) => {
                if permit.is_probe() {
                    entry.ramp.interrupt();
                }
                Some(permit)
            }
            Err(rejected) => {
                entry.ramp.interrupt();
                self.note(position, rejected);
                if !shed::must_stay_in_use(self.queue, position) {
                    return None;
                }
                None
            }
        };
        if self.queue.config.policy != Policy::Priority {
            lane.turns.take(position);
        }
        Some(self.choose(position, permit))
    }

    /// A last resort gets the call even when its breaker rejects.
    fn resort(&mut self) -> Option<Choice<T, C>> {
        let lane = &self.queue.last_resort;
        let last = self.pick(lane, self.left.and(lane.members))?;
        if let Some(choice) = self.ask(lane) {
            return Some(choice);
        }
        Some(self.choose(last, None))
    }

    fn choose(
        &mut self,
        position: usize,
        permit: Option<crate::permit::OwnedPermit<C>>,
    ) -> Choice<T, C> {
        let member = &self.queue.seats[position].member;
        self.attempts.add(member.entry().id);
        Choice::new(member.clone(), permit)
    }

    #[cold]
    fn note(&mut self, position: usize, rejected: Rejected) {
        (self.watcher)(&self.queue.seats[position].member, &rejected);
        if self
            .rejected
            .is_none_or(|(_, first)| end(&rejected) < end(&first))
        {
            self.rejected = Some((position, rejected));
        }
    }

    #[cold]
    fn give_up(&self) -> NoTarget {
        match self.rejected {
            Some((position, rejected)) => NoTarget::Rejected {
                name: Arc::clone(&self.queue.seats[position].member.entry().name),
                rejected,
            },
            None => NoTarget::Exhausted {
                tried: self.attempts.tried(),
            },
        }
    }
}

/// When a rejection ends, for comparison. A probe that is out will end, but no clock
/// can tell when: later than any wait. An endless wait is later still.
fn end(rejected: &Rejected) -> (bool, Duration) {
    match (rejected.state(), rejected.retry_after()) {
        (State::HalfOpen, None) => (true, Duration::ZERO),
        (_, Some(left)) if left < Duration::MAX => (false, left),
        _ => (true, Duration::MAX),
    }
}
