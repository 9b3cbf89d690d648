//! Health that survives: what the breakers know, kept in a database beside the binary.
//!
//! Nothing here is on the way of a request. Whoever has something to keep puts
//! it into a bounded inbox; one thread empties it into SQLite, all that is
//! there in one transaction.
//!
//! **What a kill can lose.** A transition is written as soon as the thread gets
//! to it, together with a snapshot of its breaker taken after it; so no stored
//! state is older than the last stored transition of its breaker. A kill loses
//! what was not committed yet: transitions and probe results of the last moment,
//! and up to [`Options::save_every`] of windows and totals.
//!
//! What was spent is read and written as totals are.
//!
//! **What overload can lose.** Of transitions and probe results the oldest go when
//! more than [`Options::queue`] wait; [`Status`] counts them. Snapshots and totals
//! are not queued but read from the breaker when they are written, so the latest
//! cannot be lost.
//!
//! **What it may take.** Rows older than [`Options::keep`] or beyond
//! [`Options::max_rows`] go, the oldest first, and texts are cut at 500 bytes: at most
//! some hundred bytes a row, and for each breaker a snapshot of its window.
//!
//! **Without it.** When the file cannot be opened the gateway serves without
//! ([`Store::absent`]); when writing fails later, what waits is tried again,
//! once a second at first and then less often, within the same bounds.

mod database;
mod error;
mod followed;
mod inbox;
mod numbers;
mod open;
mod options;
mod recorder;
mod rows;
mod spending;
#[cfg(test)]
mod tests;
mod values;
mod writer;

pub use database::Store;
pub use error::{Fault, StoreError};
pub use options::Options;
pub use recorder::{Recorder, Sink};
pub use values::{Minute, ProbeResult, Saved, Spending, Spent, Status, Totals};
