//! Reading breakers into series, and what is known from the last time.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::series::{BREAKERS, OTHERS};
use super::show::{self, Counter, Of, Series};
use crate::breaker::Breaker;
use crate::breaker::name::NameId;
use crate::contract::clock::Clock;
use crate::contract::state::{Cause, State};
use crate::throttle::Throttle;

/// Sets the series of all breakers to what they read now, in rounds.
///
/// A round shows every breaker that there is: those that have been shown before and are not there
/// any more are told as *gone* (`cutout_breaker_state` is -1, all other gauges are 0). So no alert goes on
/// for a breaker that was evicted.
///
/// Counters grow by what a breaker has counted since it was last shown. A breaker that is built
/// again under a name goes on where the one before it ended. What a breaker counts between its
/// last round and its end is not told.
///
/// At most [`max_names`](Self::with_max_names) names get series of their own, for a recorder cannot be told to drop
/// one: first come, first served. All other breakers share the counters of `breaker="other"` and have no
/// gauges of their own, but are among `cutout_breakers`. So the number of series is bounded,
/// however many keys a registry has had.
///
/// Use one observer in a process, since each tells what it has not told before. It may be shared.
///
/// # Examples
///
/// With an exporter that pushes, for a registry and a breaker beside it:
///
/// ```no_run
/// use std::time::Duration;
/// use cutout::Breaker;
/// use cutout::adapters::metrics::Observer;
/// use cutout::registry::Registry;
///
/// async fn keep_observing(hosts: &Registry<String>, database: &Breaker) {
///     let observer = Observer::new();
///     let mut tick = tokio::time::interval(Duration::from_secs(5));
///     loop {
///         tick.tick().await;
///         observer.round(|round| {
///             hosts.for_each(|_, breaker| round.show(breaker));
///             round.show(database);
///         });
///     }
/// }
/// ```
pub struct Observer(Mutex<Known>);

struct Known {
    max_names: usize,
    /// Of breakers, and of throttles.
    names: [HashMap<Arc<str>, Shown>; 2],
    /// What each breaker and throttle had counted when it was last shown.
    counted: HashMap<Id, Counted>,
    round: u64,
}

/// A breaker or a throttle, told apart from one of the same name before it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Id {
    Named(NameId),
    /// Without a name, by where it is.
    At(usize),
}

/// A name with series of its own.
struct Shown {
    series: Series,
    /// When it was last shown.
    round: u64,
    is_gone: bool,
    cause: Option<Cause>,
}

struct Counted {
    values: Vec<u64>,
    round: u64,
}

impl Observer {
    /// How many names have series of their own, unless it is said otherwise.
    pub const MAX_NAMES: usize = 500;

    /// An observer of up to [`MAX_NAMES`](Self::MAX_NAMES) names.
    pub fn new() -> Self {
        Self::with_max_names(Self::MAX_NAMES)
    }

    /// An observer of up to so many names of breakers, and as many of throttles. A breaker's name has about 60 series, a
    /// throttle's ten.
    pub fn with_max_names(max_names: usize) -> Self {
        Self(Mutex::new(Known {
            max_names,
            names: Default::default(),
            counted: HashMap::new(),
            round: 0,
        }))
    }

    /// Makes a round: `show` shows all breakers that there are. Rounds take turns.
    ///
    /// # Panics
    ///
    /// Passes on a panic of `show` or of the recorder; no breaker is told as gone then.
    pub fn round(&self, show: impl FnOnce(&mut Round<'_>)) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.round += 1;
        let mut round = Round {
            known: &mut known,
            states: [0; State::ALL.len()],
        };
        show(&mut round);
        let states = round.states;
        known.finish(states);
    }
}

impl Default for Observer {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").finish_non_exhaustive()
    }
}

/// One round of an [`Observer`].
pub struct Round<'a> {
    known: &'a mut Known,
    states: [u32; State::ALL.len()],
}

impl Round<'_> {
    /// Shows a breaker.
    pub fn show<C: Clock>(&mut self, breaker: &Breaker<C>) {
        let known = &mut *self.known;
        let snapshot = breaker.snapshot();
        self.states[snapshot.state as usize] += 1;
        let id = match breaker.name_id() {
            NameId::NONE => Id::At(core::ptr::from_ref(breaker).addr()),
            id => Id::Named(id),
        };
        let series = match known.shown(Of::Breaker, breaker.name()) {
            Some(shown) => {
                shown.series.gauges(&snapshot, &mut shown.cause);
                shown.series.clone()
            }
            None => Series::of(Of::Breaker, OTHERS),
        };
        known.count(id, &series, show::counters(breaker));
    }

    /// Shows a throttle. Those that are not shown any more are told as gone, as breakers are.
    pub fn show_throttle<C: Clock>(&mut self, throttle: &Throttle<C>) {
        let known = &mut *self.known;
        let id = match throttle.name_id() {
            NameId::NONE => Id::At(core::ptr::from_ref(throttle).addr()),
            id => Id::Named(id),
        };
        let series = match known.shown(Of::Throttle, throttle.name()) {
            Some(shown) => {
                shown.series.share(&throttle.share());
                shown.series.clone()
            }
            None => Series::of(Of::Throttle, OTHERS),
        };
        known.count(id, &series, show::throttle_counters(throttle));
    }
}

impl fmt::Debug for Round<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Round").finish_non_exhaustive()
    }
}

impl Known {
    /// Tells what was counted since the last time.
    fn count(&mut self, id: Id, series: &Series, counters: Vec<Counter>) {
        let round = self.round;
        let counted = self.counted.entry(id).or_insert_with(|| Counted {
            values: Vec::new(),
            round,
        });
        counted.round = round;
        for (index, Counter { value, .. }) in counters.iter().enumerate() {
            let before = counted.values.get(index).copied().unwrap_or(0);
            series.count(&counters[index], value.saturating_sub(before));
        }
        counted.values = counters.iter().map(|counter| counter.value).collect();
    }

    /// The series of a name, if it has or gets some of its own.
    fn shown(&mut self, of: Of, name: &str) -> Option<&mut Shown> {
        let round = self.round;
        let names = &mut self.names[of as usize];
        if !names.contains_key(name) {
            if names.len() >= self.max_names {
                return None;
            }
            let shown = Shown {
                series: Series::of(of, name),
                round,
                is_gone: false,
                cause: None,
            };
            names.insert(Arc::from(name), shown);
        }
        let shown = names.get_mut(name)?;
        (shown.round, shown.is_gone) = (round, false);
        Some(shown)
    }

    /// Tells what was not shown in this round as gone.
    fn finish(&mut self, states: [u32; State::ALL.len()]) {
        let round = self.round;
        for shown in self.names.iter_mut().flat_map(HashMap::values_mut) {
            // Once is enough: it stays so.
            if shown.round != round && !shown.is_gone {
                shown.series.gone(&mut shown.cause);
                shown.is_gone = true;
            }
        }
        self.counted.retain(|_, counted| counted.round == round);
        for (state, count) in State::ALL.into_iter().zip(states) {
            metrics::gauge!(BREAKERS, "state" => state.label()).set(count);
        }
    }
}
