//! The one thread that writes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};

use super::inbox::{Batch, Inbox, Work};
use super::record::{Health, Slot, Totals};
use super::rows::{self, Change};
use super::{Options, StoreError};

/// After the first failure; it doubles with each further one.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// Bounds are seen to after so many rows; until then a table may be longer by that much.
const TRIM_AFTER: usize = 1_000;

pub(super) struct Writer {
    connection: Connection,
    inbox: Arc<Inbox>,
    options: Options,
    /// What was written last, to leave alone what has not changed.
    written: HashMap<Arc<str>, Health>,
    /// What the calls of a breaker came to before it was followed.
    earlier: HashMap<Arc<str>, Totals>,
    /// Rows added since the bounds were last seen to.
    untrimmed: usize,
}

impl Writer {
    pub(super) fn new(
        connection: Connection,
        inbox: Arc<Inbox>,
        options: Options,
        earlier: &BTreeMap<String, Totals>,
    ) -> Self {
        let earlier = earlier.iter();
        Self {
            connection,
            inbox,
            options,
            written: HashMap::new(),
            earlier: earlier
                .map(|(breaker, &totals)| (breaker.as_str().into(), totals))
                .collect(),
            // What an earlier run with wider bounds left is cut at once.
            untrimmed: TRIM_AFTER,
        }
    }

    pub(super) fn run(mut self) {
        let mut retry = FIRST_RETRY;
        let mut failing = false;
        let mut next_save = Instant::now() + self.options.save_every;
        loop {
            let Work {
                batch,
                questions,
                followed,
                closing,
            } = if failing {
                self.inbox.take_patiently(Instant::now() + retry)
            } else {
                self.inbox.take(next_save)
            };
            let all = closing || Instant::now() >= next_save;
            if all {
                next_save = Instant::now() + self.options.save_every;
            }
            match self.write(batch, &followed, all) {
                Ok(()) => {
                    failing = false;
                    retry = FIRST_RETRY;
                }
                Err(problem) => {
                    if failing {
                        retry = (retry * 2).min(LONGEST_RETRY);
                    }
                    failing = true;
                    self.inbox.report(Some(problem));
                }
            }
            for question in questions {
                question(&self.connection);
            }
            if closing {
                return;
            }
        }
    }

    /// Writes a batch and the health that belongs to it, or puts it back.
    fn write(&mut self, batch: Batch, followed: &[Arc<Slot>], all: bool) -> Result<(), StoreError> {
        let fresh = self.fresh(&batch, followed, all);
        let changes = self.changes(&fresh);
        if batch.is_empty() && changes.is_empty() {
            return Ok(());
        }
        match self.commit(&batch, &changes) {
            Ok(()) => {
                self.inbox.committed(batch.transitions.len());
                self.earlier.extend(fresh.earlier);
                self.written.extend(fresh.health);
                Ok(())
            }
            Err(error) => {
                self.inbox.give_back(batch);
                let path = self.inbox.status().path.unwrap_or_default();
                Err(StoreError::from_sqlite(&path, &error))
            }
        }
    }

    /// The health of each breaker that has a transition in the batch or is no
    /// longer followed, and with `all` of each one.
    ///
    /// It is read here, after the transitions were taken from the inbox, so it is
    /// not older than any of them.
    fn fresh(&self, batch: &Batch, followed: &[Arc<Slot>], all: bool) -> Fresh {
        let mut fresh = Fresh::default();
        // First, because a new breaker may have the name of one that was left.
        for slot in &batch.left {
            if let Some(health) = slot.health() {
                let breaker = Arc::clone(&slot.breaker);
                let totals = self.earlier_than(&fresh, &breaker) + health.totals;
                fresh.earlier.insert(Arc::clone(&breaker), totals);
                let totals = Totals::default();
                fresh.health.insert(breaker, Health { totals, ..health });
            }
        }
        let moved = batch.transitions.iter().map(|(slot, _)| slot);
        let moved = moved.filter(|slot| !batch.left.iter().any(|left| Arc::ptr_eq(left, slot)));
        for slot in moved.chain(followed.iter().filter(|_| all)) {
            if let Some(health) = slot.health() {
                fresh.health.insert(Arc::clone(&slot.breaker), health);
            }
        }
        fresh
    }

    fn earlier_than(&self, fresh: &Fresh, breaker: &str) -> Totals {
        let earlier = fresh.earlier.get(breaker);
        let earlier = earlier.or_else(|| self.earlier.get(breaker));
        earlier.copied().unwrap_or_default()
    }

    fn changes(&self, fresh: &Fresh) -> Vec<Change> {
        let changes = fresh.health.iter().map(|(breaker, health)| {
            let written = self.written.get(breaker);
            let same =
                |same: fn(&Health, &Health) -> bool| written.is_some_and(|w| same(w, health));
            let totals = self.earlier_than(fresh, breaker) + health.totals;
            let is_left = fresh.earlier.contains_key(breaker);
            Change {
                breaker: Arc::clone(breaker),
                snapshot: (!same(is_same_state)).then(|| health.snapshot.clone()),
                totals: (is_left || !same(|a, b| a.totals == b.totals)).then_some(totals),
            }
        });
        changes
            .filter(|change| change.snapshot.is_some() || change.totals.is_some())
            .collect()
    }

    fn commit(&mut self, batch: &Batch, changes: &[Change]) -> rusqlite::Result<()> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        rows::write(&transaction, batch, changes)?;
        let added = batch.transitions.len() + batch.probes.len();
        let trim = self.untrimmed + added >= TRIM_AFTER;
        if trim {
            rows::trim(&transaction, &self.options)?;
        }
        transaction.commit()?;
        self.untrimmed = if trim { 0 } else { self.untrimmed + added };
        Ok(())
    }
}

/// What is to be written over what is stored.
#[derive(Default)]
struct Fresh {
    health: HashMap<Arc<str>, Health>,
    /// Totals that have become earlier ones.
    earlier: HashMap<Arc<str>, Totals>,
}

/// Whether two snapshots differ in nothing but the time they were taken at.
fn is_same_state(a: &Health, b: &Health) -> bool {
    let timeless = |health: &Health| {
        let mut snapshot = health.snapshot.clone();
        snapshot.taken = Duration::ZERO;
        snapshot.remaining = None;
        for bucket in &mut snapshot.buckets {
            bucket.age = Duration::ZERO;
        }
        snapshot
    };
    timeless(a) == timeless(b)
}
