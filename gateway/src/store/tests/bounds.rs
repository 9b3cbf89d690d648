//! What overload and time may take.

use super::*;

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
