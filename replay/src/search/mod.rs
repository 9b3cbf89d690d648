//! Advice: many configs tried on the first part of a log, the best of them judged on the rest.

mod advice;
mod bootstrap;
mod candidates;
mod run;
mod subject;
mod words;

pub use advice::{Advice, Numbers, Point, Tried};
pub use bootstrap::FalseTrips;
pub use subject::Search;

/// The most calls that a search looks at: some 75 MB. Of a longer log those are its first.
pub const MOST_CALLS: usize = 3_000_000;
