//! What is known of the other members: the newest that each has said, for as long as it lives.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cutout::{Counts, Label};

use crate::health::MemberHealth;
use crate::statement::{Entry, Ignored, Phase, SaidVerdict, Statement};

/// How many members are listened to.
const MAX_MEMBERS: usize = 1000;

/// The other members that live.
#[derive(Debug, Default)]
pub(super) struct Peers {
    pub(super) live: BTreeMap<Arc<str>, Peer>,
    /// Where those that have gone had come to, for a while: what they said before may still be under way.
    gone: BTreeMap<Arc<str>, (Said, Duration)>,
}

/// Which statement it was: of which start of the member, and which of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Said {
    pub(super) incarnation: u64,
    seq: u64,
}

#[derive(Debug)]
pub(super) struct Peer {
    pub(super) said: Said,
    pub(super) heard: Duration,
    pub(super) names: BTreeMap<Arc<str>, Known>,
    /// The number of its last verdict that was listened to.
    verdicts: u64,
}

/// What a member has said of a name.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) config: u64,
    pub(super) is: Phase,
    pub(super) calls: Option<f64>,
    pub(super) trip: Option<Trip>,
}

#[derive(Debug)]
pub(super) struct Trip {
    pub(super) number: u64,
    pub(super) at: Duration,
    pub(super) counts: Counts,
    pub(super) label: Option<Label>,
}

/// A verdict of which nothing had been heard.
#[derive(Debug)]
pub(super) struct News {
    pub(super) name: Arc<str>,
    pub(super) config: u64,
    pub(super) at: Duration,
    pub(super) verdict: SaidVerdict,
}

impl Peers {
    /// Takes in what a member says; gives the verdicts that are news.
    pub(super) fn hear(
        &mut self,
        statement: &Statement,
        now: Duration,
    ) -> Result<Vec<News>, Ignored> {
        let Statement {
            member,
            incarnation,
            seq,
            ..
        } = statement;
        let said = Said {
            incarnation: *incarnation,
            seq: *seq,
        };
        let last = self.live.get(member).map(|peer| peer.said);
        let last = last.or_else(|| self.gone.get(member).map(|(said, _)| *said));
        if last.is_some_and(|last| said <= last) {
            return Err(Ignored::Old);
        }
        if last.is_none() && self.live.len() >= MAX_MEMBERS {
            return Err(Ignored::Members);
        }
        self.gone.remove(member);
        let before = self.live.remove(member);
        let before = before.filter(|peer| peer.said.incarnation == *incarnation);
        let high = before.as_ref().map_or(0, |peer| peer.verdicts);
        let mut names = before.map(|peer| peer.names).unwrap_or_default();
        let mut peer = Peer {
            said,
            heard: now,
            names: BTreeMap::new(),
            verdicts: high,
        };
        let mut news = Vec::new();
        for entry in &statement.names {
            if let Some(verdict) = entry.verdict.as_ref().filter(|it| it.number > high) {
                peer.verdicts = peer.verdicts.max(verdict.number);
                news.push(News {
                    name: Arc::clone(&entry.name),
                    config: entry.config,
                    at: now.saturating_sub(Duration::from_millis(verdict.age_ms)),
                    verdict: verdict.clone(),
                });
            }
            let known = Known::of(entry, names.remove(&entry.name), now);
            peer.names.insert(Arc::clone(&entry.name), known);
        }
        self.live.insert(Arc::clone(member), peer);
        Ok(news)
    }

    pub(super) fn health(&self, now: Duration) -> Vec<MemberHealth> {
        let names = |peer: &Peer| {
            let names = peer.names.iter();
            names
                .map(|(name, it)| (Arc::clone(name), it.is, it.trip.is_some()))
                .collect()
        };
        let health = |(name, peer): (&Arc<str>, &Peer)| MemberHealth {
            name: Arc::clone(name),
            incarnation: peer.said.incarnation,
            heard: now.saturating_sub(peer.heard),
            names: names(peer),
        };
        self.live.iter().map(health).collect()
    }

    /// Forgets those that have said nothing for so long.
    pub(super) fn expire(&mut self, now: Duration, life: Duration) {
        let gone = &mut self.gone;
        self.live.retain(|member, peer| {
            let lives = now.saturating_sub(peer.heard) <= life;
            if !lives && gone.len() < MAX_MEMBERS {
                gone.insert(Arc::clone(member), (peer.said, now));
            }
            lives
        });
        gone.retain(|_, (_, since)| now.saturating_sub(*since) <= life * 10);
    }
}

impl Known {
    fn of(entry: &Entry, before: Option<Self>, now: Duration) -> Self {
        let before = before.and_then(|known| known.trip);
        let trip = entry.trip.as_ref().map(|said| {
            let at = now.saturating_sub(Duration::from_millis(said.age_ms));
            // The earliest that was heard of it: what comes late makes it no later.
            let before = before.filter(|trip| trip.number == said.number);
            Trip {
                number: said.number,
                at: before.map_or(at, |trip| trip.at.min(at)),
                counts: said.counts,
                label: said.label(),
            }
        });
        Self {
            config: entry.config,
            is: entry.is,
            calls: entry.calls,
            trip,
        }
    }
}
