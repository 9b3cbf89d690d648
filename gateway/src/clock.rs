//! The wall clock, for people and for the database. No decision depends on it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time since the Unix epoch.
pub fn unix_time() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

/// Milliseconds since the Unix epoch.
pub fn unix_millis() -> u64 {
    unix_time().as_millis() as u64
}
