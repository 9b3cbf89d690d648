//! The database as the rest of the program sees it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::Connection;

use super::inbox::Inbox;
use super::writer::Writer;
use super::{Fault, Options, ProbeResult, Recorder, Saved, Spending, Spent, Status, StoreError};
use super::{open, rows, spending};
use crate::events::Transition;

/// How long an answer from the database may take.
const ANSWER: Duration = Duration::from_secs(5);

/// The database, written by a thread of its own.
///
/// Dropping it writes what waits and closes the file, as [`close`](Self::close) does.
pub struct Store {
    pub(super) inbox: Arc<Inbox>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Store {
    /// Opens the database at `path`, or makes one, and reads what it holds.
    ///
    /// Blocks for as long as SQLite takes, and up to [`Options::patience`] for a file in use.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] that says what is wrong with the file and what to do. The file is left as it is.
    pub fn open(path: &Path, options: Options) -> Result<(Self, Saved), StoreError> {
        let connection = open::open(path, options.patience)?;
        let saved =
            rows::load(&connection).map_err(|error| StoreError::from_sqlite(path, &error))?;
        let inbox = Arc::new(Inbox::new(Some(path), options.queue, saved.totals.clone()));
        let writer = Writer::new(connection, Arc::clone(&inbox), options);
        let thread = thread::Builder::new()
            .name("store".into())
            .spawn(move || writer.run())
            .map_err(|error| StoreError::new(path, Fault::Unusable(error.to_string())))?;
        let store = Self {
            inbox,
            thread: Mutex::new(Some(thread)),
        };
        Ok((store, saved))
    }

    /// A store that keeps nothing: because none is wanted, or with the `problem`
    /// that [`open`](Self::open) met.
    pub fn absent(problem: Option<StoreError>) -> Self {
        let path = problem.as_ref().map(|problem| problem.path.as_path());
        let inbox = Inbox::new(path, 0, BTreeMap::new());
        inbox.report(problem);
        inbox.shut();
        Self {
            inbox: Arc::new(inbox),
            thread: Mutex::new(None),
        }
    }

    /// What keeps the breaker of this name; see [`Recorder`].
    pub fn recorder(&self, breaker: &str) -> Recorder {
        Recorder::new(Arc::clone(&self.inbox), breaker)
    }

    /// Keeps a probe's result. Never blocks.
    pub fn probe(&self, result: ProbeResult) {
        self.inbox.probe(result);
    }

    /// Keeps what was spent, which is read here as often as totals are.
    pub fn keep_spending(&self, spender: impl Fn() -> Spending + Send + Sync + 'static) {
        self.inbox.spends(Arc::new(spender));
    }

    /// What was spent since a day, the newest day first.
    ///
    /// Blocks until the writing thread answers; not for an async thread.
    ///
    /// # Errors
    ///
    /// As [`transitions`](Self::transitions).
    pub fn spent_since(&self, day: u64) -> Result<Vec<Spent>, StoreError> {
        self.ask(move |connection| spending::since(connection, day))
    }

    /// How the store is.
    pub fn status(&self) -> Status {
        self.inbox.status()
    }

    /// The last transitions, newest first, at most `limit`, of those with an id below `before` if given.
    ///
    /// Blocks until the writing thread answers; not for an async thread.
    ///
    /// # Errors
    ///
    /// The store's own [`problem`](Status::problem), SQLite's, or [`Fault::NoAnswer`].
    pub fn transitions(
        &self,
        limit: u32,
        before: Option<u64>,
    ) -> Result<Vec<Transition>, StoreError> {
        self.ask(move |connection| rows::transitions(connection, limit, before))
    }

    /// The last probe results, newest first, at most `limit`.
    ///
    /// Blocks until the writing thread answers; not for an async thread.
    ///
    /// # Errors
    ///
    /// As [`transitions`](Self::transitions).
    pub fn probes(&self, limit: u32) -> Result<Vec<ProbeResult>, StoreError> {
        self.ask(move |connection| rows::probes(connection, limit))
    }

    /// Waits until all that was put in before is written.
    ///
    /// # Errors
    ///
    /// As [`transitions`](Self::transitions).
    pub fn flush(&self) -> Result<(), StoreError> {
        self.ask(|_| Ok(()))?;
        self.status().problem.map_or(Ok(()), Err)
    }

    pub(super) fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = mpsc::sync_channel(1);
        let path = self.status().path.unwrap_or_default();
        let asked = self.inbox.ask(Box::new(move |connection| {
            // Whoever asked may have given up.
            let _ = reply.try_send(question(connection));
        }));
        let no_answer = || StoreError::new(&path, Fault::NoAnswer);
        if !asked {
            return Err(self.status().problem.unwrap_or_else(no_answer));
        }
        answer
            .recv_timeout(ANSWER)
            .map_err(|_| no_answer())?
            .map_err(|error| StoreError::from_sqlite(&path, &error))
    }

    /// Writes what waits and a last snapshot of each breaker, and closes the file.
    ///
    /// Blocks until that is done. What is put in later is dropped.
    pub fn close(&self) {
        self.inbox.shut();
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            // A writer that panicked has nothing more to say.
            let _ = thread.join();
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}
