//! Files that are locked, damaged, strange, full or missing.

use super::*;

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
