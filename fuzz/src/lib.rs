//! What the fuzz targets do with their input. The corpora are replayed by
//! ordinary tests too: `core/tests/corpus.rs` includes this file.
//!
//! Input is read by `arbitrary`; bytes that are not enough for a value read as zeros.

mod config;
// The tests use all of it.
#[allow(dead_code)]
#[path = "../../core/tests/lockstep/mod.rs"]
mod lockstep;
mod operations;
mod snapshot;
mod values;
mod window;

pub use config::config;
pub use operations::operations;
pub use snapshot::snapshot;
pub use window::window;
