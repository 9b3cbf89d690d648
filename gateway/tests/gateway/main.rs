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
mod matrix;
mod next;
mod outcomes;
mod passing;
mod raw;
mod reloads;
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
