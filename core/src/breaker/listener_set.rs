//! Listeners of a breaker in use.

use std::boxed::Box;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::vec::Vec;

use super::contain::contain;
use super::listeners;
use crate::contract::event::Event;
use crate::engine::sync::{AtomicU64, Relaxed};

type Listener = Arc<dyn Fn(&str, &Event) + Send + Sync>;

/// Listeners that come and go while their breakers are in use.
///
/// A breaker's own listeners are given once, when it is built. A set is one of them, through
/// [`Builder::listeners`](crate::Builder::listeners), and passes each event on to those that are in it at the moment.
/// One set may serve many breakers. Clones are the same set. Breakers without one pay nothing for it.
///
/// Adding and removing takes a lock that nobody holds while a listener runs: a listener may add and
/// remove others, or itself. One that is removed while an event is under way may still be told of
/// that one. What [`Builder::listener`](crate::Builder::listener) says of panics holds for each of them: the others
/// are told all the same, and [`panics`](Self::panics) counts them.
///
/// # Examples
///
/// ```
/// use cutout::{Breaker, ListenerSet};
///
/// let listeners = ListenerSet::new();
/// let breaker = Breaker::builder().name("search").listeners(&listeners).build()?;
///
/// let id = listeners.add(|breaker, event| println!("{breaker}: {}", event.to));
/// breaker.disable("maintenance");
/// assert!(listeners.remove(id));
/// breaker.close("done");
/// # Ok::<(), cutout::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct ListenerSet(Arc<Set>);

struct Set {
    listeners: RwLock<Vec<(ListenerId, Listener)>>,
    next: AtomicU64,
    panics: AtomicU64,
}

/// A listener of a [`ListenerSet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListenerId(u64);

impl ListenerSet {
    /// An empty set.
    pub fn new() -> Self {
        Self(Arc::new(Set {
            listeners: RwLock::new(Vec::new()),
            next: AtomicU64::new(0),
            panics: AtomicU64::new(0),
        }))
    }

    /// Adds a listener, to be told of every transition from now on, with the breaker's name.
    pub fn add(&self, listener: impl Fn(&str, &Event) + Send + Sync + 'static) -> ListenerId {
        // Relaxed: it orders nothing; each listener gets another number.
        let id = ListenerId(self.0.next.fetch_add(1, Relaxed));
        let mut listeners = self
            .0
            .listeners
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        listeners.push((id, Arc::new(listener)));
        id
    }

    /// Removes a listener. False if it is not there any more.
    pub fn remove(&self, id: ListenerId) -> bool {
        let mut listeners = self
            .0
            .listeners
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let position = listeners.iter().position(|(other, _)| *other == id);
        let removed = position.map(|position| listeners.remove(position));
        // Dropped without the lock: what it holds may come back here.
        drop(listeners);
        removed.is_some()
    }

    /// How often a listener of the set has panicked.
    pub fn panics(&self) -> u64 {
        // Relaxed: a count orders nothing.
        self.0.panics.load(Relaxed)
    }

    pub(crate) fn listener(&self) -> listeners::Listener {
        let set = Arc::clone(&self.0);
        Box::new(move |breaker, event| {
            let listeners = {
                let listeners = set.listeners.read();
                listeners.unwrap_or_else(PoisonError::into_inner).clone()
            };
            for (_, listener) in listeners {
                contain(|| listener(breaker, event), &set.panics);
            }
        })
    }
}

impl Default for ListenerSet {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ListenerSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListenerSet").finish_non_exhaustive()
    }
}
