//! The one thread that writes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};

use super::followed::{Followed, Health};
use super::inbox::{Batch, Inbox, Work};
use super::rows::{self, Change};
use super::{Options, Spending, StoreError};

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
    spent: Spending,
    /// Rows added since the bounds were last seen to.
    untrimmed: usize,
}

impl Writer {
    pub(super) fn new(connection: Connection, inbox: Arc<Inbox>, options: Options) -> Self {
        Self {
            connection,
            inbox,
            options,
            written: HashMap::new(),
            spent: Spending::default(),
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
                spender,
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
            let spending = spender.filter(|_| all).map(|spender| spender());
            match self.write(batch, &followed, spending.unwrap_or_default(), all) {
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
    fn write(
        &mut self,
        batch: Batch,
        followed: &[Arc<Followed>],
        spending: Spending,
        all: bool,
    ) -> Result<(), StoreError> {
        let fresh = Self::fresh(&batch, followed, all);
        let changes = self.changes(&fresh);
        let spent = self.spent_since(&spending);
        let nothing_spent = spent.spent.is_empty() && spent.minutes.is_empty();
        if batch.is_empty() && changes.is_empty() && nothing_spent {
            return Ok(());
        }
        match self.commit(&batch, &changes, &spent) {
            Ok(()) => {
                self.inbox.committed(batch.transitions.len());
                self.written.extend(fresh);
                if !nothing_spent {
                    self.spent = spending;
                }
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
    fn fresh(batch: &Batch, followed: &[Arc<Followed>], all: bool) -> HashMap<Arc<str>, Health> {
        // First those that were left: a new breaker may have the name of an old one.
        let moved = batch.transitions.iter().map(|(slot, _)| slot);
        let moved = moved.filter(|slot| !batch.left.iter().any(|left| Arc::ptr_eq(left, slot)));
        let slots = batch.left.iter().chain(moved);
        slots
            .chain(followed.iter().filter(|_| all))
            .filter_map(|slot| Some((Arc::clone(&slot.name), slot.health()?)))
            .collect()
    }

    fn changes(&self, fresh: &HashMap<Arc<str>, Health>) -> Vec<Change> {
        let changes = fresh.iter().map(|(breaker, health)| {
            let written = self.written.get(breaker);
            let same =
                |same: fn(&Health, &Health) -> bool| written.is_some_and(|w| same(w, health));
            Change {
                breaker: Arc::clone(breaker),
                snapshot: (!same(is_same_state)).then(|| health.snapshot.clone()),
                totals: (!same(|a, b| a.totals == b.totals)).then_some(health.totals),
            }
        });
        changes
            .filter(|change| change.snapshot.is_some() || change.totals.is_some())
            .collect()
    }

    /// Those rows that are not as they were written last.
    fn spent_since(&self, spending: &Spending) -> Spending {
        let (spent, minutes): (HashSet<_>, HashSet<_>) = (
            self.spent.spent.iter().collect(),
            self.spent.minutes.iter().collect(),
        );
        let new = spending.spent.iter().filter(|row| !spent.contains(row));
        let new_minutes = spending.minutes.iter().filter(|row| !minutes.contains(row));
        Spending {
            spent: new.cloned().collect(),
            minutes: new_minutes.cloned().collect(),
        }
    }

    fn commit(
        &mut self,
        batch: &Batch,
        changes: &[Change],
        spent: &Spending,
    ) -> rusqlite::Result<()> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        rows::write(&transaction, batch, changes, spent)?;
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
