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
use super::target::{Granted, Member};
use super::turns::Turn;
use crate::breaker::rejected::Rejected;
use crate::contract::clock::Clock;
use crate::contract::state::{Cause, State};

/// One look for a target through one queue.
pub(super) struct Search<'a, T, C: Clock> {
    queue: &'a Queue<T, C>,
    attempts: &'a mut Attempts,
    /// The targets that the request may be sent to.
    eligible: Positions,
    /// The rejection that ends first, and who gave it.
    rejected: Option<(usize, Rejected)>,
    /// Who is told of each rejection.
    watcher: &'a mut dyn FnMut(&Member<T, C>, &Rejected),
}

/// A target that takes the call, and the permits that it gave.
struct Found<C: Clock> {
    position: usize,
    granted: Option<Granted<C>>,
}

impl<'a, T, C: Clock> Search<'a, T, C> {
    #[inline]
    pub(super) fn new(
        queue: &'a Queue<T, C>,
        attempts: &'a mut Attempts,
        watcher: &'a mut dyn FnMut(&Member<T, C>, &Rejected),
    ) -> Self {
        let mut eligible = queue.all;
        if attempts.tried() > 0 {
            eligible = eligible
                .filter(|position| !attempts.has_tried(queue.places[position].member.entry().id));
        }
        Self {
            queue,
            attempts,
            eligible,
            rejected: None,
            watcher,
        }
    }

    /// Leaves out the targets at the positions where this does not hold.
    pub(super) fn retain(&mut self, holds: impl Fn(usize) -> bool) {
        self.eligible = self.eligible.filter(holds);
    }

    #[inline]
    pub(super) fn run(&mut self, canary: bool) -> Result<Choice<T, C>, NoTarget> {
        let queue = self.queue;
        if canary && let Some(found) = self.ask_seldom(&queue.canary) {
            return Ok(self.choose(found));
        }
        if let Some(found) = self.ask(&queue.ordinary) {
            return Ok(self.choose(found));
        }
        match self.resort() {
            Some(found) => Ok(self.choose(found)),
            None => Err(self.give_up()),
        }
    }

    #[inline]
    fn choose(&mut self, found: Found<C>) -> Choice<T, C> {
        let entry = self.queue.places[found.position].member.entry();
        self.attempts.add(entry.id);
        let is_timed = self.queue.config.policy == Policy::Fastest;
        Choice::new(&entry.upstream, found.granted, is_timed)
    }

    /// [`ask`](Self::ask), for a lane that few requests come to.
    #[inline(never)]
    fn ask_seldom(&mut self, lane: &Lane) -> Option<Found<C>> {
        self.ask(lane)
    }

    /// Asks the targets of a lane one after the other: those that are still on
    /// their way back to their full share once more when all others reject.
    // Inlined so that what is found stays in registers.
    #[inline(always)]
    fn ask(&mut self, lane: &Lane) -> Option<Found<C>> {
        let mut left = self.eligible.and(lane.members);
        let mut deferred = Positions::NONE;
        while let Some(turn) = self.pick(lane, left) {
            left.remove(turn.position);
            let entry = self.queue.places[turn.position].member.entry();
            if entry
                .ramp
                .defers(&entry.upstream.breaker, self.queue.config.ramp)
            {
                self.take(lane, turn);
                deferred.insert(turn.position);
            } else if let Some(found) = self.reserve(lane, turn) {
                return Some(found);
            }
        }
        while let Some(turn) = self.pick(lane, deferred) {
            deferred.remove(turn.position);
            if let Some(found) = self.reserve(lane, turn) {
                return Some(found);
            }
        }
        None
    }

    /// The next target to ask by the policy.
    #[inline]
    fn pick(&self, lane: &Lane, among: Positions) -> Option<Turn> {
        let places = &self.queue.places;
        match (self.queue.config.policy, self.attempts.key()) {
            (Policy::Priority, _) => among.first().map(Turn::none),
            (Policy::LeastInFlight, _) => lane.turns.least(among, |position| {
                places[position].member.in_flight() as u64 + 1
            }),
            (Policy::Fastest, _) => {
                let (one, other) = among.two(lane.turns.draw())?;
                let likely = |position: usize| {
                    let member = &places[position].member;
                    let likely = member.upstream().likely(member.in_flight() as u64);
                    lane.turns.by_weight(position, likely)
                };
                let is_other = other != one && likely(other) < likely(one);
                Some(Turn::none(if is_other { other } else { one }))
            }
            (Policy::Sticky, Some(key)) => {
                let nearest = among.least(|position| self.queue.draws[position].distance(key));
                nearest.map(|(position, _)| lane.turns.of(position))
            }
            (Policy::RoundRobin | Policy::Weighted | Policy::Sticky, _) => lane.turns.next(among),
        }
    }

    #[inline]
    fn take(&self, lane: &Lane, turn: Turn) {
        if !matches!(self.queue.config.policy, Policy::Priority | Policy::Fastest) {
            lane.turns.take(turn);
        }
    }

    #[inline(always)]
    fn reserve(&mut self, lane: &Lane, turn: Turn) -> Option<Found<C>> {
        let position = turn.position;
        let entry = self.queue.places[position].member.entry();
        let granted = match entry.upstream.admit() {
            Ok(granted) => {
                if granted.0.stamp().is_probe() {
                    entry.ramp.interrupt();
                }
                Some(granted)
            }
            Err(rejected) => {
                self.note(position, rejected);
                if is_throttled(&rejected) || !shed::must_stay_in_use(self.queue, position) {
                    return None;
                }
                None
            }
        };
        self.take(lane, turn);
        Some(Found { position, granted })
    }

    /// A last resort gets the call even when its breaker rejects, or its throttle.
    #[cold]
    fn resort(&mut self) -> Option<Found<C>> {
        let lane = &self.queue.last_resort;
        let Turn { position, .. } = self.pick(lane, self.eligible.and(lane.members))?;
        let admitted = self.ask_seldom(lane);
        Some(admitted.unwrap_or(Found {
            position,
            granted: None,
        }))
    }

    #[cold]
    fn note(&mut self, position: usize, rejected: Rejected) {
        let member = &self.queue.places[position].member;
        if !is_throttled(&rejected) {
            member.entry().ramp.interrupt();
        }
        (self.watcher)(member, &rejected);
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
                name: Arc::clone(&self.queue.places[position].member.upstream().name),
                rejected,
            },
            None => NoTarget::Exhausted {
                tried: self.attempts.tried(),
            },
        }
    }
}

/// Whether it is no verdict on the target, which takes the rest of its calls.
fn is_throttled(rejected: &Rejected) -> bool {
    rejected.cause() == Cause::Throttled
}

/// When a rejection ends, for comparison. A probe that is out will end, but no clock
/// can tell when: later than any wait. An endless wait is later still.
fn end(rejected: &Rejected) -> (bool, Duration) {
    match (rejected.state(), rejected.retry_after()) {
        (State::HalfOpen, _) => (true, Duration::ZERO),
        (_, Some(left)) if left < Duration::MAX => (false, left),
        _ => (true, Duration::MAX),
    }
}
