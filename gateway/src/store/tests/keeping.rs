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
