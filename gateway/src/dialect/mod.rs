//! What the protocol looks like: its errors, its events, and which headers pass. Today that is OpenAI's.

mod error;
pub mod headers;
pub mod sse;
mod usage;

pub use error::{ApiError, TRIED, Tried, listed};
pub use usage::Usage;
