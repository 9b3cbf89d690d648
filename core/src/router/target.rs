//! The targets of a queue: as they are given, and as they live in it.

use alloc::format;
use alloc::sync::Arc;
use core::fmt;

use super::pace::Pace;
use super::ramp::Ramp;
use crate::breaker::Breaker;
use crate::breaker::gate::{AnyPermit, Gate};
use crate::breaker::rejected::Rejected;
use crate::breaker::token::Token;
use crate::contract::clock::{Clock, SystemClock};
use crate::contract::error::ConfigError;
use crate::throttle::Throttle;
use crate::throttle::permit::OwnedThrottlePermit;

/// What part a target takes in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// It takes calls as the policy says.
    #[default]
    Ordinary,
    /// It takes a share of the calls,
    /// [`canary_basis_points`](super::RouterConfig::canary_basis_points), and no more.
    Canary,
    /// It is called when every other target rejects or has been tried, and then
    /// even when its own breaker rejects.
    LastResort,
}

/// A target to be put in a queue: something to call, and the breaker that guards it.
///
/// The payload is whatever the caller needs to make the call: an address, a
/// client, a model's name. Several routers may share a breaker.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use cutout::{Breaker, Config};
/// use cutout::router::{Role, Target};
///
/// let breaker = Arc::new(Breaker::new(Config::default())?);
/// let target = Target::new("eu-1", "10.0.0.7:443", breaker).weight(3);
/// assert_eq!(target.role, Role::Ordinary);
/// # Ok::<(), cutout::ConfigError>(())
/// ```
pub struct Target<T, C: Clock = SystemClock> {
    /// The name, unlike that of any other target in the queue.
    pub name: Arc<str>,
    /// What the caller needs to make the call.
    pub payload: T,
    /// The breaker that admits the calls.
    pub breaker: Arc<Breaker<C>>,
    /// The throttle beside it, which may refuse a share of what the breaker admits; none by default. A call that it refuses goes
    /// on to the next target. For a throttle alone, let the breaker be [disabled](Breaker::disable).
    pub throttle: Option<Arc<Throttle<C>>>,
    /// The share for policies that look at weights, 1 to 10 000; 1 by default.
    pub weight: u32,
    /// The part it takes; ordinary by default.
    pub role: Role,
}

impl<T, C: Clock> Target<T, C> {
    /// An ordinary target of weight 1.
    pub fn new(name: impl Into<Arc<str>>, payload: T, breaker: Arc<Breaker<C>>) -> Self {
        Self {
            name: name.into(),
            payload,
            breaker,
            throttle: None,
            weight: 1,
            role: Role::Ordinary,
        }
    }

    /// Sets a throttle beside the breaker, or none.
    #[must_use]
    pub fn throttle(mut self, throttle: impl Into<Option<Arc<Throttle<C>>>>) -> Self {
        self.throttle = throttle.into();
        self
    }

    /// Sets the weight, 1 to 10 000.
    #[must_use]
    pub fn weight(mut self, weight: u32) -> Self {
        self.weight = weight;
        self
    }

    /// Sets the role.
    #[must_use]
    pub fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }
}

impl<T: fmt::Debug, C: Clock> fmt::Debug for Target<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("name", &self.name)
            .field("payload", &self.payload)
            .field("breaker", &self.breaker)
            .field("throttle", &self.throttle)
            .field("weight", &self.weight)
            .field("role", &self.role)
            .finish()
    }
}

pub(super) fn check_weight(weight: u32) -> Result<(), ConfigError> {
    if (1..=10_000).contains(&weight) {
        return Ok(());
    }
    Err(ConfigError {
        field: "weight",
        value: format!("{weight}"),
        legal: "1 to 10000",
    })
}

/// A target that is, or was, in a queue. Clones are the same target.
///
/// It outlives its removal for as long as somebody holds it.
pub struct Member<T, C: Clock = SystemClock>(Arc<Entry<T, C>>);

/// What choosing needs of a target.
pub(super) struct Entry<T, C: Clock> {
    /// Never used twice in one router.
    pub(super) id: u64,
    pub(super) ramp: Ramp,
    /// One reference is held here, and one by each call in flight: which is how
    /// they are counted.
    pub(super) upstream: Arc<Upstream<T, C>>,
}

/// What a call needs of its target.
pub(super) struct Upstream<T, C: Clock> {
    pub(super) name: Arc<str>,
    pub(super) payload: T,
    pub(super) breaker: Arc<Breaker<C>>,
    pub(super) throttle: Option<Arc<Throttle<C>>>,
    pub(super) pace: Pace,
}

/// What a target grants: its breaker's permit, and that of the throttle beside it.
pub(super) type Granted<C> = (Token, Option<OwnedThrottlePermit<C>>);

impl<T, C: Clock> Upstream<T, C> {
    #[inline]
    pub(super) fn admit(&self) -> Result<Granted<C>, Rejected> {
        match &self.throttle {
            None => Ok((Breaker::admit(&self.breaker)?, None)),
            Some(throttle) => self.admit_by_both(throttle),
        }
    }

    /// In the order of a [pair](Gate#pairs).
    #[inline(never)]
    fn admit_by_both(&self, throttle: &Arc<Throttle<C>>) -> Result<Granted<C>, Rejected> {
        let breaker = &self.breaker;
        if let Some(refused) = Gate::refusal(breaker) {
            return Err(breaker.reject(refused));
        }
        let permit = throttle.allow_owned()?;
        match Breaker::admit(breaker) {
            Ok(token) => Ok((token, Some(permit))),
            Err(rejected) => {
                permit.withdraw();
                Err(rejected)
            }
        }
    }

    /// How long a further call would likely take, in units of its own; `others` are in flight.
    #[inline]
    pub(super) fn likely(&self, others: u64) -> u64 {
        match self.pace.at(self.breaker.now()) {
            0 if others == 0 => 0,
            // Nobody knows: who is known comes first.
            0 => u64::MAX / 2 + others,
            pace => pace.saturating_mul(others + 1),
        }
    }
}

impl<T, C: Clock> Member<T, C> {
    pub(super) fn new(target: Target<T, C>, id: u64) -> Self {
        Self(Arc::new(Entry {
            id,
            ramp: Ramp::new(),
            upstream: Arc::new(Upstream {
                name: target.name,
                payload: target.payload,
                breaker: target.breaker,
                throttle: target.throttle,
                pace: Pace::new(),
            }),
        }))
    }

    pub(super) fn entry(&self) -> &Entry<T, C> {
        &self.0
    }

    pub(super) fn upstream(&self) -> &Arc<Upstream<T, C>> {
        &self.0.upstream
    }

    /// The target's name.
    pub fn name(&self) -> &str {
        &self.0.upstream.name
    }

    /// What the target was given to make calls with.
    pub fn payload(&self) -> &T {
        &self.0.upstream.payload
    }

    /// The target's breaker.
    pub fn breaker(&self) -> &Arc<Breaker<C>> {
        &self.0.upstream.breaker
    }

    /// The throttle beside the breaker, if there is one.
    pub fn throttle(&self) -> Option<&Arc<Throttle<C>>> {
        self.0.upstream.throttle.as_ref()
    }

    /// How many calls that the router has sent here are in flight.
    pub fn in_flight(&self) -> usize {
        Arc::strong_count(&self.0.upstream) - 1
    }
}

impl<T, C: Clock> Clone for Member<T, C> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T, C: Clock> fmt::Debug for Member<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member")
            .field("name", &self.name())
            .field("breaker", &self.breaker())
            .field("in_flight", &self.in_flight())
            .finish_non_exhaustive()
    }
}
