//! The traffic of the last minute: who serves each route and how much, what each breaker's calls came to, and its last error.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::Serialize;

use crate::clock::unix_millis;

/// A minute is counted in so many parts, of so many seconds each.
const PARTS: usize = 12;
const SECONDS: u64 = 5;

/// What requests and calls came to lately.
#[derive(Debug)]
pub(crate) struct Traffic {
    since: Instant,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    routes: HashMap<String, RouteSeen>,
    breakers: HashMap<String, BreakerSeen>,
}

#[derive(Debug, Default)]
struct RouteSeen {
    requests: Minute,
    failed: Minute,
    answered: HashMap<String, Minute>,
}

#[derive(Debug, Default)]
struct BreakerSeen {
    calls: Minute,
    failed: Minute,
    last_error: Option<Failure>,
}

/// What a request came to, as a route counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CameTo {
    /// A good answer.
    Answer,
    /// An error that is not the client's, or half an answer.
    Failure,
    /// An error of the client's own, or its leaving.
    Neither,
}

/// What the calls to one breaker's upstream came to in the last minute.
#[derive(Clone, Copy, Debug, Default, Serialize, PartialEq, Eq)]
pub(crate) struct Recent {
    /// All that ended.
    pub(crate) calls: u64,
    /// Those of them that failed.
    pub(crate) failed: u64,
}

/// What the requests of one route came to in the last minute.
#[derive(Clone, Debug, Default, Serialize, PartialEq, Eq)]
pub(crate) struct RouteRecent {
    /// All that ended.
    pub(crate) requests: u64,
    /// Those of them that got an error, or half an answer.
    pub(crate) failed: u64,
    /// How many were answered, by the name of the target.
    #[serde(skip)]
    pub(crate) answered: HashMap<String, u64>,
}

/// The last error of an upstream.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub(crate) struct Failure {
    /// When, in milliseconds since the Unix epoch.
    pub(crate) at_ms: u64,
    /// What went wrong, in a few words.
    pub(crate) what: String,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            since: Instant::now(),
            seen: Mutex::default(),
        }
    }
}

impl Traffic {
    /// A request of a route has ended.
    pub(super) fn request(&self, route: &str, target: Option<&str>, came_to: CameTo) {
        let now = self.now();
        let mut seen = self.lock();
        let route = entry(&mut seen.routes, route);
        route.requests.count(now);
        match (came_to, target) {
            (CameTo::Answer, Some(target)) => entry(&mut route.answered, target).count(now),
            (CameTo::Failure, _) => route.failed.count(now),
            _ => {}
        }
    }

    /// A call has ended; as a failure, if it has an error.
    pub(super) fn attempt(&self, breaker: &str, error: Option<String>) {
        let now = self.now();
        let mut seen = self.lock();
        let breaker = entry(&mut seen.breakers, breaker);
        breaker.calls.count(now);
        if let Some(what) = error {
            breaker.failed.count(now);
            breaker.last_error = Some(Failure {
                at_ms: unix_millis(),
                what,
            });
        }
    }

    /// A breaker's calls of the last minute, and its last error of all time.
    pub(crate) fn of_breaker(&self, breaker: &str) -> (Recent, Option<Failure>) {
        let now = self.now();
        let seen = self.lock();
        let Some(breaker) = seen.breakers.get(breaker) else {
            return (Recent::default(), None);
        };
        let recent = Recent {
            calls: breaker.calls.sum(now),
            failed: breaker.failed.sum(now),
        };
        (recent, breaker.last_error.clone())
    }

    /// A route's requests of the last minute.
    pub(crate) fn of_route(&self, route: &str) -> RouteRecent {
        let now = self.now();
        let seen = self.lock();
        seen.routes
            .get(route)
            .map(|route| RouteRecent {
                requests: route.requests.sum(now),
                failed: route.failed.sum(now),
                answered: route
                    .answered
                    .iter()
                    .map(|(target, answered)| (target.clone(), answered.sum(now)))
                    .collect(),
            })
            .unwrap_or_default()
    }

    /// The part of time that it is, counted from the start.
    fn now(&self) -> u64 {
        self.since.elapsed().as_secs() / SECONDS
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn entry<'a, T: Default>(map: &'a mut HashMap<String, T>, name: &str) -> &'a mut T {
    // Twice looked up, so that only a new name is copied.
    if !map.contains_key(name) {
        map.insert(name.to_owned(), T::default());
    }
    map.get_mut(name)
        .unwrap_or_else(|| unreachable!("it was just put in"))
}

/// A count over the last minute, to five seconds.
#[derive(Clone, Debug, Default)]
struct Minute {
    parts: [u64; PARTS],
    /// The part that was counted last.
    last: u64,
}

impl Minute {
    fn count(&mut self, now: u64) {
        for part in (self.last + 1..=now).take(PARTS) {
            self.parts[place(part)] = 0;
        }
        // Of two threads one may come late: it counts in the later part.
        self.last = self.last.max(now);
        self.parts[place(self.last)] += 1;
    }

    fn sum(&self, now: u64) -> u64 {
        let first = (now.max(self.last) + 1).saturating_sub(PARTS as u64);
        (first..=self.last)
            .map(|part| self.parts[place(part)])
            .sum()
    }
}

fn place(part: u64) -> usize {
    (part % PARTS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_forgets_what_is_older_however_long_nobody_counted() {
        let mut minute = Minute::default();
        minute.count(0);
        minute.count(3);
        minute.count(3);
        assert_eq!((minute.sum(3), minute.sum(11), minute.sum(12)), (3, 3, 2));
        assert_eq!(
            (minute.sum(14), minute.sum(15), minute.sum(1000)),
            (2, 0, 0)
        );
        minute.count(1000);
        assert_eq!(
            (minute.sum(1000), minute.sum(1011), minute.sum(1012)),
            (1, 1, 0)
        );
        minute.count(999);
        assert_eq!(minute.sum(1000), 2);
    }

    #[test]
    fn a_route_tells_who_answered_and_how_many_failed() {
        let traffic = Traffic::default();
        traffic.request("chat", Some("a/chat"), CameTo::Answer);
        traffic.request("chat", Some("b/chat"), CameTo::Answer);
        traffic.request("chat", Some("b/chat"), CameTo::Failure);
        traffic.request("chat", None, CameTo::Failure);
        traffic.request("chat", None, CameTo::Neither);
        let recent = traffic.of_route("chat");
        assert_eq!((recent.requests, recent.failed), (5, 2));
        assert_eq!(
            (recent.answered["a/chat"], recent.answered["b/chat"]),
            (1, 1)
        );
        assert_eq!(traffic.of_route("other"), RouteRecent::default());
    }
}
