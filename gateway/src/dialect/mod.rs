//! What the protocol looks like: its errors, its events, and which headers pass. Today that is OpenAI's.

pub(crate) mod choice;
mod error;
pub mod headers;
mod refusal;
pub mod sse;
mod usage;

pub use error::{ApiError, SHOULD_RETRY, TRIED, Tried, listed};
pub use refusal::{Fault, Refusal};
pub use usage::Usage;
