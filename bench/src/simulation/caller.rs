//! What stands between the callers and the upstream.

use std::sync::Arc;
use std::time::Duration;

use cutout::{
    AnyPermit, Breaker, Config, Gate, ManualClock, OpenWait, Rejected, Report, Settled, Stages,
    Throttle, ThrottleConfig, Window,
};

use crate::simulation::course::Course;
use crate::simulation::run::{Admission, run};
use crate::simulation::scenario::Scenario;

/// Who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// Sends everything.
    Nothing,
    /// A breaker whose first good probe closes it.
    Breaker,
    /// One that recovers by stages.
    Staged,
    /// One that refuses a falling share for 8 s after it has closed.
    Ramp,
    /// By stages, then with that ramp.
    StagedRamp,
    /// A throttle.
    Throttle,
    /// A throttle behind a breaker.
    Both,
    /// Knows the upstream, and sends what comes to a good answer.
    Ideal,
}

impl Caller {
    /// All that can be had.
    pub const ALL: [Self; 7] = [
        Self::Nothing,
        Self::Breaker,
        Self::Staged,
        Self::Ramp,
        Self::StagedRamp,
        Self::Throttle,
        Self::Both,
    ];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Breaker => "breaker",
            Self::Staged => "breaker, stages",
            Self::Ramp => "breaker, ramp",
            Self::StagedRamp => "breaker, stages and ramp",
            Self::Throttle => "throttle",
            Self::Both => "breaker and throttle",
            Self::Ideal => "one who knows",
        }
    }

    /// Calls through the scenario.
    pub fn play(self, scenario: &Scenario, seed: u64) -> Course {
        let clock = ManualClock::new();
        let throttle = || {
            let builder = Throttle::builder().clock(clock.clone()).seed(seed);
            let throttle = builder.config(ThrottleConfig::default()).build();
            Arc::new(throttle.expect("a legal config"))
        };
        let breaker = |config: Config| {
            let builder = Breaker::builder().clock(clock.clone()).jitter_seed(seed);
            Arc::new(builder.config(config).build().expect("a legal config"))
        };
        let by_gate = Admission::ByGate;
        let by_breaker = |config: Config| run(scenario, seed, &clock, &breaker(config), by_gate);
        match self {
            Self::Nothing => run(scenario, seed, &clock, &Free, by_gate),
            Self::Breaker => by_breaker(opens_at(0.5)),
            Self::Staged => by_breaker(staged(opens_at(0.5))),
            Self::Ramp => by_breaker(ramped(opens_at(0.5))),
            Self::StagedRamp => by_breaker(ramped(staged(opens_at(0.5)))),
            Self::Throttle => run(scenario, seed, &clock, &throttle(), by_gate),
            Self::Both => run(
                scenario,
                seed,
                &clock,
                // A share of failures that a throttle leaves must not open it.
                &(breaker(opens_at(0.9)), throttle()),
                by_gate,
            ),
            Self::Ideal => run(scenario, seed, &clock, &Free, Admission::WhatIsWell),
        }
    }
}

/// That share of the calls of the last 5 s, and a wait of a second.
fn opens_at(ratio: f64) -> Config {
    Config::default().with(|config| {
        config.window = Window::time(Duration::from_secs(5), 10);
        config.min_calls = Some(20);
        config.failure_ratio = Some(ratio);
        config.open_wait = OpenWait::fixed(Duration::from_secs(1));
    })
}

fn staged(config: Config) -> Config {
    config.with(|config| {
        config.stages = Some(Stages {
            first: 8,
            ..Stages::default()
        });
    })
}

fn ramped(config: Config) -> Config {
    config.with(|config| config.ramp = Some(Duration::from_secs(8)))
}

/// A gate that is none.
#[derive(Clone, Copy, Debug)]
struct Free;

impl Gate for Free {
    type Permit = NoPermit;

    fn admit(&self) -> Result<NoPermit, Rejected> {
        Ok(NoPermit)
    }

    fn refusal(&self) -> Option<Rejected> {
        None
    }

    fn reject(&self, refused: Rejected) -> Rejected {
        refused
    }
}

#[derive(Debug)]
struct NoPermit;

impl AnyPermit for NoPermit {
    fn done(self, _: Report) -> Settled {
        Settled::Ignored
    }

    fn abandon(self) {}

    fn withdraw(self) {}

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}
