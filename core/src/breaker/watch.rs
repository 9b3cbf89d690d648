//! Who looks at every call: counters, and listeners for calls.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::breaker::contain::contain;
use crate::breaker::rejected::Rejected;
use crate::contract::outcome::Report;
use crate::contract::state::{Cause, State};
use crate::contract::totals::Totals;
use crate::engine::counters::{Counters, Ending};
use crate::engine::sync::{AtomicU64, Relaxed};

/// What became of one call, for [`Builder::call_listener`](crate::Builder::call_listener).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallEvent {
    /// It was admitted, made, and its permit settled with a report.
    Settled {
        /// What the caller said of it.
        report: Report,
        /// Whether it was a probe.
        is_probe: bool,
    },
    /// It was admitted, and its permit dropped.
    Abandoned {
        /// Whether it was a probe.
        is_probe: bool,
    },
    /// It was not admitted.
    Rejected(Rejected),
}

/// A callback for calls, told the breaker's name too.
pub(crate) type CallListener = Box<dyn Fn(&str, &CallEvent) + Send + Sync>;

/// Those who look at every call, of a breaker that has any. Its methods are cold, so that a call which nobody
/// looks at is no slower for them.
pub(crate) struct Watch {
    counters: Option<Counters>,
    name: Box<str>,
    listeners: Vec<CallListener>,
    panics: AtomicU64,
}

impl Watch {
    pub(crate) fn new(counts: bool, name: Box<str>, listeners: Vec<CallListener>) -> Option<Self> {
        let is_needed = counts || !listeners.is_empty();
        is_needed.then(|| Self {
            counters: counts.then(Counters::new),
            name,
            listeners,
            panics: AtomicU64::new(0),
        })
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn settled(&self, report: &Report, is_probe: bool) {
        match &self.counters {
            // Nobody listens: the last call of this function, which needs no stack of its own then.
            Some(counters) if self.listeners.is_empty() => {
                counters.count_ending(Ending::of(report.outcome), is_probe);
            }
            _ => self.count_and_tell(report, is_probe),
        }
    }

    #[inline(never)]
    fn count_and_tell(&self, report: &Report, is_probe: bool) {
        if let Some(counters) = &self.counters {
            counters.count_ending(Ending::of(report.outcome), is_probe);
        }
        self.tell(|| CallEvent::Settled {
            report: *report,
            is_probe,
        });
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn abandoned(&self, is_probe: bool) {
        if let Some(counters) = &self.counters {
            counters.count_ending(Ending::ABANDONED, is_probe);
        }
        self.tell(|| CallEvent::Abandoned { is_probe });
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn rejected(&self, rejected: Rejected) {
        if let Some(counters) = &self.counters {
            counters.count_rejection(rejected.state());
        }
        self.tell(|| CallEvent::Rejected(rejected));
    }

    pub(crate) fn transition(&self, to: State, cause: Cause) {
        if let Some(counters) = &self.counters {
            counters.count_transition(to, cause);
        }
    }

    pub(crate) fn totals(&self) -> Option<Totals> {
        self.counters.as_ref().map(Counters::totals)
    }

    pub(crate) fn panics(&self) -> u64 {
        // Relaxed: a count orders nothing.
        self.panics.load(Relaxed)
    }

    #[inline]
    fn tell(&self, event: impl FnOnce() -> CallEvent) {
        if !self.listeners.is_empty() {
            self.tell_listeners(event);
        }
    }

    /// A report is large: where nobody listens, there is no room for one on the stack either.
    #[inline(never)]
    fn tell_listeners(&self, event: impl FnOnce() -> CallEvent) {
        let event = &event();
        inside::once(core::ptr::from_ref(self).addr(), || {
            for listener in &self.listeners {
                contain(|| listener(&self.name, event), &self.panics);
            }
        });
    }
}

/// What a listener's thread is inside of: calls that a listener makes through its own breaker are
/// not told, or it would never come to an end.
#[cfg(feature = "std")]
mod inside {
    use alloc::vec::Vec;
    use core::cell::RefCell;

    std::thread_local! {
        static WATCHES: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    }

    /// Runs `tell`, unless this thread is inside of it. A thread that is going away tells nothing.
    pub(super) fn once(watch: usize, tell: impl FnOnce()) {
        let _ = WATCHES.try_with(|watches| {
            if watches.borrow().contains(&watch) {
                return;
            }
            watches.borrow_mut().push(watch);
            // Panics of listeners are contained.
            tell();
            watches.borrow_mut().pop();
        });
    }
}

/// Without the standard library threads cannot be told apart.
#[cfg(not(feature = "std"))]
mod inside {
    pub(super) fn once(_: usize, tell: impl FnOnce()) {
        tell();
    }
}
