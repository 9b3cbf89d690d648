//! What one breaker guards: a provider, or one model of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use cutout::{Breaker, Config, ConfigError, Outcome, Snapshot};

use crate::events::Events;
use crate::store::{Recorder, Store, Totals};

/// A breaker with its name and what is counted beside it. It outlives every reload of the
/// configuration.
#[derive(Debug)]
pub struct Upstream {
    /// `provider` or `provider/model`.
    pub name: String,
    /// The provider's name.
    pub provider: String,
    /// The model's name there, if the breaker guards that alone.
    pub model: Option<String>,
    /// The breaker.
    pub breaker: Arc<Breaker>,
    tally: Arc<Tally>,
    in_flight: AtomicUsize,
    _recorder: Recorder,
}

#[derive(Debug, Default)]
struct Tally {
    calls: AtomicU64,
    successes: AtomicU64,
    failures: AtomicU64,
    timeouts: AtomicU64,
    ignored: AtomicU64,
    rejected: AtomicU64,
    retries: AtomicU64,
}

impl Tally {
    /// Goes on from what was counted before.
    fn from(totals: Totals) -> Self {
        Self {
            calls: totals.calls.into(),
            successes: totals.successes.into(),
            failures: totals.failures.into(),
            timeouts: totals.timeouts.into(),
            ignored: totals.ignored.into(),
            rejected: totals.rejected.into(),
            retries: totals.retries.into(),
        }
    }

    fn totals(&self) -> Totals {
        Totals {
            calls: self.calls.load(Relaxed),
            successes: self.successes.load(Relaxed),
            failures: self.failures.load(Relaxed),
            timeouts: self.timeouts.load(Relaxed),
            ignored: self.ignored.load(Relaxed),
            rejected: self.rejected.load(Relaxed),
            retries: self.retries.load(Relaxed),
        }
    }
}

impl Upstream {
    /// An upstream that goes on from a snapshot, if there is one, and tells of its transitions.
    pub(super) fn new(
        provider: &str,
        model: Option<&str>,
        config: Config,
        resumed: Option<Snapshot>,
        events: &Arc<Events>,
        store: &Arc<Store>,
    ) -> Result<Arc<Self>, ConfigError> {
        let name = match model {
            Some(model) => format!("{provider}/{model}"),
            None => provider.to_owned(),
        };
        let recorder = store.recorder(&name);
        let (label, events, sink) = (name.clone(), Arc::clone(events), recorder.sink());
        let mut builder = Breaker::builder()
            .name(name.clone())
            .config(config)
            .listener(move |event| {
                sink.transition(&events.publish(&label, event));
            });
        if let Some(snapshot) = resumed {
            builder = builder.restore(snapshot);
        }
        let breaker = Arc::new(builder.build()?);
        let tally = Arc::new(Tally::from(recorder.earlier()));
        let counted = Arc::clone(&tally);
        recorder.follow(&breaker, move || counted.totals());
        Ok(Arc::new(Self {
            name,
            provider: provider.to_owned(),
            model: model.map(str::to_owned),
            breaker,
            tally,
            in_flight: AtomicUsize::new(0),
            _recorder: recorder,
        }))
    }

    /// Calls in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Relaxed)
    }

    /// Counts a call as in flight until the returned value is dropped.
    pub fn enter(self: &Arc<Self>) -> InFlight {
        self.in_flight.fetch_add(1, Relaxed);
        self.tally.calls.fetch_add(1, Relaxed);
        InFlight(Arc::clone(self))
    }

    /// Counts the outcome of a call.
    pub fn count(&self, outcome: Outcome) {
        let count = match outcome {
            Outcome::Success => &self.tally.successes,
            Outcome::Failure => &self.tally.failures,
            Outcome::Timeout => &self.tally.timeouts,
            Outcome::Ignored => &self.tally.ignored,
        };
        count.fetch_add(1, Relaxed);
    }

    /// Counts a call that was not admitted.
    pub fn count_rejected(&self) {
        self.tally.rejected.fetch_add(1, Relaxed);
    }

    /// Counts an attempt beyond the first.
    pub fn count_retry(&self) {
        self.tally.retries.fetch_add(1, Relaxed);
    }

    /// What the calls came to, over all restarts that the database has seen.
    pub fn totals(&self) -> Totals {
        self.tally.totals()
    }
}

/// A call in flight.
#[derive(Debug)]
pub struct InFlight(Arc<Upstream>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Relaxed);
    }
}
