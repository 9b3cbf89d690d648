//! Who keeps the breakers, and lets go of them.
//!
//! The map leads to breakers by weak references; the strong ones are here, one for
//! each, under a lock that no lookup takes. Evicting is `Arc::try_unwrap`: it takes the
//! last reference in one step, or fails. From then on a lookup finds the way to
//! the breaker dead and comes to the lock. So nobody can hold a
//! breaker, or a permit of it, that the registry has let go of.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::{BuildHasher, Hash};

use super::config::RegistryConfig;
use super::entry::{Entry, Slot};
use crate::breaker::Breaker;
use crate::contract::clock::{Clock, saturating_nanos};
use crate::contract::state::State;
use crate::throttle::Throttle;

pub(super) type Map<K, C, S> = papaya::HashMap<K, Entry<C>, S>;

/// Keys with their breakers, and where the throttles beside them are.
pub(super) type Gates<K, C> = Vec<(K, Arc<Breaker<C>>, Slot<C>)>;

/// All breakers, in a ring that a hand goes around.
pub(super) struct Keepers<K, C> {
    ring: Vec<Keeper<K, C>>,
    hand: usize,
}

struct Keeper<K, C> {
    key: K,
    breaker: Arc<Breaker<C>>,
    throttle: Slot<C>,
    /// Since when it has been seen to be idle, by the registry's clock. `None` while
    /// somebody holds it: when that ends is not told.
    idle_since: Option<u64>,
}

impl<K, C> Keeper<K, C> {
    /// Whether somebody holds the breaker, or the throttle beside it.
    fn is_held(&self) -> bool {
        Arc::strong_count(&self.breaker) > 1 || is_held(&self.throttle)
    }
}

/// Whether somebody holds the throttle.
fn is_held<C>(throttle: &Slot<C>) -> bool {
    // One reference is the slot's, one that which looks.
    let throttle = throttle.load_full();
    throttle.is_some_and(|throttle| Arc::strong_count(&throttle) > 2)
}

/// A breaker that is let go of, and the throttle beside it.
pub(super) type Evicted<C> = (Breaker<C>, Option<Arc<Throttle<C>>>);

/// What must hold for a breaker to be evicted.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    now: u64,
    idle: Option<u64>,
    forget: Option<u64>,
}

impl Rule {
    /// Unused for as long as the config says.
    pub(super) fn idle(config: &RegistryConfig, now: u64) -> Self {
        Self {
            now,
            idle: config.idle.map(saturating_nanos),
            forget: config.forget.map(saturating_nanos),
        }
    }

    /// Not used since the hand came by last, for one that is closed; and for one whose wait is over,
    /// unless it is to be kept for ever.
    pub(super) fn unused(self) -> Self {
        Self {
            idle: Some(0),
            forget: self.forget.map(|_| 0),
            ..self
        }
    }

    fn lets_go<C: Clock>(self, breaker: &Breaker<C>, idle_since: u64) -> bool {
        let needed = match breaker.state() {
            State::Closed => self.idle,
            State::HalfOpen => self.forget,
            // Open, or what an operator has ordered.
            _ => None,
        };
        needed.is_some_and(|needed| self.now.saturating_sub(idle_since) >= needed)
    }
}

impl<K, C> Keepers<K, C>
where
    K: Hash + Eq + Clone,
    C: Clock,
{
    pub(super) const fn new() -> Self {
        Self {
            ring: Vec::new(),
            hand: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ring.len()
    }

    /// Keeps a breaker, and makes the way to it.
    pub(super) fn keep<S: BuildHasher>(
        &mut self,
        map: &Map<K, C, S>,
        key: K,
        breaker: Arc<Breaker<C>>,
        throttle: Slot<C>,
    ) {
        map.pin()
            .insert(key.clone(), Entry::new(&breaker, &throttle));
        self.ring.push(Keeper {
            key,
            breaker,
            throttle,
            idle_since: None,
        });
    }

    /// All keys and breakers.
    pub(super) fn all(&self) -> Vec<(K, Arc<Breaker<C>>)> {
        let entry = |keeper: &Keeper<K, C>| (keeper.key.clone(), Arc::clone(&keeper.breaker));
        self.ring.iter().map(entry).collect()
    }

    /// All keys and breakers, and where the throttles beside them are.
    pub(super) fn all_gates(&self) -> Gates<K, C> {
        let entry = |keeper: &Keeper<K, C>| {
            let (breaker, throttle) = (&keeper.breaker, &keeper.throttle);
            (
                keeper.key.clone(),
                Arc::clone(breaker),
                Arc::clone(throttle),
            )
        };
        self.ring.iter().map(entry).collect()
    }

    /// Moves the hand on by so many breakers and evicts those that the rule lets go of,
    /// at most `most`. They are returned, to be dropped without the lock.
    pub(super) fn move_hand<S: BuildHasher>(
        &mut self,
        map: &Map<K, C, S>,
        looks: usize,
        most: usize,
        rule: Rule,
    ) -> Vec<Evicted<C>> {
        let mut evicted = Vec::new();
        for _ in 0..looks.min(self.ring.len()) {
            if evicted.len() == most {
                break;
            }
            if self.hand >= self.ring.len() {
                self.hand = 0;
            }
            match self.look_at(self.hand, map, rule) {
                Some(one) => evicted.push(one),
                None => self.hand += 1,
            }
        }
        evicted
    }

    /// As [`move_hand`](Self::move_hand), from another position on, at most to the end.
    pub(super) fn look_from<S: BuildHasher>(
        &mut self,
        position: &mut usize,
        map: &Map<K, C, S>,
        looks: usize,
        rule: Rule,
    ) -> Vec<Evicted<C>> {
        let mut evicted = Vec::new();
        for _ in 0..looks {
            if *position >= self.ring.len() {
                break;
            }
            match self.look_at(*position, map, rule) {
                Some(one) => evicted.push(one),
                None => *position += 1,
            }
        }
        evicted
    }

    /// Evicts the breaker at a position if the rule lets it go. The last of the
    /// ring then takes its place.
    fn look_at<S: BuildHasher>(
        &mut self,
        position: usize,
        map: &Map<K, C, S>,
        rule: Rule,
    ) -> Option<Evicted<C>> {
        let map = map.pin();
        let keeper = &mut self.ring[position];
        let entry = map.get(&keeper.key)?;
        let used = entry.was_used();
        if keeper.is_held() {
            keeper.idle_since = None;
            return None;
        }
        if used {
            keeper.idle_since = Some(rule.now);
            return None;
        }
        let idle_since = *keeper.idle_since.get_or_insert(rule.now);
        if !rule.lets_go(&keeper.breaker, idle_since) {
            return None;
        }
        let Keeper {
            key,
            breaker,
            throttle,
            ..
        } = self.ring.swap_remove(position);
        let kept = match Arc::try_unwrap(breaker) {
            // Used and given back since it was looked at, it may have been opened.
            Ok(breaker)
                if !entry.was_used()
                    && !is_held(&throttle)
                    && rule.lets_go(&breaker, idle_since) =>
            {
                map.remove(&key);
                // The map's entry may outlive this by far.
                return Some((breaker, throttle.swap(None)));
            }
            Ok(breaker) => {
                let breaker = Arc::new(breaker);
                map.insert(key.clone(), Entry::new(&breaker, &throttle));
                breaker
            }
            Err(shared) => shared,
        };
        self.ring.push(Keeper {
            key,
            breaker: kept,
            throttle,
            idle_since: None,
        });
        None
    }
}
