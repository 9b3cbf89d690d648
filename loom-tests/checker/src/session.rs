//! What the present thread's exploration is like: which checker schedules, and
//! which atomics it schedules.
//!
//! Both checkers run all threads of a program on the operating-system thread
//! that explores it, so a thread-local says it for all of them.

use std::cell::RefCell;
use std::collections::BTreeSet;

/// Who schedules the accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Backend {
    /// Nobody: one thread runs alone.
    #[default]
    Alone,
    /// Loom, its loads as they are.
    Loads,
    /// Loom, each load a read-modify-write that changes nothing.
    ReadModifyWrites,
    /// Shuttle.
    Shuttle,
}

/// The atomics that some thread of a program writes, by the order of their
/// creation. The others are constants while the threads run.
///
/// It is learned by running: an exploration that meets a write to what it took for a constant
/// says so, and has to be repeated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written(BTreeSet<usize>);

#[derive(Default)]
struct Session {
    backend: Backend,
    written: Written,
    /// Writes met to what was taken for a constant.
    missed: Written,
    created: usize,
    /// How many threads are running; none before and after them.
    threads: usize,
}

thread_local! {
    static SESSION: RefCell<Session> = RefCell::default();
}

fn with<R>(use_session: impl FnOnce(&mut Session) -> R) -> R {
    SESSION.with_borrow_mut(use_session)
}

/// Runs a program with no other thread around, and adds to `written` what
/// its [`concurrent`] part writes.
pub fn alone<R>(written: &mut Written, program: impl FnOnce() -> R) -> R {
    begin(Backend::Alone, Written::default());
    begin_execution();
    let result = program();
    written.0.extend(end().0);
    result
}

pub(crate) fn begin(backend: Backend, written: Written) {
    with(|session| {
        *session = Session {
            backend,
            written,
            ..Session::default()
        };
    });
}

pub(crate) fn begin_execution() {
    with(|session| (session.created, session.threads) = (0, 0));
}

/// Ends the session and gives the writes that it missed.
pub(crate) fn end() -> Written {
    with(std::mem::take).missed
}

/// Marks the part of a program that so many threads do together; writes are learned in it alone.
pub fn concurrent<R>(threads: usize, part: impl FnOnce() -> R) -> R {
    with(|session| session.threads = threads);
    let result = part();
    with(|session| session.threads = 0);
    result
}

/// How many of the program's threads are running.
pub(crate) fn threads() -> usize {
    with(|session| session.threads)
}

pub(crate) fn backend() -> Backend {
    with(|session| session.backend)
}

/// The number of a new atomic, and who schedules it.
pub(crate) fn create() -> (usize, Backend) {
    with(|session| {
        let number = session.created;
        session.created += 1;
        if session.written.0.contains(&number) {
            (number, session.backend)
        } else {
            (number, Backend::Alone)
        }
    })
}

/// Notes a write to an atomic that no one schedules.
pub(crate) fn note_write(number: usize) {
    with(|session| {
        if session.threads > 0 {
            session.missed.0.insert(number);
        }
    });
}

impl Written {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds those that a search has missed.
    pub fn add(&mut self, more: Self) {
        self.0.extend(more.0);
    }
}
