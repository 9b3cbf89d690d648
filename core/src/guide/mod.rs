//! Pages to read: how a breaker goes together with what else stands before an upstream, and how it works inside.
//!
//! They hold no code of the crate; their examples are compiled and run as its tests are.

pub mod choosing;
pub mod coming_from;
pub mod fallback;
pub mod fleet;
pub mod inside;
pub mod recovery;
pub mod retries;
pub mod windows;
