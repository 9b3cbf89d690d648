//! The providers and routes of the configuration in force, and the breakers, which outlive it.

mod answers;
mod conversations;
mod fleet;
mod life;
mod provider;
mod route;
mod upstream;

pub use answers::Answers;
pub use conversations::Conversations;
pub use fleet::Fleet;
pub(crate) use fleet::{Next, is_pattern};
pub use life::Life;
pub use provider::Provider;
pub(crate) use route::choose;
pub use route::{Route, Target};
pub use upstream::{InFlight, Upstream};
