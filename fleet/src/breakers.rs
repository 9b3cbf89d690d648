//! The breakers of a member: those that it was given one by one, and those of registries.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Weak};
use std::time::Duration;

use cutout::registry::Registry;
use cutout::{Breaker, Clock, Config, Counts, Label, Snapshot};

use crate::member::Breakers;
use crate::statement::Action;

/// A breaker, whatever its clock.
pub(crate) trait Guarded: Send + Sync {
    fn name(&self) -> &str;
    fn config(&self) -> Config;
    fn snapshot(&self) -> Snapshot;
    /// How many requests it has had, if it counts them.
    fn requests(&self) -> Option<u64>;
    fn take_over(&self, counts: Counts, label: Option<Label>) -> bool;
    fn set_wait(&self, wait: Duration) -> bool;
    fn order(&self, what: Action, left: Option<Duration>, reason: &str);
}

impl<C: Clock + Send + Sync> Guarded for Breaker<C> {
    fn name(&self) -> &str {
        Self::name(self)
    }

    fn config(&self) -> Config {
        Self::config(self)
    }

    fn snapshot(&self) -> Snapshot {
        Self::snapshot(self)
    }

    fn requests(&self) -> Option<u64> {
        let totals = self.totals()?;
        let ended = |it: cutout::Endings| {
            it.success + it.answered + it.failure + it.timeout + it.ignored + it.abandoned
        };
        let rejected = totals.rejections;
        let rejected = rejected.open + rejected.half_open + rejected.forced_open;
        Some(ended(totals.calls) + ended(totals.probes) + rejected)
    }

    fn take_over(&self, counts: Counts, label: Option<Label>) -> bool {
        Self::take_over(self, counts, label)
    }

    fn set_wait(&self, wait: Duration) -> bool {
        Self::set_wait(self, wait)
    }

    fn order(&self, what: Action, left: Option<Duration>, reason: &str) {
        match what {
            Action::ForceOpen => self.force_open(left, reason),
            Action::Close => self.close(reason),
            Action::Disable => self.disable(reason),
            Action::ObserveOnly => self.observe_only(reason),
            Action::Resume => {
                self.resume(reason);
            }
        }
    }
}

/// Where breakers come and go.
pub(crate) trait Source: Send {
    /// Shows all that are there now; false if there will be none any more.
    fn visit(&self, visit: &mut dyn FnMut(Arc<dyn Guarded>)) -> bool;
}

impl<K, C, S> Source for Weak<Registry<K, C, S>>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    C: Clock + Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    fn visit(&self, visit: &mut dyn FnMut(Arc<dyn Guarded>)) -> bool {
        let Some(registry) = self.upgrade() else {
            return false;
        };
        registry.for_each(|_, breaker| visit(Arc::clone(breaker) as Arc<dyn Guarded>));
        true
    }
}

/// All that a member has. It keeps none of them alive.
#[derive(Default)]
pub(crate) struct Held {
    by_name: HashMap<Arc<str>, Weak<dyn Guarded>>,
    sources: Vec<Box<dyn Source>>,
}

impl Held {
    /// One more.
    pub(crate) fn add(&mut self, breaker: &Arc<dyn Guarded>) {
        self.by_name
            .insert(breaker.name().into(), Arc::downgrade(breaker));
    }

    pub(crate) fn add_source(&mut self, source: Box<dyn Source>) {
        self.sources.push(source);
    }

    /// The breaker of a name that is known.
    pub(crate) fn get(&self, name: &str) -> Option<Arc<dyn Guarded>> {
        self.by_name.get(name)?.upgrade()
    }

    /// Breakers of registries that are wanted and not known yet.
    pub(crate) fn find(&mut self, wanted: &dyn Fn(&str) -> bool) -> Vec<Arc<dyn Guarded>> {
        let (by_name, mut found) = (&self.by_name, Vec::new());
        self.sources.retain(|source| {
            source.visit(&mut |breaker| {
                let name = breaker.name();
                let is_known = || {
                    by_name
                        .get(name)
                        .is_some_and(|known| known.strong_count() > 0)
                };
                if wanted(name) && !is_known() {
                    found.push(breaker);
                }
            })
        });
        found.iter().for_each(|breaker| self.add(breaker));
        found
    }

    /// Drops those that are gone; gives their names.
    pub(crate) fn sweep(&mut self) -> Vec<Arc<str>> {
        let mut gone = Vec::new();
        self.by_name.retain(|name, breaker| {
            let is_there = breaker.strong_count() > 0;
            if !is_there {
                gone.push(Arc::clone(name));
            }
            is_there
        });
        gone
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.by_name.keys()
    }
}

impl Breakers for Held {
    fn take_over(&mut self, name: &str, counts: Counts, label: Option<Label>) -> Option<Duration> {
        let breaker = self.get(name)?;
        breaker
            .take_over(counts, label)
            .then(|| breaker.snapshot().remaining.unwrap_or_default())
    }

    fn set_wait(&mut self, name: &str, wait: Duration) -> bool {
        self.get(name).is_some_and(|breaker| breaker.set_wait(wait))
    }

    fn order(&mut self, name: &str, what: Action, left: Option<Duration>, reason: &str) {
        if let Some(breaker) = self.get(name) {
            breaker.order(what, left, reason);
        }
    }
}
