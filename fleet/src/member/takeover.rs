//! What others have found: when it is enough to open, and what a probe of one says to all.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cutout::{Counts, Label};

use super::local::{Claim, Local, Standing};
use super::peers::{News, Peers, Trip};
use super::{Breakers, Member, release};
use crate::statement::Phase;

impl Member {
    /// Opens what a quorum has tripped.
    pub(super) fn consider(&mut self, now: Duration, breakers: &mut impl Breakers) {
        for name in self.peers.questions() {
            let Some(local) = self.names.get_mut(&name) else {
                continue;
            };
            if local.is != Standing::Closed {
                continue;
            }
            let Some((counts, label)) = self.peers.verdict(&name, local, now, &self.settings)
            else {
                continue;
            };
            if let Some(left) = breakers.take_over(&name, counts, label) {
                local.is = Standing::Open {
                    from: now,
                    until: now.saturating_add(left),
                    free: false,
                };
                local.opened = now;
                local.trip = None;
                (local.attempt, local.own_attempt) = (0, 0);
                self.takeovers += 1;
                self.has_news = true;
            }
        }
    }

    /// Listens to what a probe of another member has shown.
    pub(super) fn heed(&mut self, news: &News, now: Duration, breakers: &mut impl Breakers) {
        let Some(local) = self.names.get_mut(&news.name) else {
            return;
        };
        if news.config != local.config {
            return;
        }
        if news.verdict.well && local.is == Standing::Closed {
            self.peers.answer(&news.name, local, news.at);
        }
        let Standing::Open { until, free, .. } = local.is else {
            return;
        };
        // What was found before this breaker opened does not speak of what has opened it.
        if news.at < local.opened {
            return;
        }
        if news.verdict.well {
            if !free && breakers.set_wait(&news.name, Duration::ZERO) {
                local.is = Standing::Open {
                    from: now,
                    until: now,
                    free: true,
                };
                release(&mut self.acts, &news.name, &mut local.claim);
            }
            return;
        }
        local.attempt = local.attempt.max(news.verdict.attempt.min(127));
        // No member makes another wait longer than this one would by itself.
        let longest = local.wait_after(local.attempt);
        let left = Duration::from_millis(news.verdict.left_ms).min(longest);
        // So that they do not all come back at once.
        let wait = left.saturating_sub(left.mul_f64(0.1 * self.random.f64()));
        let ends = now.saturating_add(wait);
        if (ends > until || free) && breakers.set_wait(&news.name, wait) {
            local.is = Standing::Open {
                from: now,
                until: ends,
                free: false,
            };
            release(&mut self.acts, &news.name, &mut local.claim);
            local.claim = Claim::None;
        }
    }
}

impl Peers {
    /// The names of which members have tripped.
    pub(super) fn questions(&self) -> Vec<Arc<str>> {
        let tripped = self.live.values().flat_map(|peer| &peer.names);
        let tripped = tripped.filter(|(_, known)| known.trip.is_some());
        let names: BTreeSet<_> = tripped.map(|(name, _)| Arc::clone(name)).collect();
        names.into_iter().collect()
    }

    /// Takes trips of others by then as answered.
    pub(super) fn answer(&self, name: &str, local: &mut Local, by: Duration) {
        local.answered_by = local.answered_by.max(Some(by));
        local
            .answered
            .retain(|member, _| self.live.contains_key(member));
        for (member, peer) in &self.live {
            let trip = peer.names.get(name).and_then(|known| known.trip.as_ref());
            if let Some(trip) = trip.filter(|trip| trip.at <= by) {
                let answered = (peer.said.incarnation, trip.number);
                local.answered.insert(Arc::clone(member), answered);
            }
        }
    }

    /// What a quorum has found, if one has.
    fn verdict(
        &self,
        name: &str,
        local: &Local,
        now: Duration,
        settings: &crate::settings::Settings,
    ) -> Option<(Counts, Option<Label>)> {
        let mut voices = Voices {
            members: 1,
            calls: vec![local.calls],
            ..Voices::default()
        };
        for (member, peer) in &self.live {
            let Some(known) = peer.names.get(name) else {
                // It has not said whether it uses the name; until it has it counts.
                voices.add(None, None);
                continue;
            };
            if known.is == Phase::Unused || known.config != local.config {
                continue;
            }
            let answered = local.answered.get(member).copied();
            let is_answered = |trip: &Trip| {
                local.answered_by.is_some_and(|by| trip.at <= by)
                    || answered.is_some_and(|it| it >= (peer.said.incarnation, trip.number))
            };
            let trip = known.trip.as_ref();
            let is_late = |trip: &Trip| now.saturating_sub(trip.at) > settings.lately;
            let trip = trip.filter(|trip| !is_answered(trip) && !is_late(trip));
            voices.add(known.calls, trip);
        }
        voices.are_enough(settings).then(|| voices.evidence())
    }
}

/// Those who use a name, and what they have found.
#[derive(Default)]
struct Voices<'a> {
    members: usize,
    calls: Vec<Option<f64>>,
    trips: Vec<&'a Trip>,
    tripped_calls: Vec<Option<f64>>,
}

impl<'a> Voices<'a> {
    fn add(&mut self, calls: Option<f64>, trip: Option<&'a Trip>) {
        self.members += 1;
        self.calls.push(calls);
        if let Some(trip) = trip {
            self.trips.push(trip);
            self.tripped_calls.push(calls);
        }
    }

    fn are_enough(&self, settings: &crate::settings::Settings) -> bool {
        if self.trips.len() < settings.quorum(self.members) {
            return false;
        }
        // Members that do not count their calls are taken to make as many as the others do on average.
        let known: Vec<f64> = self.calls.iter().copied().flatten().collect();
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let sum =
            |calls: &[Option<f64>]| calls.iter().map(|calls| calls.unwrap_or(mean)).sum::<f64>();
        let all = sum(&self.calls);
        // None is known, or there are none: then they say nothing.
        known.is_empty() || all <= 0.0 || sum(&self.tripped_calls) / all >= settings.quorum_calls
    }

    /// All that they have counted, and the last failure of the latest.
    fn evidence(&self) -> (Counts, Option<Label>) {
        let sum = |field: fn(&Counts) -> u32| {
            let each = self.trips.iter().map(|trip| field(&trip.counts));
            each.fold(0, u32::saturating_add)
        };
        let counts = Counts {
            samples: sum(|counts| counts.samples),
            failures: sum(|counts| counts.failures),
            timeouts: sum(|counts| counts.timeouts),
            slow: sum(|counts| counts.slow),
        };
        let latest = self.trips.iter().max_by_key(|trip| trip.at);
        (counts, latest.and_then(|trip| trip.label))
    }
}
