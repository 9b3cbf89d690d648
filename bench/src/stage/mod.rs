//! A subject set up for a workload, and the loops that call it.
//!
//! Every measured loop of the crate is in this folder.

mod crowd;
mod loops;
mod play;
mod relay;
mod set;

pub use play::{Crowd, Stage};
pub use relay::handover;
pub use set::set;
