//! When something must have ended, and by which limit.

use std::time::Duration;

use tokio::time::Instant;

use super::failed::{Failed, Limit};

const FOREVER: Duration = Duration::from_secs(1 << 30);

/// The end of a limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    pub(super) at: Instant,
    limit: Limit,
    after: Duration,
}

impl Due {
    pub(super) fn in_time(limit: Limit, after: Duration) -> Self {
        let now = Instant::now();
        // A time that no clock can tell is as good as none.
        let at = now.checked_add(after).unwrap_or(now + FOREVER);
        Self { at, limit, after }
    }

    pub(super) fn first(self, other: Self) -> Self {
        if other.at < self.at { other } else { self }
    }

    /// That it has passed.
    pub(super) fn passed(self) -> Failed {
        Failed::TimedOut(self.limit, self.after)
    }
}
