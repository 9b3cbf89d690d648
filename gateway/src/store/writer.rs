//! The one thread that writes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cutout::Snapshot;
use rusqlite::{Connection, TransactionBehavior};

use super::inbox::{Batch, Inbox, Work};
use super::record::Slot;
use super::rows;
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
    /// The snapshots as last written, to leave alone what has not changed.
    written: HashMap<Arc<str>, Snapshot>,
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
            // What an earlier run with wider bounds left is cut at once.
            untrimmed: TRIM_AFTER,
        }
    }

    pub(super) fn run(mut self) {
        let mut retry = FIRST_RETRY;
        let mut failing = false;
        let mut next_snapshots = Instant::now() + self.options.snapshot_every;
        loop {
            let now = Instant::now();
            let work = if failing {
                self.inbox.take_patiently(now + retry)
            } else {
                self.inbox
                    .take(next_snapshots.min(now + self.options.flush_every))
            };
            let Work {
                batch,
                questions,
                followed,
                closing,
            } = work;
            let all = closing || Instant::now() >= next_snapshots;
            if all {
                next_snapshots = Instant::now() + self.options.snapshot_every;
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

    /// Writes a batch with the snapshots that belong to it, or puts it back.
    fn write(&mut self, batch: Batch, followed: &[Arc<Slot>], all: bool) -> Result<(), StoreError> {
        let snapshots = self.snapshots(&batch, followed, all);
        if batch.is_empty() && snapshots.is_empty() {
            return Ok(());
        }
        match self.commit(&batch, &snapshots) {
            Ok(()) => {
                self.inbox.committed(batch.transitions.len());
                for (breaker, snapshot) in snapshots {
                    self.written.insert(breaker, content(snapshot));
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

    /// The snapshot of each breaker that has a transition in the batch or is no
    /// longer followed, and with `all` of each one that has changed.
    ///
    /// They are taken here, after the transitions were taken from the inbox, so
    /// none is older than any of them.
    fn snapshots(
        &self,
        batch: &Batch,
        followed: &[Arc<Slot>],
        all: bool,
    ) -> BTreeMap<Arc<str>, Snapshot> {
        let mut snapshots = BTreeMap::new();
        // Those that were left first: a new breaker may have the name of an old one.
        let moved = batch.transitions.iter().map(|(slot, _)| slot);
        for slot in batch.left.iter().chain(moved) {
            if let Some(snapshot) = slot.snapshot() {
                snapshots.insert(Arc::clone(&slot.breaker), snapshot);
            }
        }
        if all {
            for slot in followed {
                if let Some(snapshot) = slot.snapshot()
                    && self.written.get(&slot.breaker) != Some(&content(snapshot.clone()))
                {
                    snapshots.insert(Arc::clone(&slot.breaker), snapshot);
                }
            }
        }
        snapshots
    }

    fn commit(
        &mut self,
        batch: &Batch,
        snapshots: &BTreeMap<Arc<str>, Snapshot>,
    ) -> rusqlite::Result<()> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        rows::write(&transaction, batch, snapshots)?;
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

/// What makes two snapshots worth writing both: not the time they were taken.
fn content(mut snapshot: Snapshot) -> Snapshot {
    snapshot.taken = Duration::ZERO;
    snapshot.remaining = None;
    snapshot
}
