//! What is kept of a breaker: its transitions and its latest snapshot.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cutout::{Breaker, Clock, Counts, Event, Snapshot};
use serde::Serialize;

use super::inbox::Inbox;

/// Longer texts of operators and upstreams are cut here, in bytes.
const LONGEST_TEXT: usize = 500;

/// A transition as it is stored: states and cause in the words of the breaker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Transition {
    /// The breaker's name.
    pub breaker: String,
    /// When it was recorded, in milliseconds since the Unix epoch.
    pub at_ms: i64,
    /// The generation it started.
    pub generation: u32,
    /// The state before.
    pub from: String,
    /// The state after.
    pub to: String,
    /// What made it.
    pub cause: String,
    /// The operator's reason, if an operator made it.
    pub reason: Option<String>,
    /// Outcomes in the window when it happened.
    pub samples: u32,
    /// Failures among them, timeouts included.
    pub failures: u32,
    /// Timeouts among them.
    pub timeouts: u32,
    /// Slow calls among them.
    pub slow: u32,
}

impl Transition {
    fn of(breaker: &str, event: &Event) -> Self {
        let Counts {
            samples,
            failures,
            timeouts,
            slow,
        } = event.counts;
        Self {
            breaker: breaker.to_owned(),
            at_ms: now_ms(),
            generation: event.generation,
            from: event.from.to_string(),
            to: event.to.to_string(),
            cause: event.cause.to_string(),
            reason: event.reason.as_deref().map(cut),
            samples,
            failures,
            timeouts,
            slow,
        }
    }
}

/// What a probe came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProbeResult {
    /// The breaker's name.
    pub breaker: String,
    /// When it ended, in milliseconds since the Unix epoch.
    pub at_ms: i64,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// Success, failure, timeout or ignored.
    pub outcome: String,
    /// What the upstream said, if that explains the outcome.
    pub detail: Option<String>,
}

impl ProbeResult {
    /// A result that came in now; a long `detail` is cut.
    pub fn now(breaker: &str, took: Duration, outcome: &str, detail: Option<&str>) -> Self {
        Self {
            breaker: breaker.into(),
            at_ms: now_ms(),
            took_ms: took.as_millis().try_into().unwrap_or(u64::MAX),
            outcome: outcome.into(),
            detail: detail.map(cut),
        }
    }
}

/// Keeps one breaker in the store, for as long as it lives.
///
/// Its [`listener`](Self::listener) goes into the breaker's builder, and the
/// built breaker to [`follow`](Self::follow), before it is used: transitions
/// before that are not kept. Dropping it saves a last snapshot and ends the record.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use cutout::Breaker;
/// use cutout_gateway::store::Store;
///
/// let store = Store::absent(None);
/// let recorder = store.recorder("deepseek");
/// let breaker = Arc::new(Breaker::builder().listener(recorder.listener()).build()?);
/// recorder.follow(&breaker);
/// # Ok::<(), cutout::ConfigError>(())
/// ```
pub struct Recorder {
    inbox: Arc<Inbox>,
    slot: Arc<Slot>,
}

impl Recorder {
    pub(super) fn new(inbox: Arc<Inbox>, breaker: &str) -> Self {
        let slot = Arc::new(Slot {
            breaker: breaker.into(),
            source: Mutex::new(Source::Nowhere),
        });
        Self { inbox, slot }
    }

    /// The breaker's name.
    pub fn breaker(&self) -> &str {
        &self.slot.breaker
    }

    /// Puts each transition into the store's inbox. Never blocks.
    pub fn listener(&self) -> impl Fn(&Event) + Send + Sync + 'static {
        let inbox = Arc::clone(&self.inbox);
        let slot = Arc::clone(&self.slot);
        move |event| inbox.transition(&slot, Transition::of(&slot.breaker, event))
    }

    /// Takes the snapshots of this breaker from now on.
    pub fn follow<C: Clock + 'static>(&self, breaker: &Arc<Breaker<C>>) {
        let breaker = Arc::clone(breaker);
        *self.slot.source() = Source::Live(Box::new(move || breaker.snapshot()));
        self.inbox.follow(&self.slot);
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.inbox.leave(&self.slot);
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("breaker", &self.slot.breaker)
            .finish_non_exhaustive()
    }
}

/// A breaker as the inbox and the writer know it.
pub(super) struct Slot {
    pub(super) breaker: Arc<str>,
    source: Mutex<Source>,
}

/// Where a breaker's snapshots come from.
enum Source {
    Nowhere,
    Live(Box<dyn Fn() -> Snapshot + Send>),
    Last(Box<Snapshot>),
}

impl Slot {
    /// The breaker's snapshot: of now, or the last one; none before it is followed.
    pub(super) fn snapshot(&self) -> Option<Snapshot> {
        match &*self.source() {
            Source::Nowhere => None,
            Source::Live(breaker) => Some(breaker()),
            Source::Last(snapshot) => Some((**snapshot).clone()),
        }
    }

    /// Lets the breaker go and keeps its last snapshot.
    ///
    /// Breaker, listener and slot hold each other until then.
    pub(super) fn end(&self) {
        let last = self.snapshot().map(Box::new);
        let ended = last.map_or(Source::Nowhere, Source::Last);
        let live = std::mem::replace(&mut *self.source(), ended);
        // Not while the slot is locked: this may be the end of the breaker.
        drop(live);
    }

    fn source(&self) -> MutexGuard<'_, Source> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Milliseconds since the Unix epoch by the system's clock; zero before it.
pub(super) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis().try_into().unwrap_or(i64::MAX))
}

fn cut(text: &str) -> String {
    let end = text
        .char_indices()
        .map(|(start, char)| start + char.len_utf8());
    let end = end.take_while(|&end| end <= LONGEST_TEXT).last();
    text[..end.unwrap_or(0)].to_owned()
}
