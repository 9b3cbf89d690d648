//! The contract of a fleet, as a sequential program: what one member makes of what its own breakers do, what others say, and
//! the time that passes.
//!
//! [`Member`] knows no network, no thread and no clock: it is told the time since it started, tells its breakers at once
//! ([`Breakers`]), and leaves what is for the bus in a queue ([`Act`]). The agent runs it; so does the simulation in the tests.

mod claims;
mod local;
mod obey;
mod orders;
mod peers;
mod takeover;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use cutout::{Cause, Config, Counts, Label, State};

use crate::health::Health;
use crate::settings::Settings;
use crate::statement::{Action, Entry, Ignored, MAX_NAMES, Order, Phase, Statement, digest};
use local::{Claim, Local, OwnTrip, OwnVerdict, Standing};
use orders::Orders;
use peers::Peers;

/// The breakers of a member.
pub(crate) trait Breakers {
    /// Opens a closed one; gives how long it waits.
    fn take_over(&mut self, name: &str, counts: Counts, label: Option<Label>) -> Option<Duration>;
    /// Sets an open one's wait. False if it is not open.
    fn set_wait(&mut self, name: &str, wait: Duration) -> bool;
    /// Carries out an order.
    fn order(&mut self, name: &str, what: Action, left: Option<Duration>, reason: &str);
}

/// What a member has for the bus.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Act {
    Tell(Statement),
    /// To be answered by [`Member::answered`].
    Ask {
        name: Arc<str>,
        token: u64,
    },
    /// To be answered by [`Member::renewed`].
    Renew {
        name: Arc<str>,
        token: u64,
    },
    Release {
        name: Arc<str>,
        token: u64,
    },
    /// To be kept for those who join later.
    Keep(Order),
    /// Orders to be read: there are some that this member does not know.
    Recall,
}

/// The answer to who asks for the right to probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lease {
    /// The asker has it.
    Granted,
    /// Another has it, for so long unless it is renewed.
    Taken(Duration),
}

/// What a breaker has done.
#[derive(Clone, Debug)]
pub(crate) struct Transition {
    pub(crate) from: State,
    pub(crate) to: State,
    pub(crate) cause: Cause,
    pub(crate) counts: Counts,
    pub(crate) label: Option<Label>,
    /// How long it waits, if it does.
    pub(crate) left: Duration,
}

/// One member of a fleet.
#[derive(Debug)]
pub(crate) struct Member {
    settings: Settings,
    name: Arc<str>,
    incarnation: u64,
    seq: u64,
    /// The last number of a trip, a verdict or a token.
    number: u64,
    names: BTreeMap<Arc<str>, Local>,
    peers: Peers,
    orders: Orders,
    random: fastrand::Rng,
    next_beat: Duration,
    last_told: Option<Duration>,
    has_news: bool,
    acts: VecDeque<Act>,
    takeovers: u64,
    /// When a statement of another member was last listened to.
    last_heard: Option<Duration>,
}

/// Statements are at least so long apart.
const PACE: Duration = Duration::from_millis(5);

impl Member {
    /// A member's time when it starts: late enough that what others have seen before has a time too.
    pub(crate) const START: Duration = Duration::from_secs(1 << 32);

    pub(crate) fn new(settings: Settings, name: Arc<str>, incarnation: u64, seed: u64) -> Self {
        Self {
            settings,
            name,
            incarnation,
            seq: 0,
            number: 0,
            names: BTreeMap::new(),
            peers: Peers::default(),
            orders: Orders::default(),
            random: fastrand::Rng::with_seed(seed),
            next_beat: Duration::ZERO,
            last_told: None,
            has_news: false,
            acts: VecDeque::new(),
            takeovers: 0,
            last_heard: None,
        }
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(crate) const fn incarnation(&self) -> u64 {
        self.incarnation
    }

    /// The names of which other members have tripped.
    pub(crate) fn questions(&self) -> Vec<Arc<str>> {
        self.peers.questions()
    }

    /// Gives back all that it has.
    pub(crate) fn end(&mut self) {
        self.acts.clear();
        for (name, local) in &mut self.names {
            release(&mut self.acts, name, &mut local.claim);
        }
    }

    /// How the fleet is, by what this member knows.
    pub(crate) fn health(&self, now: Duration) -> Health {
        let probes = self
            .names
            .iter()
            .filter(|(_, local)| matches!(local.claim, Claim::Held(..)));
        Health {
            member: Arc::clone(&self.name),
            members: self.peers.health(now),
            orders: self.orders.health(now),
            last_heard: self.last_heard.map(|heard| now.saturating_sub(heard)),
            takeovers: self.takeovers,
            probes: probes.map(|(name, _)| Arc::clone(name)).collect(),
            ..Health::default()
        }
    }

    /// A breaker of this name is there from now on, closed.
    pub(crate) fn join(
        &mut self,
        name: &Arc<str>,
        config: &Config,
        now: Duration,
        breakers: &mut impl Breakers,
    ) {
        let local = Local::new(*config);
        self.names.entry(Arc::clone(name)).or_insert(local);
        self.carry_out(now, breakers);
    }

    /// The breaker of this name is gone.
    pub(crate) fn leave(&mut self, name: &str) {
        if let Some(mut local) = self.names.remove(name) {
            release(&mut self.acts, name, &mut local.claim);
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// What a breaker goes by now, and how many requests a second come to it.
    pub(crate) fn refresh(&mut self, name: &str, config: &Config, calls: Option<f64>) {
        if let Some(local) = self.names.get_mut(name) {
            if local.goes_by != *config {
                (local.config, local.goes_by) = (digest(config), *config);
            }
            local.calls = calls;
        }
    }

    /// A breaker of this member has made a transition.
    pub(crate) fn observe(
        &mut self,
        name: &str,
        seen: &Transition,
        now: Duration,
        breakers: &mut impl Breakers,
    ) {
        let number = self.number + 1;
        let Some(local) = self.names.get_mut(name) else {
            return;
        };
        let open = |left: Duration| Standing::Open {
            from: now,
            until: now.saturating_add(left),
            free: false,
        };
        match (seen.from, seen.to, seen.cause) {
            // This member's own doing, which it knows of.
            (_, _, Cause::Peers) => return,
            (State::HalfOpen, State::Open, _) => {
                release(&mut self.acts, name, &mut local.claim);
                local.own_attempt = local.own_attempt.saturating_add(1);
                local.attempt = local.attempt.saturating_add(1).max(local.own_attempt);
                let mut left = seen.left;
                // Others have found it ill meanwhile, and their probes count too.
                if local.attempt > local.own_attempt {
                    let longer = local.wait_after(local.attempt);
                    if longer > left && breakers.set_wait(name, longer) {
                        left = longer;
                    }
                }
                local.is = open(left);
                if seen.cause != Cause::ProbesInconclusive {
                    self.number = number;
                    local.verdict = Some(OwnVerdict {
                        number,
                        at: now,
                        well: false,
                    });
                }
            }
            (_, State::Open, cause) => {
                local.is = open(seen.left);
                local.opened = now;
                release(&mut self.acts, name, &mut local.claim);
                if cause != Cause::Operator {
                    (local.attempt, local.own_attempt) = (0, 0);
                    self.number = number;
                    local.trip = Some(OwnTrip {
                        number,
                        at: now,
                        counts: seen.counts,
                        label: local::label(seen.label.as_ref()),
                    });
                }
            }
            (_, State::HalfOpen, _) => local.is = Standing::Probing,
            (_, State::Closed, cause) => {
                local.is = Standing::Closed;
                local.trip = None;
                (local.attempt, local.own_attempt) = (0, 0);
                release(&mut self.acts, name, &mut local.claim);
                if cause == Cause::ProbesPassed {
                    self.number = number;
                    local.verdict = Some(OwnVerdict {
                        number,
                        at: now,
                        well: true,
                    });
                }
                // Whatever others had tripped by until now was an answer to the same state of things.
                self.peers.answer(name, local, now);
            }
            (_, State::ForcedOpen | State::Disabled | State::ObserveOnly, _) => {
                local.is = Standing::Operated;
                local.trip = None;
                release(&mut self.acts, name, &mut local.claim);
            }
        }
        self.has_news = true;
    }

    /// A member has said something; says whether that is another one.
    pub(crate) fn hear(
        &mut self,
        bytes: &[u8],
        now: Duration,
        breakers: &mut impl Breakers,
    ) -> Result<bool, Ignored> {
        let statement = Statement::read(bytes)?;
        if statement.member == self.name {
            return match statement.incarnation == self.incarnation {
                true => Ok(false),
                // One that is over has no more to say; one that is not is a second process of this name.
                false if statement.incarnation < self.incarnation => Err(Ignored::Old),
                false => Err(Ignored::Twin),
            };
        }
        let news = self.peers.hear(&statement, now)?;
        self.last_heard = Some(now);
        for news in news {
            self.heed(&news, now, breakers);
        }
        if let Some(order) = statement.order {
            self.learn(order, now, breakers);
        }
        self.consider(now, breakers);
        Ok(true)
    }

    /// Time has passed: whatever is due by now.
    pub(crate) fn tick(&mut self, now: Duration, breakers: &mut impl Breakers) {
        self.peers.expire(now, self.settings.life());
        self.consider(now, breakers);
        self.claim(now, breakers);
        let is_beat = now >= self.next_beat;
        if is_beat {
            self.next_beat = now + self.settings.heartbeat;
            self.renew(now);
            self.carry_out(now, breakers);
        }
        let paced = self.last_told.is_none_or(|last| now >= last + PACE);
        if is_beat || self.has_news && paced {
            self.has_news = false;
            self.last_told = Some(now);
            let statement = self.statement(now);
            self.acts.push_back(Act::Tell(statement));
        }
    }

    /// When [`tick`](Self::tick) has something to do next.
    pub(crate) fn next(&self) -> Duration {
        let claims = self.names.values().filter_map(|local| self.due(local));
        let news = self
            .has_news
            .then(|| self.last_told.map_or(Duration::ZERO, |last| last + PACE));
        claims.chain(news).fold(self.next_beat, Duration::min)
    }

    /// The next thing for the bus.
    pub(crate) fn act(&mut self) -> Option<Act> {
        self.acts.pop_front()
    }

    /// All that this member has to say.
    fn statement(&mut self, now: Duration) -> Statement {
        self.seq += 1;
        let lately = self.settings.lately;
        let mut statement = Statement::new(Arc::clone(&self.name), self.incarnation, self.seq);
        let mut names: Vec<_> = self
            .names
            .iter()
            .filter(|(_, local)| local.is_news(now, lately))
            .map(|(name, local)| local.entry(name, now, lately))
            .collect();
        // The youngest first, should there be too many.
        names.sort_by_key(|entry| {
            let trip = entry.trip.as_ref().map(|trip| trip.age_ms);
            let verdict = entry.verdict.as_ref().map(|verdict| verdict.age_ms);
            trip.into_iter().chain(verdict).min().unwrap_or(u64::MAX)
        });
        // Who uses a name of which others have tripped, and how much, decides what a quorum is.
        for name in self.peers.questions() {
            match self.names.get(&name) {
                Some(local) if local.is_news(now, lately) => {}
                Some(local) => names.push(local.entry(&name, now, lately)),
                None => names.push(Entry {
                    name,
                    config: 0,
                    is: Phase::Unused,
                    calls: None,
                    trip: None,
                    verdict: None,
                }),
            }
        }
        names.truncate(MAX_NAMES);
        statement.names = names;
        statement.order = self.orders.newest(now);
        statement
    }
}

fn release(acts: &mut VecDeque<Act>, name: &str, claim: &mut Claim) {
    if let Claim::Held(token, _) = std::mem::replace(claim, Claim::None) {
        acts.push_back(Act::Release {
            name: name.into(),
            token,
        });
    }
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
