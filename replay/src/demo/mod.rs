//! A day of traffic to one upstream with four kinds of trouble, made by a script: what is true is known.

mod script;

use std::io::{self, Write};

use cutout::Outcome;
use jiff::Timestamp;
use std::time::Duration;

use crate::call::Call;
use crate::configs::{Named, parse, presets};
use crate::trouble::Trouble;
use crate::{Error, Keys, Slow};

pub use script::Day;

/// When the day begins, in milliseconds since the epoch: 2026-01-05, midnight.
pub const BEGIN_MS: i64 = 1_767_571_200_000;

/// From how long on a call of the demo is bad.
pub const SLOW: Duration = Duration::from_secs(1);

/// After how long the demo's callers give up.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The name of the upstream.
pub const UPSTREAM: &str = "alpha";

const MS: i64 = 1_000_000;

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

/// The calls of the day as the replay sees them, and their one key.
pub fn calls() -> (Vec<Call>, Keys) {
    let mut keys = Keys::default();
    let key = keys.number("");
    let slow = slow();
    (Day::new().map(|call| call.call(&slow, key)).collect(), keys)
}

/// What is bad in the demo.
pub fn slow() -> Slow {
    let mut slow = Slow::default();
    slow.all(SLOW);
    slow
}

/// The four troubles as the script makes them.
pub fn troubles() -> Vec<Trouble> {
    let at = |ms: u64| (BEGIN_MS + ms as i64) * MS;
    script::TROUBLES
        .iter()
        .map(|trouble| Trouble {
            name: trouble.name.to_owned(),
            key: None,
            start: at(trouble.from_ms),
            end: at(trouble.to_ms),
        })
        .collect()
}

/// How long after a trouble's end its last calls may end.
pub const SLACK: Duration = PATIENCE;

/// The presets, and one config that also looks at how long calls take while they are out.
///
/// # Errors
///
/// None: the config is a file of this crate.
pub fn configs() -> Result<Vec<Named>, Error> {
    let mut configs = presets();
    configs.extend(parse(
        "watches-slowness",
        include_str!("watches-slowness.toml"),
    )?);
    Ok(configs)
}
