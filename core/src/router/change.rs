//! Changes of a queue in use, and what can be read of it.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Router;
use super::config::RouterConfig;
use super::error::RouterError;
use super::queue::{Place, Queue};
use super::target::{Member, Role, Target};
use crate::contract::clock::Clock;
use crate::engine::sync::Relaxed;

pub(super) fn place<T, C: Clock>(target: Target<T, C>, id: u64) -> Place<T, C> {
    Place {
        weight: target.weight,
        role: target.role,
        member: Member::new(target, id),
    }
}

/// Changes of the queue: each is one step for those who choose, who see the queue
/// before it or after it. Turns start anew with each change.
impl<T, C: Clock> Router<T, C> {
    /// The targets in the order of the queue.
    pub fn members(&self) -> Vec<Member<T, C>> {
        let queue = self.queue.load();
        queue
            .places
            .iter()
            .map(|place| place.member.clone())
            .collect()
    }

    /// The queue as it is: the targets in their order, with weights and roles.
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::router::Router;
    ///
    /// fn show<T>(router: &Router<T>) {
    ///     for place in router.places() {
    ///         let member = &place.member;
    ///         println!("{}: {}, {} in flight", member.name(), member.breaker().state(), member.in_flight());
    ///     }
    /// }
    /// ```
    pub fn places(&self) -> Vec<Place<T, C>> {
        self.queue.load().places.clone()
    }

    /// The config in force.
    pub fn config(&self) -> RouterConfig {
        self.queue.load().config
    }

    /// Replaces the config.
    ///
    /// # Errors
    ///
    /// [`RouterError::Config`] for an illegal config, which changes nothing.
    pub fn reconfigure(&self, config: RouterConfig) -> Result<(), RouterError> {
        self.change(|queue| Ok((Queue::new(config, queue.places.clone())?, ())))
    }

    /// Adds a target at the end of the queue.
    ///
    /// # Errors
    ///
    /// [`RouterError::DuplicateName`], [`RouterError::Full`], or
    /// [`RouterError::Config`] for an illegal weight.
    pub fn add(&self, target: Target<T, C>) -> Result<Member<T, C>, RouterError> {
        self.put(None, target)
    }

    /// Adds a target at a position; those from there on move back by one.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add), and [`RouterError::NoSuchPosition`].
    pub fn insert(
        &self,
        position: usize,
        target: Target<T, C>,
    ) -> Result<Member<T, C>, RouterError> {
        self.put(Some(position), target)
    }

    fn put(
        &self,
        position: Option<usize>,
        target: Target<T, C>,
    ) -> Result<Member<T, C>, RouterError> {
        let added = place(target, self.next_id.fetch_add(1, Relaxed));
        self.change(|queue| {
            let position = position.unwrap_or(queue.places.len());
            queue.check_position(position, queue.places.len())?;
            let mut places = queue.places.clone();
            places.insert(position, added.clone());
            Ok((Queue::new(queue.config, places)?, added.member.clone()))
        })
    }

    /// Removes a target. Its calls in flight go on, and settle as any other;
    /// the member that is returned tells [how many](Member::in_flight) are left.
    ///
    /// # Errors
    ///
    /// [`RouterError::UnknownName`], or [`RouterError::LastTarget`] when no
    /// ordinary target would be left.
    pub fn remove(&self, name: &str) -> Result<Member<T, C>, RouterError> {
        self.change(|queue| {
            let mut places = queue.places.clone();
            let removed = places.remove(queue.position(name)?);
            Ok((Queue::new(queue.config, places)?, removed.member))
        })
    }

    /// Moves a target to a position, counted without it.
    ///
    /// # Errors
    ///
    /// [`RouterError::UnknownName`] or [`RouterError::NoSuchPosition`].
    pub fn move_to(&self, name: &str, position: usize) -> Result<(), RouterError> {
        self.change(|queue| {
            let from = queue.position(name)?;
            queue.check_position(position, queue.places.len() - 1)?;
            let mut places = queue.places.clone();
            let moved = places.remove(from);
            places.insert(position, moved);
            Ok((Queue::new(queue.config, places)?, ()))
        })
    }

    /// Gives a target another weight, 1 to 10 000.
    ///
    /// # Errors
    ///
    /// [`RouterError::UnknownName`], or [`RouterError::Config`] for an illegal weight.
    pub fn set_weight(&self, name: &str, weight: u32) -> Result<(), RouterError> {
        self.change_place(name, |place| place.weight = weight)
    }

    /// Gives a target another role, say a canary that has proved itself.
    ///
    /// # Errors
    ///
    /// [`RouterError::UnknownName`], or [`RouterError::LastTarget`] when no
    /// ordinary target would be left.
    pub fn set_role(&self, name: &str, role: Role) -> Result<(), RouterError> {
        self.change_place(name, |place| place.role = role)
    }

    fn change_place(
        &self,
        name: &str,
        change: impl Fn(&mut Place<T, C>),
    ) -> Result<(), RouterError> {
        self.change(|queue| {
            let mut places = queue.places.clone();
            change(&mut places[queue.position(name)?]);
            Ok((Queue::new(queue.config, places)?, ()))
        })
    }

    /// Makes the next queue of the present one, again if another change came first.
    fn change<R>(
        &self,
        next: impl Fn(&Queue<T, C>) -> Result<(Queue<T, C>, R), RouterError>,
    ) -> Result<R, RouterError> {
        loop {
            let queue = self.queue.load();
            let (next, result) = next(&queue)?;
            let found = self.queue.compare_and_swap(&*queue, Arc::new(next));
            if Arc::ptr_eq(&found, &queue) {
                return Ok(result);
            }
        }
    }
}
