//! A day of traffic to one upstream with four kinds of trouble, made by a script: what is true is known.

mod call;
mod script;

use std::time::Duration;

use crate::call::Call;
use crate::configs::{Named, parse, presets};
use crate::input::Reading;
use crate::trouble::Trouble;
use crate::{Error, Keys, Slow};

pub use call::{BEGIN_MS, DemoCall, PATIENCE, UPSTREAM};
pub use script::Day;

use self::call::MS;

/// From how long on a call of the demo is bad.
pub const SLOW: Duration = Duration::from_secs(1);

/// The calls of the day as the replay sees them, and their one key.
pub fn calls() -> (Vec<Call>, Keys) {
    let mut keys = Keys::default();
    let key = keys.number("");
    let slow = slow();
    (Day::new().map(|call| call.call(&slow, key)).collect(), keys)
}

/// What is read of the day, as of a log.
pub fn reading(calls: &[Call]) -> Reading {
    let mut reading = Reading::of_calls(calls);
    // In the order in which the day has them first.
    for label in ["", "503", "timeout"] {
        reading.labels.number(label);
    }
    reading
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
