//! Which of a program's threads the present one is.

use std::cell::Cell;

use crate::session::{self, Backend};

/// The most threads of a program.
pub(crate) const MOST_THREADS: usize = 3;

loom::thread_local! {
    static UNDER_LOOM: Cell<usize> = Cell::new(0);
}

shuttle::thread_local! {
    static UNDER_SHUTTLE: Cell<usize> = Cell::new(0);
}

/// Says which of the program's threads the present one is.
pub(crate) fn enter(number: usize) {
    match session::backend() {
        Backend::Shuttle => UNDER_SHUTTLE.with(|thread| thread.set(number)),
        _ => UNDER_LOOM.with(|thread| thread.set(number)),
    }
}

/// Which of the program's threads the present one is.
pub(crate) fn this() -> usize {
    match session::backend() {
        Backend::Alone => 0,
        Backend::Loads | Backend::ReadModifyWrites => UNDER_LOOM.with(Cell::get),
        Backend::Shuttle => UNDER_SHUTTLE.with(Cell::get),
    }
}
