//! A call of the day, and the line that a gateway writes of it.

use std::io::{self, Write};
use std::time::Duration;

use cutout::Outcome;
use jiff::Timestamp;

use crate::Slow;
use crate::call::Call;

/// When the day begins, in milliseconds since the epoch: 2026-01-05, midnight.
pub const BEGIN_MS: i64 = 1_767_571_200_000;

/// After how long the demo's callers give up.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The name of the upstream.
pub const UPSTREAM: &str = "alpha";

pub(super) const MS: i64 = 1_000_000;

/// A call of the day, in whole milliseconds, as logs have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DemoCall {
    /// When it began, in milliseconds since the day's begin.
    pub at_ms: u64,
    /// How long it took.
    pub took_ms: u64,
    /// The status; `None` when the caller gave up.
    pub status: Option<u16>,
}

impl DemoCall {
    /// What a breaker is told.
    pub const fn outcome(&self) -> Outcome {
        match self.status {
            None => Outcome::Timeout,
            Some(500..) => Outcome::Failure,
            Some(_) => Outcome::Success,
        }
    }

    /// The call as the replay sees it.
    pub fn call(&self, slow: &Slow, key: u32) -> Call {
        let took = self.took_ms * MS.unsigned_abs();
        let outcome = self.outcome();
        Call {
            start: (BEGIN_MS + self.at_ms as i64) * MS,
            took,
            key,
            outcome,
            label: match (outcome, self.status) {
                (Outcome::Success, _) => 0,
                (_, Some(_)) => 1,
                (_, None) => 2,
            },
            bad: outcome != Outcome::Success || slow.is_slow(UPSTREAM, took),
        }
    }

    /// Writes it as a line of the gateway's request log.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn write(&self, number: u64, to: &mut impl Write) -> io::Result<()> {
        let at = Timestamp::from_millisecond(BEGIN_MS + self.at_ms as i64).unwrap_or_default();
        let status = self
            .status
            .map_or("null".to_owned(), |status| status.to_string());
        let answered = self.status.unwrap_or(504);
        let outcome = match self.outcome() {
            Outcome::Success => "success",
            Outcome::Timeout => "timeout",
            _ => "failure",
        };
        let took = self.took_ms;
        writeln!(
            to,
            r#"{{"ts":"{at:.3}","id":"{number:08}","key":"demo","route":"chat","model":"small","target":"{UPSTREAM}","status":{answered},"duration_ms":{took},"first_byte_ms":{took},"stream":false,"tokens_in":12,"tokens_out":34,"attempts":[{{"target":"{UPSTREAM}","status":{status},"outcome":"{outcome}","duration_ms":{took}}}]}}"#
        )
    }
}
