//! What stands between the callers and the upstream.

use std::sync::Arc;
use std::time::Duration;

use cutout::{
    Breaker, Config, Gate, ManualClock, OpenWait, Stages, Throttle, ThrottleConfig, Window,
};

use crate::simulation::course::Course;
use crate::simulation::peer::{Failsafe, on_its_clock};
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
    /// The breaker of `failsafe`, with the same limits as [`Breaker`](Self::Breaker).
    Failsafe,
    /// Knows the upstream, and sends what comes to a good answer.
    Ideal,
}

impl Caller {
    /// All that can be had.
    pub const ALL: [Self; 8] = [
        Self::Nothing,
        Self::Breaker,
        Self::Staged,
        Self::Ramp,
        Self::StagedRamp,
        Self::Throttle,
        Self::Both,
        Self::Failsafe,
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
            Self::Failsafe => "failsafe",
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
        let by_breaker = |config: Config| through(scenario, seed, &clock, &breaker(config));
        match self {
            Self::Nothing => through(scenario, seed, &clock, &FREE),
            Self::Breaker => by_breaker(opens_at(0.5)),
            Self::Staged => by_breaker(staged(opens_at(0.5))),
            Self::Ramp => by_breaker(ramped(opens_at(0.5))),
            Self::StagedRamp => by_breaker(ramped(staged(opens_at(0.5)))),
            Self::Throttle => through(scenario, seed, &clock, &throttle()),
            // A share of failures that a throttle leaves must not open it.
            Self::Both => {
                let pair = (breaker(opens_at(0.9)), throttle());
                through(scenario, seed, &clock, &pair)
            }
            Self::Failsafe => on_its_clock(|set| {
                let failsafe = Failsafe::new(0.5, MIN_CALLS, WINDOW, WAIT);
                run(scenario, seed, set, &failsafe, Admission::ByDoor)
            }),
            Self::Ideal => {
                let set = &mut |at| clock.set(at);
                run(scenario, seed, set, &FREE, Admission::WhatIsWell)
            }
        }
    }
}

/// Nothing that refuses anything.
const FREE: Option<Arc<Breaker>> = None;

/// Everything goes through the gate, whose clock this is.
fn through<G: Gate>(scenario: &Scenario, seed: u64, clock: &ManualClock, gate: &G) -> Course {
    run(
        scenario,
        seed,
        &mut |at| clock.set(at),
        gate,
        Admission::ByDoor,
    )
}

const WINDOW: Duration = Duration::from_secs(5);
const MIN_CALLS: u32 = 20;
const WAIT: Duration = Duration::from_secs(1);

/// That share of the calls of the last 5 s, and a wait of a second.
fn opens_at(ratio: f64) -> Config {
    Config::default().with(|config| {
        config.window = Window::time(WINDOW, 10);
        config.min_calls = Some(MIN_CALLS);
        config.failure_ratio = Some(ratio);
        config.open_wait = OpenWait::fixed(WAIT);
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
