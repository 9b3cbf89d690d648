//! The queue as one unchanging value: a change makes the next one.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::config::{Policy, RouterConfig};
use super::error::RouterError;
use super::positions::Positions;
use super::sticky::Draw;
use super::target::{Member, Role, check_weight};
use super::turns::Turns;
use crate::clock::Clock;

/// A target's place in the queue.
pub(super) struct Seat<T, C: Clock> {
    pub(super) member: Member<T, C>,
    pub(super) weight: u32,
    pub(super) role: Role,
}

impl<T, C: Clock> Clone for Seat<T, C> {
    fn clone(&self) -> Self {
        Self {
            member: self.member.clone(),
            ..*self
        }
    }
}

pub(super) struct Queue<T, C: Clock> {
    pub(super) config: RouterConfig,
    pub(super) seats: Vec<Seat<T, C>>,
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
    pub(super) fn new(config: RouterConfig, seats: Vec<Seat<T, C>>) -> Result<Self, RouterError> {
        config.validate()?;
        if seats.len() > Positions::MAX {
            return Err(RouterError::Full);
        }
        for (position, seat) in seats.iter().enumerate() {
            check_weight(seat.weight)?;
            let name = &seat.member.upstream().name;
            if seats[..position]
                .iter()
                .any(|earlier| earlier.member.upstream().name == *name)
            {
                return Err(RouterError::DuplicateName(Arc::clone(name)));
            }
        }
        let all = Positions::below(seats.len());
        let lane = |role| Lane {
            members: all.filter(|position| seats[position].role == role),
            turns: Turns::new(seats.iter().map(|seat| match config.policy {
                Policy::Priority | Policy::RoundRobin => 1,
                _ => seat.weight,
            })),
        };
        let queue = Self {
            ordinary: lane(Role::Ordinary),
            canary: lane(Role::Canary),
            last_resort: lane(Role::LastResort),
            draws: seats
                .iter()
                .map(|seat| Draw::new(seat.member.name(), seat.weight))
                .collect(),
            all,
            config,
            seats,
        };
        if queue.ordinary.members.is_empty() {
            return Err(RouterError::LastTarget);
        }
        Ok(queue)
    }

    pub(super) fn position(&self, name: &str) -> Result<usize, RouterError> {
        let is_named = |seat: &Seat<T, C>| &*seat.member.upstream().name == name;
        self.seats
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
            len: self.seats.len(),
        })
    }
}
