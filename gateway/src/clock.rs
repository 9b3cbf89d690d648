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

/// A time in milliseconds since the Unix epoch as RFC 3339 has it, in UTC.
pub fn rfc3339(millis: u64) -> String {
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(millis));
    humantime::format_rfc3339_seconds(time.unwrap_or(UNIX_EPOCH)).to_string()
}
