//! A target that one replica leaves out for its key is left out by all that have the same key.
//!
//! It travels as an order of a name that no breaker has, so it holds for replicas that join later, for as long as the suspension
//! lasts or until a check at one of them succeeds. The name has 16 bits of a digest of key and address: a replica with another key does not
//! listen.

use std::sync::Arc;
use std::time::Duration;

use crate::suspension::{Cause, Suspension};

/// A target that is left out, as the replicas tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RefusedKey {
    /// The target with its key: [`key_name`].
    pub(crate) name: String,
    /// Which order it was.
    pub(crate) rank: (u64, Arc<str>),
    pub(super) said: String,
    pub(super) left: Duration,
}

/// What a target with its key is called. No breaker has a colon in its provider's name.
pub(crate) fn key_name(provider: &str, model: &str, digest: u16) -> String {
    format!("key:{provider}/{model}@{digest:04x}")
}

#[cfg_attr(not(feature = "fleet"), allow(dead_code, reason = "nobody is told"))]
pub(super) fn is_key(name: &str) -> bool {
    name.starts_with("key:")
}

/// What is told of a suspension.
#[cfg_attr(not(feature = "fleet"), allow(dead_code, reason = "nobody is told"))]
pub(super) fn told(suspension: &Suspension) -> String {
    let Suspension {
        cause,
        status,
        text,
        ..
    } = suspension;
    format!("{cause}, status {status}: {text}")
}

impl RefusedKey {
    pub(crate) fn suspension(&self, model: &str) -> Suspension {
        let (head, text) = self.said.split_once(": ").unwrap_or((&self.said, ""));
        let (cause, status) = head.split_once(", status ").unwrap_or((head, ""));
        let is_credit = cause == Cause::Credit.to_string();
        let cause = if is_credit { Cause::Credit } else { Cause::Key };
        let text = format!("{text} (found by {})", self.rank.1);
        let status = status.parse().unwrap_or(0);
        Suspension::new(model, cause, status, text, self.left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_of_a_suspension_is_read_as_the_same() {
        for (cause, status) in [(Cause::Key, 401), (Cause::Credit, 402)] {
            let found = Suspension::new(
                "m",
                cause,
                status,
                "no: [masked]".to_owned(),
                Duration::ZERO,
            );
            let key = RefusedKey {
                name: key_name("a", "m", 7),
                rank: (1, "pod-1".into()),
                said: told(&found),
                left: Duration::from_secs(60),
            };
            let read = key.suspension("m");
            assert_eq!((read.cause, read.status), (cause, status));
            assert_eq!(read.text, "no: [masked] (found by pod-1)");
        }
        let garbled = RefusedKey {
            name: String::new(),
            rank: (1, "x".into()),
            said: "anything".to_owned(),
            left: Duration::ZERO,
        };
        assert_eq!(garbled.suspension("m").status, 0);
    }
}
