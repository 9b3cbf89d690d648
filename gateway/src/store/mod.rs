//! Health that survives: what the breakers know, kept in a database beside the binary.
//!
//! Nothing here is on the way of a request. Whoever has something to keep puts
//! it into a bounded inbox; one thread empties it into SQLite, all that is
//! there in one transaction.
//!
//! **What a kill can lose.** A transition is written as soon as the thread gets
//! to it, together with a snapshot of its breaker taken after it; so no stored
//! state is older than the last stored transition of its breaker. A kill loses
//! what was not committed yet: transitions and probe results of the last moment,
//! and up to [`Options::save_every`] of windows and totals.
//!
//! **What overload can lose.** Of transitions and probe results the oldest go when
//! more than [`Options::queue`] wait; [`Status`] counts them. Snapshots and totals
//! are not queued but read from the breaker when they are written, so the latest
//! cannot be lost.
//!
//! **What it may take.** Rows older than [`Options::keep`] or beyond
//! [`Options::max_rows`] go, the oldest first, and texts are cut at 500 bytes: at most
//! some hundred bytes a row, and for each breaker a snapshot of its window.
//!
//! **Without it.** When the file cannot be opened the gateway serves without
//! ([`Store::absent`]); when writing fails later, what waits is tried again,
//! once a second at first and then less often, within the same bounds.

mod error;
mod inbox;
mod open;
mod record;
mod rows;
#[cfg(test)]
mod tests;
mod writer;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cutout::Snapshot;
use rusqlite::Connection;
use serde::{Serialize, Serializer};

pub use error::{Fault, StoreError};
pub use record::{ProbeResult, Recorder, Sink, Totals};

use crate::events::Transition;
use inbox::Inbox;
use writer::Writer;

/// How long an answer from the database may take.
const ANSWER: Duration = Duration::from_secs(5);

/// When to write, and how much to keep.
#[derive(Clone, Debug)]
pub struct Options {
    /// How often windows and totals are saved, if they have changed. Transitions do not wait.
    pub save_every: Duration,
    /// How long transitions and probe results are kept.
    pub keep: Duration,
    /// How many transitions, and as many probe results, are kept at most; it may
    /// be 1000 more for a while.
    pub max_rows: u32,
    /// Of how many breakers snapshot and totals are kept, those saved last.
    pub max_breakers: u32,
    /// How many transitions, and as many probe results, may wait to be written.
    pub queue: usize,
    /// How long to wait for another process to let go of the file.
    pub patience: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            save_every: Duration::from_secs(2),
            keep: Duration::from_secs(7 * 24 * 3600),
            max_rows: 100_000,
            max_breakers: 1_000,
            queue: 10_000,
            patience: Duration::from_secs(2),
        }
    }
}

/// What the database held when it was opened.
#[derive(Debug, Default)]
pub struct Saved {
    /// The last snapshot of each breaker, for [`Builder::restore`](cutout::Builder::restore).
    pub snapshots: BTreeMap<String, Snapshot>,
    /// What the calls of each breaker came to.
    pub totals: BTreeMap<String, Totals>,
    /// The last transitions, oldest first.
    pub transitions: Vec<Transition>,
    /// Breakers whose snapshot could not be read, and why; they start closed.
    pub unreadable: Vec<(String, String)>,
}

/// How the store is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Status {
    /// The database file; none when the gateway was told to keep nothing.
    pub path: Option<PathBuf>,
    /// Why nothing is being written at the moment, if so.
    #[serde(serialize_with = "as_text")]
    pub problem: Option<StoreError>,
    /// Transactions committed.
    pub commits: u64,
    /// Transitions written.
    pub transitions: u64,
    /// Transitions lost to overload.
    pub lost_transitions: u64,
    /// Probe results lost to overload.
    pub lost_probes: u64,
}

/// The database, written by a thread of its own.
///
/// Dropping it writes what waits and closes the file, as [`close`](Self::close) does.
pub struct Store {
    inbox: Arc<Inbox>,
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

    fn ask<T: Send + 'static>(
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

fn as_text<S: Serializer>(problem: &Option<StoreError>, serializer: S) -> Result<S::Ok, S::Error> {
    problem
        .as_ref()
        .map(StoreError::to_string)
        .serialize(serializer)
}
