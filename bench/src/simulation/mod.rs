//! How an upstream in trouble fares with what stands before it: by a simulated clock, the same in each run, with the
//! real breaker and the real throttle.
//!
//! `cargo run -p cutout-bench --example recovery` prints the tables and draws the pictures of the page
//! `guide::recovery`. Of the peers `failsafe` is among the callers: the others read the system's clock and no other.

pub mod caller;
pub mod course;
mod peer;
pub mod picture;
mod run;
pub mod scenario;
pub mod table;
pub mod upstream;
