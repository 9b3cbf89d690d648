//! One set of workloads, run against `cutout` and its peers.
//!
//! [`workload`] says what is measured, [`cast`] who is measured, and
//! [`stage`] runs one on the other on any number of threads. The bench targets are
//! readers of these three: criterion ([`cell`]), the contention profile
//! ([`profile`], shown by [`report`]), and the instruction counts. None has a loop of its own.
//!
//! [`chance`] measures no time: it finds out when rules open, for the core's page on how to choose one.
//! Beside them, [`simulation`] shows what breakers and throttles do for an upstream in trouble.

pub mod allocations;
pub mod arguments;
pub mod cast;
pub mod cell;
pub mod chance;
mod draws;
pub mod entry;
pub mod instructions;
pub mod pattern;
pub mod profile;
pub mod record;
pub mod report;
pub mod simulation;
pub mod stage;
pub mod subject;
pub mod threads;
pub mod traffic;
pub mod watchdog;
pub mod workload;
