//! What the upstream does, minute by minute.

use std::f64::consts::TAU;

use super::call::{DemoCall, PATIENCE};

/// A trouble of the script.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) from_ms: u64,
    pub(super) to_ms: u64,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Nearly all calls fail at once.
    Outage,
    /// Calls take longer and longer, up to twenty times.
    Slow,
    /// No call is answered.
    Hang,
    /// Outages of 20 seconds with 20 seconds between them.
    Flapping,
}

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

const fn part(name: &'static str, from_ms: u64, minutes: u64, kind: Kind) -> Part {
    Part {
        name,
        from_ms,
        to_ms: from_ms + minutes * MINUTE,
        kind,
    }
}

pub(super) const TROUBLES: [Part; 4] = [
    part("outage", 3 * HOUR + 10 * MINUTE, 12, Kind::Outage),
    part("slow degradation", 9 * HOUR, 40, Kind::Slow),
    part("total hang", 14 * HOUR + 30 * MINUTE, 8, Kind::Hang),
    part("flapping", 20 * HOUR, 20, Kind::Flapping),
];

/// The calls of the day in the order of their starts, the same each time.
#[derive(Debug)]
pub struct Day {
    random: fastrand::Rng,
    at_ms: f64,
    /// Until when a clump of failures lasts: quiet times have them too.
    clump_until: f64,
}

impl Day {
    /// The day from its begin.
    pub fn new() -> Self {
        Self {
            random: fastrand::Rng::with_seed(7),
            at_ms: 0.0,
            clump_until: 0.0,
        }
    }

    /// Milliseconds to the next call: 10 calls a second on average, 6 at night and 14 by day.
    fn pause(&mut self) -> f64 {
        let hour = self.at_ms / HOUR as f64;
        let rate = 10.0 - 4.0 * (hour / 24.0 * TAU).cos();
        -(1.0 - self.random.f64()).ln() * 1_000.0 / rate
    }

    /// A duration around 120 ms, with a long tail.
    fn work(&mut self) -> f64 {
        let normal =
            (-2.0 * (1.0 - self.random.f64()).ln()).sqrt() * (TAU * self.random.f64()).cos();
        120.0 * (0.4 * normal).exp()
    }

    fn call(&mut self, at_ms: u64) -> DemoCall {
        let kind = TROUBLES
            .iter()
            .find(|part| (part.from_ms..part.to_ms).contains(&at_ms));
        let work = self.work();
        let well = |took: f64| DemoCall {
            at_ms,
            took_ms: took.max(1.0) as u64,
            status: Some(200),
        };
        let failed = DemoCall {
            status: Some(503),
            ..well(work / 6.0)
        };
        let Some(part) = kind else {
            // A clump in twenty minutes or so, of a tenth of a second; and one call in two thousand by itself.
            if self.random.f64() < 1.0 / 12_000.0 {
                self.clump_until = self.at_ms + 150.0;
            }
            let bad = self.at_ms < self.clump_until || self.random.f64() < 1.0 / 2_000.0;
            return if bad { failed } else { well(work) };
        };
        let since = at_ms - part.from_ms;
        match part.kind {
            Kind::Outage if self.random.f64() < 0.95 => failed,
            Kind::Slow => {
                well(work * (1.0 + 19.0 * since as f64 / (part.to_ms - part.from_ms) as f64))
            }
            Kind::Hang => DemoCall {
                at_ms,
                took_ms: PATIENCE.as_millis() as u64,
                status: None,
            },
            Kind::Flapping if (since / 20_000).is_multiple_of(2) && self.random.f64() < 0.9 => {
                failed
            }
            Kind::Outage | Kind::Flapping => well(work),
        }
    }
}

impl Default for Day {
    fn default() -> Self {
        Self::new()
    }
}

impl Iterator for Day {
    type Item = DemoCall;

    fn next(&mut self) -> Option<DemoCall> {
        self.at_ms += self.pause();
        let at_ms = self.at_ms as u64;
        (at_ms < DAY).then(|| self.call(at_ms))
    }
}
