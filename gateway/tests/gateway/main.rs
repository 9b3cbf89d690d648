//! The gateway over real sockets.

mod admin;
mod bad_input;
mod browsers;
mod changes;
mod checks;
mod doors;
mod failover;
mod outcomes;
mod passing;
mod reloads;
mod requests;
mod rig;
mod safety;
mod storm;
