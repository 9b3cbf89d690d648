//! What one breaker guards: a provider, or one model of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use cutout::{Breaker, Config, Endings, Snapshot};

use super::Life;
use crate::events::Events;
use crate::replicas::Replicas;
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
    /// Its signs of life.
    pub life: Life,
    tally: Arc<Tally>,
    in_flight: AtomicUsize,
    _recorder: Recorder,
}

/// What the breaker does not count.
#[derive(Debug)]
struct Tally {
    /// What the calls came to in earlier processes.
    earlier: Totals,
    /// Calls begun.
    calls: AtomicU64,
    /// Attempts beyond the first.
    retries: AtomicU64,
}

/// The breaker's own counts, and what it does not count.
fn totals(breaker: &Breaker, tally: &Tally) -> Totals {
    let counted = breaker.totals().unwrap_or_default();
    let sum = |part: fn(&Endings) -> u64| part(&counted.calls) + part(&counted.probes);
    let rejections = counted.rejections;
    let before = tally.earlier;
    Totals {
        calls: before.calls + tally.calls.load(Relaxed),
        successes: before.successes + sum(|ended| ended.success),
        answered: before.answered + sum(|ended| ended.answered),
        failures: before.failures + sum(|ended| ended.failure),
        timeouts: before.timeouts + sum(|ended| ended.timeout),
        ignored: before.ignored + sum(|ended| ended.ignored + ended.abandoned),
        rejected: before.rejected + rejections.open + rejections.half_open + rejections.forced_open,
        retries: before.retries + tally.retries.load(Relaxed),
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
        replicas: Option<&Replicas>,
    ) -> Result<Arc<Self>, String> {
        let name = match model {
            Some(model) => format!("{provider}/{model}"),
            None => provider.to_owned(),
        };
        let recorder = store.recorder(&name);
        let (label, events, sink) = (name.clone(), Arc::clone(events), recorder.sink());
        let mut builder = Breaker::builder()
            .name(name.clone())
            .config(config)
            .totals(true)
            .listener(move |event| {
                sink.transition(&events.publish(&label, event));
            });
        if let Some(snapshot) = resumed {
            builder = builder.restore(snapshot);
        }
        let breaker = match replicas {
            Some(replicas) => replicas.build(&name, builder)?,
            None => Arc::new(builder.build().map_err(|error| error.to_string())?),
        };
        let tally = Arc::new(Tally {
            earlier: recorder.earlier(),
            calls: AtomicU64::new(0),
            retries: AtomicU64::new(0),
        });
        let (followed, counted) = (Arc::clone(&breaker), Arc::clone(&tally));
        recorder.follow(&breaker, move || totals(&followed, &counted));
        Ok(Arc::new(Self {
            name,
            provider: provider.to_owned(),
            model: model.map(str::to_owned),
            breaker,
            life: Life::default(),
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

    /// Counts an attempt beyond the first.
    pub fn count_retry(&self) {
        self.tally.retries.fetch_add(1, Relaxed);
    }

    /// What the calls came to, over all restarts that the database has seen.
    pub fn totals(&self) -> Totals {
        totals(&self.breaker, &self.tally)
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
