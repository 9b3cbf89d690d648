//! Callers and upstream, event by event.

use std::collections::BTreeMap;
use std::time::Duration;

use cutout::{AnyPermit, Gate, Outcome, Report};

use crate::draws::Draws;
use crate::simulation::course::Course;
use crate::simulation::scenario::Scenario;
use crate::simulation::upstream::{Upstream, nanos, seconds};

/// Who says which calls are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// The door.
    ByDoor,
    /// The upstream itself: those that it has a good answer for.
    WhatIsWell,
}

/// What says which calls are made.
pub(super) trait Door {
    /// What is told how the call ended.
    type Permit: AnyPermit;

    fn enter(&self) -> Option<Self::Permit>;
}

impl<G: Gate> Door for G {
    type Permit = G::Permit;

    fn enter(&self) -> Option<Self::Permit> {
        self.admit().ok()
    }
}

/// A request on its way.
#[derive(Clone, Copy)]
struct Request {
    key: u64,
    /// How often it may still be tried.
    attempts: u32,
}

enum Event<P> {
    /// The next new request.
    New,
    /// A request is tried again.
    Again(Request),
    /// A caller sees what its call came to.
    Ends(Request, P, Outcome),
}

/// What is going to happen, in order; what is due at the same time in the order it was planned.
struct Plan<P> {
    events: BTreeMap<(u64, u64), Event<P>>,
    planned: u64,
}

impl<P> Plan<P> {
    fn add(&mut self, at: u64, event: Event<P>) {
        self.planned += 1;
        self.events.insert((at, self.planned), event);
    }
}

/// Plays the scenario with everything going through `door`, whose clock `set` sets. The same seed, the same course.
pub(super) fn run<D: Door>(
    scenario: &Scenario,
    seed: u64,
    set: &mut dyn FnMut(Duration),
    door: &D,
    admission: Admission,
) -> Course {
    let mut draws = Draws::new(seed);
    let mut upstream = Upstream::new(scenario.nature.clone());
    let mut course = Course::new(scenario);
    let mut plan = Plan::<D::Permit> {
        events: BTreeMap::new(),
        planned: 0,
    };
    plan.add(0, Event::New);
    while let Some(((at, _), event)) = plan.events.pop_first() {
        let now = seconds(at);
        if now >= scenario.length {
            break;
        }
        set(Duration::from_nanos(at));
        course.capacity_at(now, upstream.capacity(at));
        let request = match event {
            Event::New => {
                plan.add(at + nanos(draws.gap(scenario.offered)), Event::New);
                Request {
                    key: draws.next(),
                    attempts: scenario.attempts,
                }
            }
            Event::Again(request) => request,
            Event::Ends(request, permit, outcome) => {
                permit.done(Report::from(outcome));
                course.ended(now, outcome);
                if outcome != Outcome::Success && request.attempts > 0 {
                    // About a tenth of a second later, as retries do.
                    let wait = nanos(0.05 + 0.1 * draws.unit());
                    plan.add(at + wait, Event::Again(request));
                }
                continue;
            }
        };
        let is_well = upstream.is_well_for(request.key, at);
        let admitted = match admission {
            Admission::WhatIsWell if !is_well => None,
            _ => door.enter(),
        };
        let Some(permit) = admitted else {
            course.refused(now, is_well);
            continue;
        };
        course.sent(now, upstream.is_dead_for(request.key, at));
        let (outcome, end) = upstream.take(request.key, at);
        let request = Request {
            attempts: request.attempts - 1,
            ..request
        };
        plan.add(end, Event::Ends(request, permit, outcome));
    }
    course
}
