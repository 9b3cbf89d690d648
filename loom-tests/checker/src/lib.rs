//! Atomics whose every access is scheduled, and the searches that do it.
//!
//! The core's sources, compiled for model checking, use [`AtomicU64`] and
//! [`relax`] of this crate in place of the standard library's; nothing else of
//! the core changes. [`explore`] then runs a small concurrent program in all the ways
//! that a [`Search`] covers.
//!
//! An atomic that no thread of the program writes is a constant there, and is
//! left out of the search. Which ones are written is found out by running: see
//! [`Written`].

mod atomic;
mod depth_first;
mod search;
mod session;
mod thread_number;
mod threads;
mod tracks;

pub use atomic::{AtomicU64, relax};
pub use depth_first::DepthFirst;
pub use search::{Explored, Search, explore};
pub use session::{Written, alone, concurrent};
pub use threads::{Thread, keep_records, keeps_records, shard, shards, together};
