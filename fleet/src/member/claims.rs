//! The right to probe: one lease for each name, over all members.
//!
//! Who has it may have as many probes out as its breaker's config says, and nobody else has any: so there are never more
//! over all members than one of them may have.

use std::sync::Arc;
use std::time::Duration;

use super::local::{Claim, Local, Standing};
use super::{Act, Breakers, Lease, Member, release};

impl Member {
    /// When a claim has something to do next.
    pub(super) fn due(&self, local: &Local) -> Option<Duration> {
        match (local.is, &local.claim) {
            (Standing::Open { until, .. }, Claim::Held(_, held)) => {
                Some(until.saturating_add(self.settings.patience).min(*held))
            }
            _ => local.asks(self.settings.lead),
        }
    }

    /// Asks for leases whose time has come, and passes on those that nobody needs.
    pub(super) fn claim(&mut self, now: Duration, breakers: &mut impl Breakers) {
        let Self {
            settings,
            names,
            number,
            acts,
            ..
        } = self;
        for (name, local) in names {
            let asks = local.asks(settings.lead).is_some_and(|asks| now >= asks);
            if asks {
                *number += 1;
                local.claim = Claim::Asked(*number, now);
                acts.push_back(Act::Ask {
                    name: Arc::clone(name),
                    token: *number,
                });
                continue;
            }
            let (Standing::Open { until, .. }, Claim::Held(_, held)) = (local.is, &local.claim)
            else {
                continue;
            };
            // It has no call to probe with, or has not been able to renew: let others have it.
            let is_idle = now >= until.saturating_add(settings.patience);
            if (is_idle || now >= *held) && breakers.set_wait(name, settings.lease) {
                local.is = Standing::Open {
                    from: now,
                    until: now + settings.lease,
                    free: false,
                };
                release(acts, name, &mut local.claim);
            }
        }
    }

    /// The bus has answered to who asked with this token; none if it could not.
    pub(crate) fn answered(
        &mut self,
        name: &str,
        token: u64,
        lease: Option<Lease>,
        now: Duration,
        breakers: &mut impl Breakers,
    ) {
        let settings = self.settings;
        let give_back = Act::Release {
            name: name.into(),
            token,
        };
        let local = self.names.get_mut(name);
        let local = local.and_then(|local| match local.claim {
            Claim::Asked(asked, at) if asked == token => Some((local, at)),
            _ => None,
        });
        let Some((local, asked)) = local else {
            // What it was asked for is over.
            if lease == Some(Lease::Granted) {
                self.acts.push_back(give_back);
            }
            return;
        };
        local.claim = Claim::None;
        let Standing::Open { until, free, .. } = local.is else {
            // It has not waited for the answer, and probes already. The lease is right for that.
            match lease {
                Some(Lease::Granted) if local.is == Standing::Probing => {
                    local.claim = Claim::Held(token, holds(asked, settings.lease));
                }
                Some(Lease::Granted) => self.acts.push_back(give_back),
                _ => {}
            }
            return;
        };
        match lease {
            // Asked too early: what it waits for was moved meanwhile.
            Some(Lease::Granted) if free || until > now + settings.lead * 2 => {
                self.acts.push_back(give_back);
            }
            Some(Lease::Granted) => {
                local.claim = Claim::Held(token, holds(asked, settings.lease));
            }
            Some(Lease::Taken(left)) if !free => {
                // A little later than it ends, so that not all come at once; and no longer than a lease, whatever is said.
                let jitter = settings.lead.mul_f64(self.random.f64());
                let wait = left.min(settings.lease) + jitter;
                let ends = now + wait;
                if ends > until && breakers.set_wait(name, wait) {
                    local.is = Standing::Open {
                        from: now,
                        until: ends,
                        free: false,
                    };
                }
            }
            Some(Lease::Taken(_)) => {}
            None => {
                local.claim = Claim::Alone;
                // It may have been granted all the same.
                self.acts.push_back(give_back);
            }
        }
    }

    /// Renews the leases of those that probe.
    pub(super) fn renew(&mut self, now: Duration) {
        for (name, local) in &mut self.names {
            let Claim::Held(token, held) = local.claim else {
                continue;
            };
            if local.is == Standing::Probing && now < held {
                self.acts.push_back(Act::Renew {
                    name: Arc::clone(name),
                    token,
                });
            }
        }
    }

    /// A lease was renewed, by a request made then; or it was not, since it is another's by now.
    pub(crate) fn renewed(&mut self, name: &str, token: u64, asked: Duration, still: bool) {
        let Some(local) = self.names.get_mut(name) else {
            return;
        };
        match &mut local.claim {
            Claim::Held(held, until) if *held == token && still => {
                *until = holds(asked, self.settings.lease).max(*until);
            }
            Claim::Held(held, _) if *held == token => local.claim = Claim::Alone,
            _ => {}
        }
    }
}

/// Until when a lease is had for certain, though this member's clock may be slow.
fn holds(asked: Duration, lease: Duration) -> Duration {
    asked + lease.mul_f64(0.8)
}
