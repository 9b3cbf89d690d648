//! The store's claims, with real files.

mod bounds;
mod faults;
mod keeping;

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use cutout::{Breaker, Event, ManualClock, Outcome, Report, Snapshot, State};
use rusqlite::Connection;

use super::*;
use crate::clock::unix_millis;
use crate::events::{Counts, Transition};

/// A file in a folder of its own, gone at the end.
struct File {
    folder: PathBuf,
}

impl File {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("cutout-store-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).unwrap();
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.join("health.sqlite")
    }

    fn open(&self) -> (Store, Saved) {
        self.open_with(Options::default())
    }

    fn open_with(&self, options: Options) -> (Store, Saved) {
        Store::open(&self.path(), options).unwrap()
    }

    fn fault(&self) -> Fault {
        let options = Options {
            patience: Duration::from_millis(1),
            ..Options::default()
        };
        Store::open(&self.path(), options).unwrap_err().fault
    }

    fn raw(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

type Tested = Arc<Breaker<ManualClock>>;

/// A breaker that opens at the first failure for 10 s, and what keeps it. It has
/// three calls more than before.
fn followed(store: &Store, name: &str, from: Option<Snapshot>) -> (Tested, Recorder) {
    let recorder = store.recorder(name);
    let sink = recorder.sink();
    let label = name.to_owned();
    let mut builder = Breaker::builder()
        .clock(ManualClock::new())
        .min_calls(1)
        .failure_ratio(0.5)
        .open_wait(cutout::OpenWait::fixed(Duration::from_secs(10)))
        .listener(move |event| sink.transition(&Arc::new(transition(&label, event))));
    if let Some(snapshot) = from {
        builder = builder.restore(snapshot);
    }
    let breaker = Arc::new(builder.build().unwrap());
    let calls = recorder.earlier().calls + 3;
    recorder.follow(&breaker, move || Totals {
        calls,
        ..Totals::default()
    });
    (breaker, recorder)
}

fn transition(breaker: &str, event: &Event) -> Transition {
    thread_local! {
        // Of this test alone: ids without gaps, as the program gives them.
        static LAST: Cell<u64> = const { Cell::new(0) };
    }
    LAST.set(LAST.get() + 1);
    Transition {
        id: LAST.get(),
        breaker: breaker.into(),
        generation: event.generation,
        from: event.from.to_string(),
        to: event.to.to_string(),
        cause: event.cause.to_string(),
        reason: event.reason.as_deref().map(str::to_owned),
        threshold: event.threshold.map(|threshold| threshold.to_string()),
        label: event.label.as_deref().map(str::to_owned),
        at_ms: unix_millis(),
        counts: Counts {
            samples: event.counts.samples,
            failures: event.counts.failures,
            timeouts: event.counts.timeouts,
            slow: event.counts.slow,
        },
    }
}

fn checked(error: Option<&str>) -> ProbeResult {
    ProbeResult {
        breaker: "a".into(),
        at_ms: unix_millis(),
        took_ms: 7,
        error: error.map(str::to_owned),
        counted: true,
    }
}

fn settle(breaker: &Breaker<ManualClock>, outcome: Outcome) {
    breaker.allow().unwrap().done(Report::from(outcome));
}

/// Keeps the writing thread busy until the sender is dropped.
fn hold(store: &Store) -> mpsc::Sender<()> {
    let (release, held) = mpsc::channel();
    let (holding, is_holding) = mpsc::channel();
    assert!(store.inbox.ask(Box::new(move |_| {
        let _ = holding.send(());
        let _ = held.recv();
    })));
    is_holding.recv().unwrap();
    release
}
