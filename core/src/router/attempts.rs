//! What one request has tried so far.

use alloc::vec::Vec;
use core::hash::Hash;

use super::sticky;

/// What one request has tried: which targets it is not sent to again.
///
/// Make one for each request and hand it to [`Router::choose`](super::Router::choose) each time.
/// It allocates from the ninth target on.
///
/// # Examples
///
/// ```
/// use cutout::router::Attempts;
///
/// let attempts = Attempts::for_key("user 4711");
/// assert_eq!(attempts.tried(), 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Attempts {
    key: Option<u64>,
    canary: Option<bool>,
    len: usize,
    few: [u64; Self::FEW],
    more: Vec<u64>,
}

impl Attempts {
    const FEW: usize = 8;

    /// Nothing tried, and no key.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Nothing tried, and a key by which [`Policy::Sticky`](super::Policy::Sticky) and
    /// the canary's share go. The same key hashes the same in every process, on machines of one kind.
    pub fn for_key(key: impl Hash) -> Self {
        Self::for_hash(sticky::hash(&key))
    }

    /// As [`for_key`](Self::for_key), for a key that is hashed already.
    #[inline]
    pub fn for_hash(hash: u64) -> Self {
        Self {
            key: Some(hash),
            ..Self::default()
        }
    }

    /// How many targets have been tried.
    #[inline]
    pub fn tried(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn key(&self) -> Option<u64> {
        self.key
    }

    /// Whether the request is one of the canary's, which is decided once.
    pub(super) fn is_canary(&mut self, decide: impl FnOnce(Option<u64>) -> bool) -> bool {
        *self.canary.get_or_insert_with(|| decide(self.key))
    }

    pub(super) fn has_tried(&self, id: u64) -> bool {
        self.few[..self.len.min(Self::FEW)].contains(&id) || self.more.contains(&id)
    }

    #[inline]
    pub(super) fn add(&mut self, id: u64) {
        match self.few.get_mut(self.len) {
            Some(free) => *free = id,
            None => self.more.push(id),
        }
        self.len += 1;
    }
}
