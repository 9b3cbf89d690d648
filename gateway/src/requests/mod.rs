//! What is kept of each request: a line of the log, counts for the metrics, and the traffic of the last minute.
//!
//! A [`Record`] goes with a request from its first byte in to its last byte out. Dropping it is the accounting, so that no
//! request ends unaccounted, however it ends.

mod log;
mod record;
mod sink;
mod traffic;

use std::sync::Arc;

use crate::ledger::Ledger;
pub(crate) use log::{Log, check};
pub(crate) use record::{End, Ended, Record};
pub(crate) use traffic::{Failure, Recent, RouteRecent, Traffic};

/// Where the records of requests go.
#[derive(Debug)]
pub(crate) struct Requests {
    /// A line for each.
    pub(crate) log: Log,
    /// What they came to in the last minute.
    pub(crate) traffic: Traffic,
    /// Who used what.
    pub(crate) ledger: Arc<Ledger>,
}

impl Requests {
    pub(crate) fn new(log: Log, ledger: Arc<Ledger>) -> Arc<Self> {
        Arc::new(Self {
            log,
            traffic: Traffic::default(),
            ledger,
        })
    }
}
