//! The queue as one unchanging value: a change makes the next one.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::config::{Policy, RouterConfig};
use super::error::RouterError;
use super::positions::Positions;
use super::sticky::Draw;
use super::target::{Member, Role, check_weight};
use super::turns::Turns;
use crate::contract::clock::{Clock, SystemClock};

/// A target and its place in a queue, as it was at one moment.
pub struct Place<T, C: Clock = SystemClock> {
    /// The target.
    pub member: Member<T, C>,
    /// Its weight.
    pub weight: u32,
    /// Its role.
    pub role: Role,
}

impl<T, C: Clock> Clone for Place<T, C> {
    fn clone(&self) -> Self {
        Self {
            member: self.member.clone(),
            ..*self
        }
    }
}

impl<T, C: Clock> fmt::Debug for Place<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place")
            .field("member", &self.member)
            .field("weight", &self.weight)
            .field("role", &self.role)
            .finish()
    }
}

pub(super) struct Queue<T, C: Clock> {
    pub(super) config: RouterConfig,
    pub(super) places: Vec<Place<T, C>>,
    /// By which keys find their target.
    pub(super) draws: Vec<Draw>,
    pub(super) all: Positions,
    pub(super) ordinary: Lane,
    pub(super) canary: Lane,
    pub(super) last_resort: Lane,
}

/// The targets of one role, and their turns.
pub(super) struct Lane {
    pub(super) members: Positions,
    pub(super) turns: Turns,
}

impl<T, C: Clock> Queue<T, C> {
    /// A queue in which every target's name and weight has been checked.
    pub(super) fn new(config: RouterConfig, places: Vec<Place<T, C>>) -> Result<Self, RouterError> {
        config.validate()?;
        if places.len() > Positions::MAX {
            return Err(RouterError::Full);
        }
        for (position, place) in places.iter().enumerate() {
            check_weight(place.weight)?;
            let name = &place.member.upstream().name;
            if places[..position]
                .iter()
                .any(|earlier| earlier.member.upstream().name == *name)
            {
                return Err(RouterError::DuplicateName(Arc::clone(name)));
            }
        }
        let all = Positions::below(places.len());
        let lane = |role| Lane {
            members: all.filter(|position| places[position].role == role),
            turns: Turns::new(places.iter().map(|place| match config.policy {
                Policy::Priority | Policy::RoundRobin => 1,
                _ => place.weight,
            })),
        };
        let queue = Self {
            ordinary: lane(Role::Ordinary),
            canary: lane(Role::Canary),
            last_resort: lane(Role::LastResort),
            draws: Draw::of_all(
                places
                    .iter()
                    .map(|place| (place.member.name(), place.weight)),
            ),
            all,
            config,
            places,
        };
        if queue.ordinary.members.is_empty() {
            return Err(RouterError::LastTarget);
        }
        Ok(queue)
    }

    pub(super) fn position(&self, name: &str) -> Result<usize, RouterError> {
        let is_named = |place: &Place<T, C>| &*place.member.upstream().name == name;
        self.places
            .iter()
            .position(is_named)
            .ok_or_else(|| RouterError::UnknownName(name.into()))
    }

    pub(super) fn check_position(&self, position: usize, last: usize) -> Result<(), RouterError> {
        if position <= last {
            return Ok(());
        }
        Err(RouterError::NoSuchPosition {
            position,
            len: self.places.len(),
        })
    }
}
