//! The threads of a program.

use std::cell::Cell;

use crate::session::{self, Backend};
use crate::thread_number::{self, MOST_THREADS};

/// Runs the threads of a program together and gives what each one came to.
///
/// The first one is the caller's: a thread less is a good part of the search less.
///
/// # Panics
///
/// When one of them does, or when nobody schedules.
pub fn together<T: Send + 'static>(threads: Vec<Thread<T>>) -> Vec<T> {
    assert!(threads.len() <= MOST_THREADS);
    session::concurrent(threads.len(), || match session::backend() {
        Backend::Alone => panic!("threads run together only while they are explored"),
        Backend::Loads | Backend::ReadModifyWrites => run(
            numbered(threads),
            loom::thread::spawn,
            loom::thread::JoinHandle::join,
        ),
        Backend::Shuttle => run(
            numbered(threads),
            shuttle::thread::spawn,
            shuttle::thread::JoinHandle::join,
        ),
    })
}

/// Into how many shards the core divides threads.
pub fn shards() -> usize {
    2
}

/// The present thread's shard; before and after the threads, the first one.
pub fn shard() -> usize {
    if session::threads() == 0 {
        0
    } else {
        thread_number::this()
    }
}

std::thread_local! {
    static KEEPS_RECORDS: Cell<bool> = const { Cell::new(false) };
}

/// Whether a breaker keeps records of its trips in the programs that this thread explores; not unless it is
/// told so.
pub fn keeps_records() -> bool {
    KEEPS_RECORDS.get()
}

/// Says whether a breaker is to keep records of its trips.
pub fn keep_records(keep: bool) {
    KEEPS_RECORDS.set(keep);
}

/// A thread of a program.
pub type Thread<T> = Box<dyn FnOnce() -> T + Send>;

fn numbered<T: 'static>(threads: Vec<Thread<T>>) -> Vec<Thread<T>> {
    let numbered = threads.into_iter().enumerate().map(|(number, thread)| {
        let numbered: Thread<T> = Box::new(move || {
            thread_number::enter(number);
            thread()
        });
        numbered
    });
    numbered.collect()
}

fn run<T, H>(
    threads: Vec<Thread<T>>,
    spawn: impl Fn(Thread<T>) -> H,
    join: impl Fn(H) -> std::thread::Result<T>,
) -> Vec<T> {
    let mut threads = threads.into_iter();
    let first = threads.next();
    let others: Vec<H> = threads.map(spawn).collect();
    let first = first.map(|first| first());
    let others = others
        .into_iter()
        .map(|handle| join(handle).expect("a thread of the program"));
    first.into_iter().chain(others).collect()
}
