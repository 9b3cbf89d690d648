//! What only some configs need, beside the breaker.

use alloc::boxed::Box;

use once_cell::race::OnceBox;

use crate::contract::clock::saturating_nanos;
use crate::contract::config::{Config, Window};
use crate::contract::stages::Stages;
use crate::engine::field::Field;
use crate::engine::in_flight::InFlight;
use crate::engine::pulse::Pulse;
use crate::engine::ramp::Ramps;
use crate::engine::records::Texts;
use crate::engine::sync::{Acquire, AtomicU64, Release};
use crate::engine::window::count::{Far, NEAR_SIZE, RingAt};
use crate::engine::window::score::ScoreStamps;
use crate::engine::window::time::Timeline;

/// A pointer's worth, until a config asks for more.
#[derive(Debug, Default)]
pub(crate) struct OnDemand(OnceBox<Parts>);

#[derive(Debug, Default)]
struct Parts {
    far: OnceBox<Far>,
    timeline: OnceBox<Timeline>,
    stamps: OnceBox<ScoreStamps>,
    texts: Texts,
    in_flight: OnceBox<InFlight>,
    pulse: OnceBox<Pulse>,
    ramps: OnceBox<Ramps>,
    /// Of each side: what few configs set.
    rare: [[AtomicU64; 4]; 2],
}

/// What few configs set.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rare {
    /// The rule on a number of failures; zero for none.
    pub(crate) failures: u32,
    /// After how many nanoseconds an abandoned call is a timeout.
    pub(crate) abandoned_after: Option<u64>,
    pub(crate) stages: Option<Stages>,
    /// How many nanoseconds a ramp takes.
    pub(crate) ramp: Option<u64>,
}

const FAILURES: Field = Field::lowest(24);
const FIRST: Field = FAILURES.above(8);
const GROWTH: Field = FIRST.above(8);
/// Zero for no stages.
const UNTIL: Field = GROWTH.above(8);

impl Rare {
    fn of(config: &Config) -> Self {
        Self {
            failures: config.failures.unwrap_or(0),
            abandoned_after: config.abandoned_after.map(saturating_nanos),
            stages: config.stages,
            ramp: config.ramp.map(saturating_nanos),
        }
    }

    fn pack(self) -> [u64; 4] {
        let stages = self.stages.map_or(0, |stages| {
            FIRST.put(stages.first.into())
                | GROWTH.put(stages.growth.into())
                | UNTIL.put(stages.until.into())
        });
        [
            FAILURES.put(self.failures.into()) | stages,
            self.abandoned_after.unwrap_or(0),
            self.stages
                .map_or(0, |stages| stages.failure_ratio.to_bits()),
            self.ramp.unwrap_or(0),
        ]
    }

    fn unpack([numbers, after, ratio, ramp]: [u64; 4]) -> Self {
        let stages = Stages {
            first: FIRST.get(numbers) as u32,
            growth: GROWTH.get(numbers) as u32,
            until: UNTIL.get(numbers) as u32,
            failure_ratio: f64::from_bits(ratio),
        };
        Self {
            failures: FAILURES.get(numbers) as u32,
            abandoned_after: Some(after).filter(|&after| after > 0),
            stages: Some(stages).filter(|stages| stages.until > 0),
            ramp: Some(ramp).filter(|&ramp| ramp > 0),
        }
    }
}

impl OnDemand {
    fn parts(&self) -> &Parts {
        self.0.get_or_init(Box::default)
    }

    /// Makes room for what a config needs, and says where its ring is.
    pub(crate) fn reserve(&self, config: &Config) -> RingAt {
        let mut ring = RingAt::Near;
        match config.window {
            Window::Count(..=NEAR_SIZE) => {}
            Window::Count(size) => {
                let far = self.parts().far.get_or_init(Box::default);
                ring = RingAt::Far(far.reserve(size));
            }
            Window::Time { length, buckets } => {
                let new = || Box::new(Timeline::new(length, buckets));
                self.parts().timeline.get_or_init(new);
            }
            Window::Cusum(_) => {
                self.parts().stamps.get_or_init(Box::default);
            }
        }
        if let Some(limit) = config.shortest_limit() {
            let new = || Box::new(Pulse::new(limit));
            self.parts().pulse.get_or_init(new);
        }
        if config.ramp.is_some() {
            self.parts().ramps.get_or_init(Box::default);
        }
        if let Some(limit) = config.overdue_after() {
            let new = || Box::new(InFlight::new(limit));
            self.parts().in_flight.get_or_init(new);
        }
        ring
    }

    /// What is kept for ramps, if a config has ever had one.
    pub(crate) fn ramps(&self) -> Option<&Ramps> {
        self.0.get()?.ramps.get()
    }

    /// The readings of the clock, if calls have ever been timed.
    #[inline]
    pub(crate) fn pulse(&self) -> Option<&Pulse> {
        self.0.get()?.pulse.get()
    }

    /// Fills a side that the breaker's word does not go with.
    pub(crate) fn fill(&self, side: usize, config: &Config) {
        let values = Rare::of(config).pack();
        if values == [0; 4] && self.0.get().is_none() {
            return;
        }
        for (word, value) in self.parts().rare[side].iter().zip(values) {
            // Release: pairs with `rare`; whoever sees this value also sees that the word has
            // left the side.
            word.store(value, Release);
        }
    }

    /// What few configs set, of a side.
    pub(crate) fn rare(&self, side: usize) -> Rare {
        let Some(parts) = self.0.get() else {
            return Rare::default();
        };
        // Acquire: pairs with `fill`.
        Rare::unpack([0, 1, 2, 3].map(|word| parts.rare[side][word].load(Acquire)))
    }

    /// The words of a far ring, if there has ever been a window that needs it.
    #[inline]
    pub(crate) fn far(&self, ring: usize) -> Option<&[AtomicU64]> {
        self.0.get()?.far.get()?.words(ring)
    }

    /// The stamps of scores, if there have ever been any.
    pub(crate) fn stamps(&self) -> Option<&ScoreStamps> {
        self.0.get()?.stamps.get()
    }

    /// The texts of the records, if there has been one.
    pub(crate) fn texts(&self) -> Option<&Texts> {
        self.0.get().map(|parts| &parts.texts)
    }

    /// The texts of the records, for one more.
    pub(crate) fn texts_for_more(&self) -> &Texts {
        &self.parts().texts
    }

    /// The calls in flight, if they have ever been counted while they are.
    #[inline]
    pub(crate) fn in_flight(&self) -> Option<&InFlight> {
        self.0.get()?.in_flight.get()
    }

    /// The timeline, if there has ever been a time window.
    #[inline]
    pub(crate) fn timeline(&self) -> Option<&Timeline> {
        self.0.get()?.timeline.get()
    }
}
