//! What a fake provider has seen.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::HeaderMap;

use super::mood::Mood;

/// What a fake provider has seen, and how it is.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) mood: Mutex<Mood>,
    pub(super) calls: AtomicU64,
    /// Answers that are being given.
    pub(super) open: AtomicUsize,
    /// The path, the headers and the body of the last request.
    pub(super) last: Mutex<Option<(String, HeaderMap, Bytes)>>,
}

/// Counts an answer as open until it is dropped.
pub(super) struct Open(Arc<Seen>);

impl Open {
    pub(super) fn new(seen: &Arc<Seen>) -> Self {
        seen.open.fetch_add(1, Relaxed);
        Self(Arc::clone(seen))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Relaxed);
    }
}
