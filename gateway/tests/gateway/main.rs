//! The gateway over real sockets.

mod admin;
mod bad_input;
mod browsers;
mod changes;
mod checks;
mod choosing;
mod dialects;
mod doors;
mod failover;
mod fault;
mod http2;
mod matrix;
mod next;
mod outcomes;
mod passing;
mod proxied;
mod raw;
mod reloads;
#[cfg(feature = "fleet")]
mod replicas;
mod requests;
mod rig;
mod safety;
mod shapes;
mod silence;
mod spending;
mod storm;
mod streaming;
mod throttle;
mod tls;
