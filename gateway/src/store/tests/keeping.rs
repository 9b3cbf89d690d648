//! What is stored, and comes back after a restart.

use super::*;

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
    clock.advance(Duration::from_secs(20));
    let until = Instant::now() + Duration::from_millis(50);
    while Instant::now() < until {
        // However often: the sample must not leave its window.
        clock.advance(Duration::from_micros(100));
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
    let report = Report::from(Outcome::Timeout).label("total limit passed");
    breaker.allow().unwrap().done(report);
    breaker.disable("maintenance");
    let rows = store.transitions(10, None).unwrap();
    let [disabled, opened] = rows.as_slice() else {
        panic!("two transitions: {rows:?}");
    };
    assert_eq!(opened.cause, "failure ratio reached");
    assert_eq!((opened.counts.samples, opened.counts.timeouts), (1, 1));
    assert_eq!(opened.threshold.as_deref(), Some("a share of 0.5"));
    assert_eq!(opened.label.as_deref(), Some("total limit passed"));
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

/// Tables as version 1 had them, with a row in each.
const FIRST_TABLES: &str = "
    CREATE TABLE snapshots (breaker TEXT PRIMARY KEY, saved_ms INTEGER NOT NULL, generation INTEGER NOT NULL,
        state TEXT NOT NULL, format INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
    CREATE TABLE transitions (id INTEGER PRIMARY KEY, breaker TEXT NOT NULL, at_ms INTEGER NOT NULL,
        generation INTEGER NOT NULL, from_state TEXT NOT NULL, to_state TEXT NOT NULL, cause TEXT NOT NULL, reason TEXT,
        samples INTEGER NOT NULL, failures INTEGER NOT NULL, timeouts INTEGER NOT NULL, slow INTEGER NOT NULL) STRICT;
    CREATE TABLE probes (id INTEGER PRIMARY KEY, breaker TEXT NOT NULL, at_ms INTEGER NOT NULL,
        took_ms INTEGER NOT NULL, error TEXT, counted INTEGER NOT NULL) STRICT;
    CREATE TABLE totals (breaker TEXT PRIMARY KEY, saved_ms INTEGER NOT NULL, calls INTEGER NOT NULL,
        successes INTEGER NOT NULL, failures INTEGER NOT NULL, timeouts INTEGER NOT NULL, ignored INTEGER NOT NULL,
        rejected INTEGER NOT NULL, retries INTEGER NOT NULL) STRICT;
    INSERT INTO transitions VALUES (7, 'a', 4102444800000, 1, 'closed', 'open', 'failure ratio reached', 'x', 9, 8, 7, 6);
    INSERT INTO probes VALUES (3, 'a', 4102444800000, 12, 'HTTP 500', 1);
    INSERT INTO totals VALUES ('a', 4102444800000, 10, 1, 2, 3, 4, 5, 6);
    PRAGMA application_id = 0x6375746f;
    PRAGMA user_version = 1;
";

/// What version 2 added.
const SECOND_TABLES: &str =
    "ALTER TABLE totals ADD COLUMN answered INTEGER NOT NULL DEFAULT 0; PRAGMA user_version = 2;";

/// What version 3 added.
const THIRD_TABLES: &str = "ALTER TABLE totals ADD COLUMN answered INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE transitions ADD COLUMN threshold TEXT;
    ALTER TABLE transitions ADD COLUMN label TEXT;
    PRAGMA user_version = 3;";

#[test]
fn a_file_of_an_earlier_version_is_lifted_and_loses_nothing() {
    for since in ["", SECOND_TABLES, THIRD_TABLES] {
        let file = File::new();
        // A snapshot as this program writes it; its form has not changed since.
        let made = File::new();
        let (store, _) = made.open();
        let (breaker, _recorder) = followed(&store, "a", None);
        settle(&breaker, Outcome::Failure);
        store.close();
        let snapshot = made
            .raw()
            .query_row("SELECT body FROM snapshots", [], |row| {
                row.get::<_, String>(0)
            });
        let raw = file.raw();
        raw.execute_batch(FIRST_TABLES).unwrap();
        raw.execute_batch(since).unwrap();
        let insert = "INSERT INTO snapshots VALUES ('a', 4102444800000, 1, 'open', 1, ?)";
        raw.execute(insert, [snapshot.unwrap()]).unwrap();
        drop(raw);

        // The second start finds the file as the first has left it.
        for _ in 0..2 {
            let (store, saved) = file.open();
            assert_eq!(saved.snapshots["a"].state, State::Open);
            assert_eq!(saved.unreadable, []);
            let totals = &saved.totals["a"];
            assert_eq!((totals.calls, totals.retries, totals.answered), (10, 6, 0));
            let transition = &store.transitions(10, None).unwrap()[0];
            assert_eq!((transition.id, transition.counts.slow), (7, 6));
            assert_eq!(transition.reason.as_deref(), Some("x"));
            assert_eq!((&transition.threshold, &transition.label), (&None, &None));
            assert_eq!(store.probes(10).unwrap()[0].took_ms, 12);
        }
        assert_eq!(
            file.raw()
                .pragma_query_value(None, "user_version", |row| row.get(0)),
            Ok(4)
        );
    }
}

#[test]
fn what_was_spent_is_kept_by_the_day_and_written_over() {
    let file = File::new();
    let row = |day, key: &str, requests| Spent {
        day,
        key: key.into(),
        route: "r".into(),
        target: "t".into(),
        requests,
        untold: 1,
        tokens_in: 2 * requests,
        tokens_out: u64::MAX,
    };
    let minute = |requests| Minute {
        key: "k".into(),
        minute: 9,
        requests,
        tokens: 5,
    };
    for (spent, requests) in [
        (vec![row(1, "k", 1), row(1, "", 1)], 1),
        (vec![row(2, "k", 7)], 2),
    ] {
        let (store, _) = file.open();
        let minutes = vec![minute(requests)];
        store.keep_spending(move || Spending {
            spent: spent.clone(),
            minutes: minutes.clone(),
        });
        store.close();
    }
    let (store, saved) = file.open();
    // SQLite's numbers end at half of ours.
    let kept = |day, key: &str, requests| Spent {
        tokens_out: u64::MAX / 2,
        ..row(day, key, requests)
    };
    assert_eq!(saved.spending.spent, [kept(2, "k", 7)], "the last day");
    assert_eq!(saved.spending.minutes, [minute(2)]);
    let all = [kept(2, "k", 7), kept(1, "", 1), kept(1, "k", 1)];
    assert_eq!(store.spent_since(1).unwrap(), all);
    assert_eq!(store.spent_since(2).unwrap(), all[..1]);
}
