//! The upstream: a queue before one server, whose capacity changes.

use cutout::Outcome;

/// Nanoseconds of a second.
pub const SECOND: u64 = 1_000_000_000;

/// How long an answer takes that says no, and a good one beside its time in the queue.
const ANSWER: u64 = SECOND / 1000;

/// What an upstream is like.
#[derive(Clone, Debug)]
pub struct Nature {
    /// Calls a second that it takes, as points in seconds with straight lines between them.
    pub capacity: Vec<(f64, f64)>,
    /// How many calls may wait. The others are refused at once.
    pub queue: f64,
    /// From when to when it is down, in seconds: all calls fail.
    pub down: Option<(f64, f64)>,
    /// The share of its capacity that it has just after its restart, and how many answers it takes to have all of it.
    pub cold: Option<(f64, f64)>,
    /// For how many keys of a hundred it is down, from when to when.
    pub dead: Option<(u64, f64, f64)>,
    /// After how many seconds a caller gives up. The server works on all the same.
    pub timeout: f64,
}

/// An upstream at work.
#[derive(Clone, Debug)]
pub struct Upstream {
    nature: Nature,
    /// When the server has done all that waits.
    free_at: f64,
    /// How many answers it has given since its restart.
    warmed: f64,
    restarted: bool,
}

impl Upstream {
    /// One that nobody has called yet, and warm.
    pub fn new(nature: Nature) -> Self {
        let warmed = nature.cold.map_or(0.0, |(_, answers)| answers);
        Self {
            nature,
            free_at: 0.0,
            warmed,
            restarted: false,
        }
    }

    /// How many calls a second it takes.
    pub fn capacity(&self, now: u64) -> f64 {
        let at = seconds(now);
        if self.is_down(at) {
            return 0.0;
        }
        let points = &self.nature.capacity;
        let after = points.partition_point(|(from, _)| *from <= at);
        let full = match (points.get(after.wrapping_sub(1)), points.get(after)) {
            (Some(&(from, low)), Some(&(to, high))) => {
                low + (high - low) * (at - from) / (to - from)
            }
            (Some(&(_, only)), None) | (None, Some(&(_, only))) => only,
            (None, None) => 0.0,
        };
        let warmed = if self.restarts(at) { 0.0 } else { self.warmed };
        let warmth = self.nature.cold.map_or(1.0, |(share, answers)| {
            share + (1.0 - share) * (warmed / answers).min(1.0)
        });
        full * warmth
    }

    /// Whether it has been down and nobody has called it since.
    fn restarts(&self, at: f64) -> bool {
        !self.restarted && self.nature.down.is_some_and(|(_, to)| at >= to)
    }

    fn is_down(&self, at: f64) -> bool {
        self.nature
            .down
            .is_some_and(|(from, to)| (from..to).contains(&at))
    }

    /// Whether a call with this key goes to what is down.
    pub fn is_dead_for(&self, key: u64, now: u64) -> bool {
        let at = seconds(now);
        let is_dead =
            |(percent, from, to): (u64, f64, f64)| (from..to).contains(&at) && key % 100 < percent;
        self.is_down(at) || self.nature.dead.is_some_and(is_dead)
    }

    /// Whether a call with this key would come to a good answer.
    pub fn is_well_for(&self, key: u64, now: u64) -> bool {
        let backlog = (self.free_at - seconds(now)).max(0.0);
        let capacity = self.capacity(now);
        !self.is_dead_for(key, now)
            && backlog * capacity < self.nature.queue
            && backlog + 1.0 / capacity < self.nature.timeout
    }

    /// Takes a call. Gives what the caller sees of it, and when.
    pub fn take(&mut self, key: u64, now: u64) -> (Outcome, u64) {
        let at = seconds(now);
        if self.restarts(at) {
            (self.free_at, self.warmed, self.restarted) = (at, 0.0, true);
        }
        let capacity = self.capacity(now);
        let backlog = (self.free_at - at).max(0.0);
        if self.is_dead_for(key, now) || backlog * capacity >= self.nature.queue {
            return (Outcome::Failure, now + ANSWER);
        }
        self.free_at = at + backlog + 1.0 / capacity;
        self.warmed += 1.0;
        let waits = self.free_at - at;
        if waits > self.nature.timeout {
            return (Outcome::Timeout, now + nanos(self.nature.timeout));
        }
        (Outcome::Success, now + nanos(waits) + ANSWER)
    }
}

/// A time in seconds.
pub fn seconds(nanos: u64) -> f64 {
    nanos as f64 / SECOND as f64
}

/// A time in nanoseconds.
pub fn nanos(seconds: f64) -> u64 {
    (seconds * SECOND as f64) as u64
}
