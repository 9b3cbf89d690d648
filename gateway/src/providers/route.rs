//! One model that clients may ask for: its queue, and what goes with it.

use std::sync::Arc;

use cutout::Throttle;
use cutout::router::{
    Attempts, Choice, Policy, Role, Router, RouterConfig, RouterError, Target as Seat,
};

use super::answers::Answers;
use super::conversations::Conversations;
use super::{Provider, Upstream};
use crate::config;
use crate::dialect::{Dialect, Tried};

/// A provider, the model to ask it for, and the breaker in between.
#[derive(Debug)]
pub struct Target {
    /// The provider.
    pub provider: Arc<Provider>,
    /// The breaker.
    pub upstream: Arc<Upstream>,
    /// The throttle beside the breaker, if there is one.
    pub throttle: Option<Arc<Throttle>>,
    /// The model's name there.
    pub model: String,
    /// Whether it is asked for whatever model the client names; `model` is then the route's pattern.
    pub takes_any: bool,
}

impl Target {
    /// The name that it has in the queue.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider.settings.name, self.model)
    }

    /// The model to ask it for.
    pub(crate) fn model_for<'a>(&'a self, asked: &'a str) -> &'a str {
        if self.takes_any { asked } else { &self.model }
    }

    /// Whether no more requests may be in flight to it.
    fn is_full(&self) -> bool {
        self.provider.slots.available_permits() == 0
    }

    /// Whether a request would be taken right now: it has room, its key is good, and its breaker admits.
    pub(crate) fn is_ready(&self) -> bool {
        !self.is_full()
            && self.provider.suspended(&self.model).is_none()
            && self.upstream.breaker.is_available()
    }

    /// It, with what came of it.
    pub(crate) fn tried(&self, what: String) -> Tried {
        Tried {
            provider: self.provider.settings.name.clone(),
            model: self.model.clone(),
            what,
        }
    }
}

/// A route of the configuration in force.
#[derive(Debug)]
pub struct Route {
    /// What the configuration says of it.
    pub settings: config::Route,
    /// What its providers speak.
    pub dialect: Dialect,
    /// The queue, with the canary in it.
    pub queue: Router<Arc<Target>>,
    /// The older models, if any may stand in.
    pub degraded: Option<Router<Arc<Target>>>,
    /// Which conversation was served by whom.
    pub conversations: Arc<Conversations>,
    /// Good answers, kept if that is asked for.
    pub answers: Arc<Answers>,
}

impl Route {
    /// A route over these targets. What `before` knows of conversations and answers is kept.
    pub(super) fn new(
        settings: config::Route,
        queue: Vec<Target>,
        canary: Option<Target>,
        degraded: Vec<Target>,
        before: Option<&Self>,
    ) -> Result<Self, RouterError> {
        let share = settings.canary.as_ref().map_or(0.0, |canary| canary.share);
        let config = RouterConfig {
            policy: match settings.policy {
                config::Policy::Priority => Policy::Priority,
                config::Policy::Weighted => Policy::Weighted,
                config::Policy::RoundRobin => Policy::RoundRobin,
                config::Policy::LeastLoaded => Policy::LeastInFlight,
                config::Policy::Fastest => Policy::Fastest,
            },
            // At least one in 10,000: a share above zero is not silently none.
            canary_basis_points: (share * 10_000.0).round().max(1.0) as u32,
            ramp: settings.ramp.map(config::Span::get),
            ..RouterConfig::default()
        };
        let first = queue.first().map(|target| target.provider.settings.dialect);
        let canary = canary.map(|target| seat(target).role(Role::Canary));
        let weights = settings.queue.iter().map(|target| target.weight);
        let seats = queue.into_iter().zip(weights);
        let seats = seats.map(|(target, weight)| seat(target).weight(weight));
        let queue = Router::new(config, seats.chain(canary))?;
        let degraded = if degraded.is_empty() {
            None
        } else {
            Some(Router::new(
                RouterConfig::default(),
                degraded.into_iter().map(seat),
            )?)
        };
        let answers = match before {
            Some(before) if before.answers.limit() == settings.degraded.cached_answers => {
                Arc::clone(&before.answers)
            }
            _ => Arc::new(Answers::new(settings.degraded.cached_answers)),
        };
        Ok(Self {
            conversations: before
                .map(|before| Arc::clone(&before.conversations))
                .unwrap_or_default(),
            dialect: first.unwrap_or_default(),
            settings,
            queue,
            degraded,
            answers,
        })
    }
}

fn seat(target: Target) -> Seat<Arc<Target>> {
    let (name, breaker) = (target.name(), Arc::clone(&target.upstream.breaker));
    let throttle = target.throttle.clone();
    Seat::new(name, Arc::new(target), breaker).throttle(throttle)
}

/// Chooses the next target that has a slot and whose breaker, and throttle if it has one, admit the call, of those that `wanted` accepts. Notes
/// in `tried` who was passed over and why.
pub(crate) fn choose(
    router: &Router<Arc<Target>>,
    attempts: &mut Attempts,
    tried: &mut Vec<Tried>,
    wanted: impl Fn(&Target) -> bool,
) -> Option<Choice<Arc<Target>>> {
    // Each is noted once per request: a later choice asks it again.
    let mut note = |target: &Target, why: String| {
        let known = |tried: &Tried| {
            tried.provider == target.provider.settings.name && tried.model == target.model
        };
        if !tried.iter().any(known) {
            tried.push(target.tried(why));
        }
    };
    let members = router.members();
    for target in members.iter().map(|member| member.payload()) {
        if wanted(target)
            && let Some(suspension) = target.provider.suspended(&target.model)
        {
            note(target, suspension.to_string());
        }
    }
    let eligible = |target: &Arc<Target>| {
        wanted(target) && !target.is_full() && target.provider.suspended(&target.model).is_none()
    };
    let chosen = router.choose_watched(attempts, eligible, |member, rejected| {
        note(member.payload(), rejected.to_string());
    });
    chosen.ok()
}
