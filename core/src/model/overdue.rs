//! Calls that count while they are still in flight.

use alloc::collections::BTreeMap;

use super::*;

/// Calls in flight of the present generation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct InFlight {
    /// When each started, by its permit's number.
    started: BTreeMap<u64, Duration>,
    /// The latest epoch seen: a clock that steps back does not bring back an earlier one.
    latest: u64,
    /// Permits before this one are not followed.
    from: u64,
}

/// An epoch is an eighth of the limit, and a microsecond at least. The calls of one are
/// overdue once eight whole ones have passed since.
fn epoch_width(limit: u64) -> u64 {
    limit.div_ceil(8).max(1000)
}

const OVERDUE: u64 = 9;

impl InFlight {
    /// Follows a call no more.
    pub(super) fn forget(&mut self, permit: &ModelPermit) {
        self.started.remove(&permit.number);
    }
}

impl Model {
    /// Counts the calls in flight that are overdue, if there is a window and it is to hold them.
    pub(super) fn count_overdue(&mut self, at: Duration) {
        let (Some(limit), Some(sample)) =
            (self.config.overdue_after(), self.config.overdue_sample())
        else {
            return;
        };
        if self.mode.window().is_none() {
            return;
        }
        let running = self.running(at);
        let width = epoch_width(limit);
        let present = self.in_flight.latest.max(saturating_nanos(running) / width);
        self.in_flight.latest = present;
        let is_overdue = |started: Duration| present - saturating_nanos(started) / width >= OVERDUE;
        let followed = self.in_flight.started.len();
        self.in_flight
            .started
            .retain(|_, &mut started| !is_overdue(started));
        let overdue = followed - self.in_flight.started.len();
        match self.config.window {
            Window::Time { .. } if overdue > 0 => {
                self.enter_window(sample, overdue as u32, sample.outcome.into(), at);
            }
            Window::Time { .. } => {}
            Window::Count(_) | Window::Cusum(_) => {
                let generation = self.generation;
                for _ in 0..overdue {
                    if self.generation == generation {
                        self.enter_window(sample, 1, sample.outcome.into(), at);
                    }
                }
            }
        }
    }

    /// Follows a call that starts. Says when that counts as.
    pub(super) fn start_following(&mut self, permit: u64, at: Duration) -> Duration {
        let Some(limit) = self.config.overdue_after() else {
            return at;
        };
        let epoch = self.in_flight.latest.saturating_mul(epoch_width(limit));
        let started = at.max(Duration::from_nanos(epoch));
        self.in_flight.started.insert(permit, started);
        started
    }

    /// Whether a call that returns has been counted as overdue.
    pub(super) fn was_overdue(&mut self, permit: &ModelPermit) -> bool {
        let followed = self.config.overdue.is_some() && permit.number >= self.in_flight.from;
        followed && self.in_flight.started.remove(&permit.number).is_none()
    }

    /// Another limit: calls in flight are not followed any more.
    pub(super) fn follow_anew(&mut self, at: Duration) {
        self.in_flight = InFlight {
            from: self.granted + 1,
            latest: self
                .config
                .overdue_after()
                .map_or(0, |limit| saturating_nanos(at) / epoch_width(limit)),
            ..InFlight::default()
        };
    }

    /// Another generation: permits of the last one are stale.
    pub(super) fn forget_in_flight(&mut self) {
        self.in_flight.started.clear();
    }
}
