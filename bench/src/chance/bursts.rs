//! What bursts do to rules whose odds were told of failures that are independent of each other.

use std::fmt::Write as _;
use std::time::Duration;

use cutout::{Breaker, Config, Cusum, ManualClock, Outcome, Score, Settled};

use super::text::calls;
use crate::draws::Draws;

/// The time from one call to the next: a hundred in a second.
const BETWEEN: Duration = Duration::from_millis(10);

/// How many calls of an upstream that is well are made.
const CALLS: u32 = 10_000_000;

/// How often an outage is begun, to see when it is found.
const OUTAGES: u32 = 2_000;

/// How calls come to fail while all is well: one in a hundred, either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upstream {
    /// Each by itself.
    Independent,
    /// One in 500 by itself. The others in stalls, in each of which 4 to 12 calls one after another fail: a tenth of a second.
    Bursty,
}

impl Upstream {
    const LONE: f64 = 0.002;
    const STALL: (u64, u64) = (4, 12);

    /// The next call, and how many of the present stall are left after it.
    fn next(self, stall: u64, draws: &mut Draws) -> (Outcome, u64) {
        if self == Self::Independent {
            return (draws.outcome(0.01), 0);
        }
        let (least, most) = Self::STALL;
        let mean = least.midpoint(most) as f64;
        if stall > 0 {
            return (Outcome::Failure, stall - 1);
        }
        match draws.happens((0.01 - Self::LONE) / mean) {
            true => (Outcome::Failure, least - 1 + draws.any_of(most - least + 1)),
            false => (draws.outcome(Self::LONE), 0),
        }
    }
}

/// What bursts do to a rule.
#[derive(Clone, Debug)]
pub struct Bursts {
    name: &'static str,
    config: Config,
}

impl Bursts {
    /// All rules of the table.
    pub fn all() -> Vec<Self> {
        let score = Score::for_rates(0.01, 0.3, 1e9).expect("the shares are far apart");
        let lasting = |millis| {
            let scores = Cusum::of_failures(score).lasting(Duration::from_millis(millis));
            Config::cusum(scores)
        };
        let five = Config::default().with(|config| {
            config.failure_ratio = None;
            config.consecutive_failures = Some(5);
        });
        [
            ("`Config::default()`: 10 of 20", Config::default()),
            (
                "`Config::high_traffic()`: a fifth of 1000",
                Config::high_traffic(),
            ),
            ("`Config::low_traffic()`: 3 in a row", Config::low_traffic()),
            ("5 in a row", five),
            (
                "`Config::for_rates(0.01, 0.3, 1e9)`, lasting 0 s",
                lasting(0),
            ),
            ("the same, 0.5 s (as it comes)", lasting(500)),
            ("the same, 1 s", lasting(1000)),
        ]
        .map(|(name, config)| Self { name, config })
        .into()
    }

    /// The row of the table.
    pub fn row(&self) -> String {
        let [independent, bursty] = [Upstream::Independent, Upstream::Bursty].map(|upstream| {
            let trips = self.false_trips(upstream, CALLS);
            match trips {
                0 => "none in 10⁷".into(),
                trips => calls(f64::from(CALLS) / f64::from(trips)),
            }
        });
        let [at_30, at_all] = [0.3, 1.0].map(|share| format!("{:.2} s", self.seconds(share)));
        format!(
            "| {} | {independent} | {bursty} | {at_30} | {at_all} |\n",
            self.name
        )
    }

    /// How often it opens in so many calls though all is well. Each time it is closed again after half a minute without calls.
    pub fn false_trips(&self, upstream: Upstream, calls: u32) -> u32 {
        let (clock, breaker) = self.breaker();
        let mut draws = Draws::new(1);
        let (mut stall, mut trips) = (0, 0);
        for _ in 0..calls {
            clock.advance(BETWEEN);
            let outcome;
            (outcome, stall) = upstream.next(stall, &mut draws);
            let settled = breaker.allow().map(|permit| permit.done(outcome));
            if settled.is_ok_and(|settled| settled == Settled::Tripped) {
                trips += 1;
                stall = 0;
                clock.advance(Duration::from_secs(30));
                breaker.close("it was well");
            }
        }
        trips
    }

    /// How long an outage in which such a share of calls fails lasts before it is found, on average.
    fn seconds(&self, share: f64) -> f64 {
        let (clock, breaker) = self.breaker();
        let mut draws = Draws::new(2);
        let mut calls = 0_u64;
        for _ in 0..OUTAGES {
            breaker.close("the next outage");
            let done = |outcome| {
                clock.advance(BETWEEN);
                let settled = breaker.allow().map(|permit| permit.done(outcome));
                settled.is_ok_and(|settled| settled == Settled::Tripped)
            };
            for _ in 0..1000 {
                done(Outcome::Success);
            }
            calls += 1;
            while !done(draws.outcome(share)) {
                calls += 1;
            }
        }
        calls as f64 / f64::from(OUTAGES) * BETWEEN.as_secs_f64()
    }

    fn breaker(&self) -> (ManualClock, Breaker<ManualClock>) {
        let clock = ManualClock::new();
        let builder = Breaker::builder().config(self.config).clock(clock.clone());
        (clock, builder.build().expect("the rules are legal"))
    }
}

/// The table of all rules.
pub(super) fn table() -> String {
    let mut text = String::from(
        "| rule | calls between false trips, independent failures | the same share in bursts | an outage of 30 % found after | one of all |\n\
         | --- | --- | --- | --- | --- |\n",
    );
    for rule in Bursts::all() {
        let _ = text.write_str(&rule.row());
    }
    text
}
