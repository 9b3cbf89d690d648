//! Who waits for a subject, and for how long.
//!
//! No thread can be stopped from outside, so a subject that gives no answer takes its process with
//! it. Therefore cells are measured in processes of their own.

use std::process;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The exit status of a process whose subject gave no number.
pub const NO_NUMBER: i32 = 3;

/// What is said of a subject that gave no answer.
pub fn no_answer(patience: Duration) -> String {
    format!("no answer within {} s", patience.as_secs())
}

/// Does the work. If it takes longer than that, `give_up` is called and the process ends with [`NO_NUMBER`].
pub fn watch<R>(patience: Duration, give_up: impl FnOnce() + Send, work: impl FnOnce() -> R) -> R {
    let (working, waits) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            // Whether the work returns or panics, its end of the channel is dropped.
            if waits.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                give_up();
                process::exit(NO_NUMBER);
            }
        });
        let _working = working;
        work()
    })
}
