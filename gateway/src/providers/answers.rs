//! Good answers, kept to answer the very same request with when nothing else is left.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use crate::dialect::Endpoint;

/// What a request and its answer may have in bytes, together, to be kept.
const LARGEST: usize = 256 << 10;

/// The very same request: what was asked, for which model, and the body.
type Key = (Endpoint, String, Bytes);

/// The last good answers, at most so many.
#[derive(Debug)]
pub struct Answers {
    limit: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    answers: HashMap<Key, Bytes>,
    /// The keys, oldest first.
    order: VecDeque<Key>,
}

impl Answers {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            kept: Mutex::default(),
        }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Keeps an answer in place of the oldest.
    pub(crate) fn keep(&self, endpoint: Endpoint, model: &str, request: &Bytes, answer: &Bytes) {
        if self.limit == 0 || request.len() + answer.len() > LARGEST {
            return;
        }
        let key = (endpoint, model.to_owned(), request.clone());
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.answers.insert(key.clone(), answer.clone()).is_none() {
            kept.order.push_back(key);
        }
        if kept.order.len() > self.limit
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.answers.remove(&oldest);
        }
    }

    /// The answer that the very same request got.
    pub(crate) fn get(&self, endpoint: Endpoint, model: &str, request: &Bytes) -> Option<Bytes> {
        if self.limit == 0 {
            return None;
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (endpoint, model.to_owned(), request.clone());
        kept.answers.get(&key).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_answer_goes_first() {
        let answers = Answers::new(2);
        let bytes = |text: &'static str| Bytes::from_static(text.as_bytes());
        for text in ["a", "b", "a", "c"] {
            answers.keep(Endpoint::Chat, "m", &bytes(text), &bytes("answer"));
        }
        assert_eq!(answers.get(Endpoint::Chat, "m", &bytes("a")), None);
        assert_eq!(
            answers.get(Endpoint::Chat, "m", &bytes("c")),
            Some(bytes("answer"))
        );
        assert_eq!(answers.get(Endpoint::Chat, "n", &bytes("c")), None);
        assert_eq!(answers.get(Endpoint::Embeddings, "m", &bytes("c")), None);
    }
}
