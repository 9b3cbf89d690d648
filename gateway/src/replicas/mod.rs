//! The other replicas of this gateway, and what they share: verdicts of breakers, operators' orders, refused keys.
//!
//! All of it is `cutout-fleet`'s, on a Redis or Valkey server. No request and no start waits for that: what comes is done to the
//! breakers from a thread beside, and while the server is away each replica goes on by itself.

mod orders;
mod refused;
mod status;
#[cfg(feature = "fleet")]
mod with;
#[cfg(not(feature = "fleet"))]
mod without;

pub(crate) use orders::Order;
pub(crate) use refused::{RefusedKey, key_name};
pub use status::Status;
#[cfg(feature = "fleet")]
pub use with::Replicas;
#[cfg(not(feature = "fleet"))]
pub use without::Replicas;
