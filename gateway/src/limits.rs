//! How much the gateway may hold at once.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::Server;
use crate::dialect::ApiError;

/// The memory for bodies is counted in so many bytes.
pub(crate) const PAGE: usize = 1024;

/// The places for requests, streams, and the bodies of requests.
#[derive(Debug)]
pub struct Places {
    requests: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    pub(crate) memory: Arc<Semaphore>,
}

impl Places {
    /// As the configuration at the start has it.
    pub(crate) fn new(server: &Server) -> Self {
        let semaphore =
            |places: usize| Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS)));
        Self {
            requests: semaphore(server.max_requests),
            streams: semaphore(server.max_streams),
            memory: semaphore((server.max_body_memory / PAGE).max(1)),
        }
    }

    pub(crate) fn request(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        take(&self.requests, "requests")
    }

    pub(crate) fn stream(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        take(&self.streams, "streams")
    }
}

fn take(places: &Arc<Semaphore>, what: &str) -> Result<OwnedSemaphorePermit, ApiError> {
    Arc::clone(places).try_acquire_owned().map_err(|_| {
        let message = format!("the gateway has all the {what} it may have; try again soon");
        ApiError::server(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message)
            .retry_after(Duration::from_secs(1))
    })
}
