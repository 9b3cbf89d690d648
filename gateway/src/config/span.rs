//! Durations as people write them: `30s`, `500ms`, `1m 30s`.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Unexpected, Visitor};

/// A length of time, above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(Duration);

impl Span {
    /// So many seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// So many milliseconds.
    pub const fn millis(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }

    /// As a plain duration.
    pub const fn get(self) -> Duration {
        self.0
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_duration(self.0).fmt(f)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Written)
    }
}

struct Written;

impl Visitor<'_> for Written {
    type Value = Span;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a length of time above zero with its unit, like \"30s\" or \"500ms\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Span, E> {
        match humantime::parse_duration(text) {
            Ok(duration) if !duration.is_zero() => Ok(Span(duration)),
            _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}
