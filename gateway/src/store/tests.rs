//! The store's claims, with real files.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use cutout::{Breaker, ManualClock, Outcome, Report, State};

use super::*;

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

/// A breaker that opens at the first failure for 10 s, and what keeps it.
fn followed(store: &Store, name: &str, from: Option<Snapshot>) -> (Tested, Recorder) {
    let recorder = store.recorder(name);
    let mut builder = Breaker::builder()
        .clock(ManualClock::new())
        .min_calls(1)
        .failure_ratio(0.5)
        .open_wait(cutout::OpenWait::fixed(Duration::from_secs(10)))
        .listener(recorder.listener());
    if let Some(snapshot) = from {
        builder = builder.restore(snapshot);
    }
    let breaker = Arc::new(builder.build().unwrap());
    recorder.follow(&breaker);
    (breaker, recorder)
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
fn windows_are_saved_from_time_to_time_without_a_close() {
    let file = File::new();
    let (store, _) = file.open_with(Options {
        snapshot_every: Duration::from_millis(1),
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
    assert_eq!(opened.value.cause, "failure ratio reached");
    assert_eq!((opened.value.samples, opened.value.timeouts), (1, 1));
    assert_eq!(disabled.value.from, "open");
    assert_eq!(disabled.value.to, "disabled");
    assert_eq!(disabled.value.reason.as_deref(), Some("maintenance"));
    assert_eq!(disabled.value.generation, 2);
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
            assert!(saved.snapshots["a"].generation >= last.value.generation);
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
fn counters_add_up_over_restarts() {
    let file = File::new();
    for _ in 0..3 {
        let (store, _) = file.open();
        store.count("a", "requests", 2);
        store.count("a", "requests", 3);
        store.count("b", "requests", 1);
    }
    let (_store, saved) = file.open();
    let counter = |provider: &str| saved.counters[&(provider.into(), "requests".into())];
    assert_eq!((counter("a"), counter("b")), (15, 3));
}

#[test]
fn probe_results_are_stored() {
    let file = File::new();
    let (store, _) = file.open();
    let result = ProbeResult::now("a", Duration::from_millis(7), "failure", Some("HTTP 500"));
    store.probe(result.clone());
    store.flush().unwrap();
    let rows = store.probes(10).unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].value, result);
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
        store.count("a", "flips", 1);
        store.probe(ProbeResult::now("a", Duration::ZERO, "success", None));
    }
    breaker.force_open(None, "the last of them");
    drop(release);
    store.flush().unwrap();

    let status = store.status();
    assert_eq!((status.lost_transitions, status.lost_probes), (991, 490));
    let rows = store.transitions(100, None).unwrap();
    assert_eq!(rows.len(), 10);
    assert_eq!(rows[0].value.reason.as_deref(), Some("the last of them"));
    store.close();
    let (_store, saved) = file.open();
    assert_eq!(saved.snapshots["a"].state, State::ForcedOpen);
    assert_eq!(saved.counters[&("a".into(), "flips".into())], 500);
}

#[test]
fn the_newest_rows_stay_and_the_file_is_bounded() {
    let file = File::new();
    let options = Options {
        keep_transitions: 50,
        keep_probes: 20,
        keep_names: 3,
        ..Options::default()
    };
    let (store, _) = file.open_with(options);
    let reason = "x".repeat(10_000);
    let mut sizes = Vec::new();
    for round in 0..4 {
        for name in 0..10 {
            let (breaker, _recorder) = followed(&store, &format!("{round}-{name}"), None);
            store.count(&format!("{round}-{name}"), "requests", 1);
            for _ in 0..200 {
                breaker.disable(reason.as_str());
                store.probe(ProbeResult::now(
                    "a",
                    Duration::ZERO,
                    "failure",
                    Some(&reason),
                ));
            }
        }
        store.flush().unwrap();
        sizes.push(fs::metadata(file.path()).unwrap().len());
    }
    store.close();
    let count = |sql| -> u32 { file.raw().query_row(sql, [], |row| row.get(0)).unwrap() };
    let transitions = count("SELECT count(*) FROM transitions");
    assert!((50..50 + 1_000).contains(&transitions), "{transitions}");
    assert!(count("SELECT count(*) FROM probes") < 1_020);
    assert_eq!(count("SELECT max(length(reason)) FROM transitions"), 500);
    let last = "SELECT count(*) FROM transitions WHERE breaker = '3-9'";
    assert!(count(last) >= 50);
    // What the next start with the same bounds leaves of it.
    let (store, _) = file.open_with(Options {
        keep_transitions: 50,
        keep_names: 3,
        ..Options::default()
    });
    store.count("z", "requests", 1);
    store.close();
    assert_eq!(count("SELECT count(*) FROM transitions"), 50);
    assert_eq!(count("SELECT count(*) FROM snapshots"), 3);
    assert_eq!(count("SELECT count(*) FROM counters"), 3);
    let bytes = fs::metadata(file.path()).unwrap().len();
    assert!(bytes < 4 << 20, "{bytes} bytes, {sizes:?} before");
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
    store.count("a", "requests", 1);
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
    store.count("a", "requests", 1);
    assert_eq!(store.transitions(10, None), Err(problem.clone()));
    assert_eq!(store.status().problem, Some(problem));
    assert_eq!(breaker.state(), State::Open);
}
