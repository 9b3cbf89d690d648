//! Which conversation was served by whom, for as long as there is room to remember.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// How many conversations are remembered at least; at most twice as many.
const REMEMBERED: usize = 10_000;

/// The last conversations, by their keys' hashes.
///
/// Two maps take turns: when the young one is full it becomes the old one, and what was old and not seen since is
/// forgotten.
#[derive(Debug, Default)]
pub struct Conversations(Mutex<Maps>);

#[derive(Debug, Default)]
struct Maps {
    young: HashMap<u64, String>,
    old: HashMap<u64, String>,
}

impl Conversations {
    /// The target that served it last.
    pub fn last(&self, key: u64) -> Option<String> {
        let maps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        maps.young.get(&key).or_else(|| maps.old.get(&key)).cloned()
    }

    /// Remembers who served it; each use does, so that a conversation which goes on is not forgotten.
    pub fn remember(&self, key: u64, target: String) {
        let mut maps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if maps.young.len() >= REMEMBERED {
            maps.old = std::mem::take(&mut maps.young);
        }
        maps.young.insert(key, target);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_use_is_remembered_and_the_rest_forgotten() {
        let conversations = Conversations::default();
        for key in 0..100_000 {
            conversations.remember(key, "b".into());
            conversations.remember(7, "a".into());
        }
        assert_eq!(conversations.last(7).as_deref(), Some("a"));
        assert_eq!(conversations.last(99_999).as_deref(), Some("b"));
        assert_eq!(conversations.last(1), None);
        let maps = conversations.0.lock().unwrap();
        assert!(maps.young.len() + maps.old.len() <= 2 * REMEMBERED);
    }
}
