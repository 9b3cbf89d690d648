//! What goes along with a request from attempt to attempt.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::ask::Ask;
use crate::dialect::Endpoint;

/// What an attempt sends and whom it tells.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) endpoint: Endpoint,
    pub(super) ask: Ask,
    /// Where comments of providers go before the first content, for streams.
    comments: Option<mpsc::Sender<Bytes>>,
    /// How many upstream calls the request may make yet.
    pub(super) left: AtomicUsize,
}

impl Way {
    pub(super) fn new(
        endpoint: Endpoint,
        ask: Ask,
        comments: Option<mpsc::Sender<Bytes>>,
        most: usize,
    ) -> Self {
        Self {
            endpoint,
            ask,
            comments,
            left: AtomicUsize::new(most),
        }
    }

    /// Hands a provider's comment on, if the client can take it.
    pub(super) fn comment(&self, comment: Bytes) {
        if let Some(comments) = &self.comments {
            // More of them at once say no more.
            let _ = comments.try_send(comment);
        }
    }

    /// How many upstream calls may be made yet.
    pub(super) fn left(&self) -> usize {
        self.left.load(Relaxed)
    }
}
