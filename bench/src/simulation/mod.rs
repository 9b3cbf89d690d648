//! How an upstream in trouble fares with what stands before it: by a simulated clock, the same in each run, with the
//! real breaker and the real throttle.
//!
//! `cargo run -p cutout-bench --example recovery` prints the tables and draws the pictures of the page
//! `guide::recovery`. Peers are not among the callers.

pub mod caller;
pub mod course;
pub mod picture;
mod run;
pub mod scenario;
pub mod table;
pub mod upstream;
