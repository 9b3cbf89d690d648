//! The store's claims, with real files.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use cutout::{Breaker, Event, ManualClock, Outcome, Report, State};

use super::*;
use crate::clock::unix_millis;
use crate::events::Counts;

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
    static LAST: AtomicU64 = AtomicU64::new(0);
    Transition {
        id: 1 + LAST.fetch_add(1, Ordering::Relaxed),
        breaker: breaker.into(),
        generation: event.generation,
        from: event.from.to_string(),
        to: event.to.to_string(),
        cause: event.cause.to_string(),
        reason: event.reason.as_deref().map(str::to_owned),
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

#[test]
fn an_open_breaker_is_open_after_the_restart_for_what_was_left() {
    let file = File::new();
    let (store, saved) = file.open();
    assert!(saved.snapshots.is_empty());
    let (breaker, _recorder) = followed(&store, "a", None);
    settle(&breaker, Outcome::Failure);
    store.close();

    let (store, mut saved) = file.open();
    let snapshot = saved.snapshots.remove("a");
    let (breaker, _recorder) = followed(&store, "a", snapshot);
    let left = breaker.allow().unwrap_err().retry_after();
    assert_eq!(left, Some(Duration::from_secs(10)));
    assert_eq!(breaker.generation(), 1);
}

#[test]
fn a_window_is_saved_though_nothing_has_tripped() {
    let file = File::new();
    let (store, _) = file.open();
    let (breaker, _recorder) = followed(&store, "a", None);
    settle(&breaker, Outcome::Success);
    settle(&breaker, Outcome::Success);
    store.close();
    let (_store, saved) = file.open();
    assert_eq!(saved.snapshots["a"].counts().samples, 2);
}

#[test]
fn a_time_window_is_saved_too_and_not_again_when_only_time_has_passed() {
    let file = File::new();
    let (store, _) = file.open_with(Options {
        save_every: Duration::from_millis(1),
        ..Options::default()
    });
    let clock = ManualClock::new();
    let window = cutout::Window::time(Duration::from_secs(60), 6);
    let builder = Breaker::builder().clock(clock.clone()).window(window);
    let breaker = Arc::new(builder.build().unwrap());
    let recorder = store.recorder("a");
    recorder.follow(&breaker, Totals::default);
    settle(&breaker, Outcome::Success);
    let stored = || store.ask(rows::load).unwrap().snapshots;
    while stored()
        .get("a")
        .is_none_or(|snapshot| snapshot.counts().samples == 0)
    {}
    let commits = store.status().commits;
    let until = Instant::now() + Duration::from_millis(50);
    while Instant::now() < until {
        clock.advance(Duration::from_millis(10));
        store.flush().unwrap();
    }
    assert_eq!(store.status().commits, commits);
    store.close();
    let (_store, saved) = file.open();
    assert_eq!(saved.snapshots["a"].buckets.len(), 1);
}

#[test]
fn windows_are_saved_from_time_to_time_without_a_close() {
    let file = File::new();
    let (store, _) = file.open_with(Options {
        save_every: Duration::from_millis(1),
        ..Options::default()
    });
    let (breaker, _recorder) = followed(&store, "a", None);
    settle(&breaker, Outcome::Success);
    while store.status().commits == 0 {
        thread::yield_now();
    }
    let stored = store.ask(rows::load).unwrap();
    assert_eq!(stored.snapshots["a"].state, State::Closed);
}

#[test]
fn a_transition_is_stored_with_all_it_says() {
    let file = File::new();
    let (store, _) = file.open();
    let (breaker, _recorder) = followed(&store, "a", None);
    settle(&breaker, Outcome::Timeout);
    breaker.disable("maintenance");
    let rows = store.transitions(10, None).unwrap();
    let [disabled, opened] = rows.as_slice() else {
        panic!("two transitions: {rows:?}");
    };
    assert_eq!(opened.cause, "failure ratio reached");
    assert_eq!((opened.counts.samples, opened.counts.timeouts), (1, 1));
    assert_eq!(disabled.from, "open");
    assert_eq!(disabled.to, "disabled");
    assert_eq!(disabled.reason.as_deref(), Some("maintenance"));
    assert_eq!(disabled.generation, 2);
    let older = store.transitions(10, Some(disabled.id)).unwrap();
    assert_eq!(older.as_slice(), std::slice::from_ref(opened));
}

#[test]
fn a_transition_and_a_snapshot_after_it_are_one_commit() {
    let file = File::new();
    let (store, _) = file.open();
    let (breaker, _recorder) = followed(&store, "a", None);
    for _ in 0..200 {
        breaker.disable("flip");
        breaker.close("flop");
        let stored = store.ask(|connection| {
            let last = rows::transitions(connection, 1, None)?;
            Ok((last, rows::load(connection)?))
        });
        let (last, saved) = stored.unwrap();
        if let Some(last) = last.first() {
            assert!(saved.snapshots["a"].generation >= last.generation);
        }
    }
}

#[test]
fn a_breaker_that_goes_leaves_its_last_state() {
    let file = File::new();
    let (store, _) = file.open();
    let (breaker, recorder) = followed(&store, "a", None);
    let release = hold(&store);
    settle(&breaker, Outcome::Failure);
    drop(recorder);
    breaker.disable("after the record's end");
    assert_eq!(Arc::strong_count(&breaker), 1, "the record lets it go");
    let (quiet, recorder) = followed(&store, "b", None);
    settle(&quiet, Outcome::Success);
    drop(recorder);
    drop(release);
    store.close();
    let (store, saved) = file.open();
    assert_eq!(saved.snapshots["a"].state, State::Open);
    assert_eq!(saved.snapshots["b"].counts().samples, 1);
    assert_eq!(store.transitions(10, None).unwrap().len(), 1);
}

#[test]
fn totals_add_up_over_restarts_and_over_breakers_of_one_name() {
    let file = File::new();
    for run in 1..=3 {
        let (store, saved) = file.open();
        let before = saved.totals.get("a").copied().unwrap_or_default();
        assert_eq!(before.calls, (run - 1) * 9);
        // The first is left before it was ever written, the second after.
        drop(followed(&store, "a", None));
        let (breaker, recorder) = followed(&store, "a", None);
        breaker.disable("to have it written");
        store.flush().unwrap();
        drop(recorder);
        store.flush().unwrap();
        let kept = followed(&store, "a", None);
        store.close();
        drop(kept);
    }
}

#[test]
fn probe_results_are_stored() {
    let file = File::new();
    let (store, _) = file.open();
    store.probe(checked(None));
    store.probe(checked(Some("HTTP 500")));
    store.flush().unwrap();
    let rows = store.probes(10).unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].error.as_deref(), Some("HTTP 500"));
    assert_eq!((rows[1].took_ms, rows[1].counted), (7, true));
}

#[test]
fn the_last_transitions_are_there_at_the_start() {
    let file = File::new();
    let (store, _) = file.open();
    let (breaker, _recorder) = followed(&store, "a", None);
    breaker.disable("first");
    breaker.close("second");
    store.close();
    let (_store, saved) = file.open();
    let reasons: Vec<_> = saved
        .transitions
        .iter()
        .map(|t| t.reason.as_deref())
        .collect();
    assert_eq!(reasons, [Some("first"), Some("second")]);
}

#[test]
fn overload_loses_the_oldest_transitions_and_never_the_latest_state() {
    let file = File::new();
    let (store, _) = file.open_with(Options {
        queue: 10,
        ..Options::default()
    });
    let (breaker, _recorder) = followed(&store, "a", None);
    let release = hold(&store);
    for _ in 0..500 {
        breaker.disable("flip");
        breaker.close("flop");
        store.probe(checked(None));
    }
    breaker.force_open(None, "the last of them");
    drop(release);
    store.flush().unwrap();

    let status = store.status();
    assert_eq!((status.lost_transitions, status.lost_probes), (991, 490));
    let rows = store.transitions(100, None).unwrap();
    assert_eq!(rows.len(), 10);
    assert_eq!(rows[0].reason.as_deref(), Some("the last of them"));
    store.close();
    let (_store, saved) = file.open();
    assert_eq!(saved.snapshots["a"].state, State::ForcedOpen);
    assert_eq!(saved.totals["a"].calls, 3);
}

#[test]
fn the_newest_rows_stay_and_the_file_is_bounded() {
    let file = File::new();
    let options = Options {
        max_rows: 50,
        max_breakers: 3,
        ..Options::default()
    };
    let (store, _) = file.open_with(options.clone());
    let reason = "x".repeat(10_000);
    for name in 0..40 {
        let (breaker, _recorder) = followed(&store, &name.to_string(), None);
        for _ in 0..200 {
            breaker.disable(reason.as_str());
            store.probe(checked(Some(&reason)));
        }
        store.flush().unwrap();
    }
    store.close();
    let count = |sql| -> u32 { file.raw().query_row(sql, [], |row| row.get(0)).unwrap() };
    assert!(count("SELECT count(*) FROM transitions") < 1_050);
    assert!(count("SELECT count(*) FROM probes") < 1_050);
    assert_eq!(count("SELECT max(length(reason)) FROM transitions"), 500);
    assert_eq!(count("SELECT max(length(error)) FROM probes"), 500);
    let bytes = fs::metadata(file.path()).unwrap().len();
    assert!(bytes < 2 << 20, "{bytes} bytes");

    // The next start cuts to the bounds with its first write.
    let (store, _) = file.open_with(options);
    store.probe(checked(None));
    store.close();
    assert_eq!(
        count("SELECT count(*) FROM transitions WHERE breaker = '39'"),
        50
    );
    assert_eq!(count("SELECT count(*) FROM transitions"), 50);
    assert_eq!(count("SELECT count(*) FROM probes"), 50);
    assert_eq!(count("SELECT count(*) FROM snapshots"), 3);
    assert_eq!(count("SELECT count(*) FROM totals"), 3);
}

#[test]
fn old_rows_go() {
    let file = File::new();
    let (store, _) = file.open();
    let hours_ago = |hours: u64| ProbeResult {
        at_ms: unix_millis() - hours * 3_600_000,
        ..checked(None)
    };
    for hours in [400, 300, 200, 100, 0] {
        store.probe(hours_ago(hours));
    }
    store.close();
    let (store, _) = file.open_with(Options {
        keep: Duration::from_secs(150 * 3600),
        ..Options::default()
    });
    store.probe(hours_ago(0));
    store.flush().unwrap();
    assert_eq!(store.probes(10).unwrap().len(), 3);
    store.close();
    let (store, _) = file.open_with(Options {
        keep: Duration::ZERO,
        ..Options::default()
    });
    store.probe(hours_ago(1));
    store.flush().unwrap();
    assert_eq!(store.probes(10).unwrap(), []);
}

#[test]
fn a_file_of_another_process_is_locked() {
    let file = File::new();
    let (_store, _) = file.open();
    assert_eq!(file.fault(), Fault::Locked);
}

#[test]
fn a_damaged_file_is_reported_and_left_as_it_is() {
    let file = File::new();
    fs::write(
        file.path(),
        "this is no database, but long enough to be one",
    )
    .unwrap();
    let before = fs::read(file.path()).unwrap();
    assert!(matches!(file.fault(), Fault::Corrupt(_)));
    assert_eq!(fs::read(file.path()).unwrap(), before);
}

#[test]
fn a_file_damaged_in_the_middle_is_reported() {
    let file = File::new();
    let (store, _) = file.open();
    let (breaker, _recorder) = followed(&store, "a", None);
    for _ in 0..500 {
        breaker.disable("x".repeat(400).as_str());
    }
    store.close();
    let mut bytes = fs::read(file.path()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8192].fill(0xa5);
    fs::write(file.path(), bytes).unwrap();
    assert!(matches!(file.fault(), Fault::Corrupt(_)));
}

#[test]
fn a_file_of_a_newer_version_or_another_program_is_refused_untouched() {
    let file = File::new();
    drop(file.open());
    file.raw().pragma_update(None, "user_version", 99).unwrap();
    assert_eq!(file.fault(), Fault::Newer(99));

    let other = File::new();
    other.raw().execute_batch("CREATE TABLE t (x)").unwrap();
    let before = fs::read(other.path()).unwrap();
    assert_eq!(other.fault(), Fault::Foreign);
    assert_eq!(fs::read(other.path()).unwrap(), before);
}

#[test]
fn a_folder_that_is_missing_is_reported() {
    let file = File::new();
    let path = file.folder.join("missing").join("health.sqlite");
    let error = Store::open(&path, Options::default()).unwrap_err();
    assert!(matches!(error.fault, Fault::Unusable(_)));
    assert!(error.to_string().contains("check that its folder exists"));
}

#[test]
fn a_snapshot_that_cannot_be_read_is_reported_and_the_others_are() {
    let file = File::new();
    let (store, _) = file.open();
    let kept = ["a", "b", "c"].map(|name| followed(&store, name, None));
    store.close();
    drop(kept);
    let raw = file.raw();
    raw.execute("UPDATE snapshots SET format = 7 WHERE breaker = 'a'", [])
        .unwrap();
    raw.execute("UPDATE snapshots SET body = '{' WHERE breaker = 'b'", [])
        .unwrap();
    drop(raw);
    let (_store, saved) = file.open();
    let names: Vec<_> = saved.snapshots.keys().collect();
    assert_eq!(names, ["c"]);
    assert_eq!(saved.unreadable.len(), 2);
    assert!(saved.unreadable[0].1.contains("format 7"));
}

#[test]
fn what_cannot_be_written_is_reported_and_written_later() {
    let file = File::new();
    let (store, _) = file.open();
    let (breaker, _recorder) = followed(&store, "a", None);
    let set_pages = |pages: u32| {
        store
            .ask(move |connection| {
                connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
            })
            .unwrap();
    };
    set_pages(1);
    for _ in 0..200 {
        breaker.disable("x".repeat(400).as_str());
    }
    let problem = store.flush().unwrap_err();
    assert!(matches!(problem.fault, Fault::Unusable(_)));
    set_pages(10_000);
    store.flush().unwrap();
    assert_eq!(store.status().problem, None);
    assert_eq!(store.transitions(1_000, None).unwrap().len(), 200);
    assert_eq!(store.status().lost_transitions, 0);
}

#[test]
fn without_a_database_all_is_accepted_and_nothing_kept() {
    let file = File::new();
    let problem = StoreError::new(&file.path(), Fault::Locked);
    let store = Store::absent(Some(problem.clone()));
    let (breaker, _recorder) = followed(&store, "a", None);
    settle(&breaker, Outcome::Failure);
    assert_eq!(store.transitions(10, None), Err(problem.clone()));
    assert_eq!(store.status().problem, Some(problem));
    assert_eq!(breaker.state(), State::Open);
}
