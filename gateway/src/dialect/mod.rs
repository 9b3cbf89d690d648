//! The dialects that clients and providers speak, passed through and never translated: what they ask for, how they show keys,
//! how an answer and each event of a stream is understood, and what an error looks like.
//!
//! All that differs between them stands here. A [`Dialect`] is one family of endpoints, an [`Endpoint`] one kind of request; how
//! the answers of an endpoint are read is its speech: `chat`, `responses`, `messages` and `gemini`.

mod chat;
mod choice;
mod counted;
mod endpoint;
mod error;
mod family;
mod fault;
mod gemini;
pub mod headers;
mod messages;
mod refusal;
mod responses;
mod shape;
mod speech;
pub mod sse;
mod usage;

pub use endpoint::Endpoint;
pub(crate) use endpoint::{Asks, in_path};
pub use error::{ApiError, SHOULD_RETRY, TRIED, Tried, listed};
pub use family::Dialect;
pub use fault::Fault;
pub use refusal::{Cause, Refusal};
pub(crate) use speech::{Said, Unfit};
pub use usage::Usage;
