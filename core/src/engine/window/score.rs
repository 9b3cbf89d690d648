//! When scores were raised: what a window of scores has no room for in the word.

use core::time::Duration;

use crate::contract::evidence::Moment;
use crate::contract::snapshot::HeldScore;
use crate::engine::tagged_cell::TaggedCell;

/// Those of both scores.
#[derive(Debug, Default)]
pub(crate) struct ScoreStamps {
    pub(crate) failures: Stamps,
    pub(crate) slow: Stamps,
}

/// Two moments of one score and one generation, the latest of those that were written; each is there before the
/// word that it belongs to, so that who sees a score sees since when.
#[derive(Debug)]
pub(crate) struct Stamps {
    /// Since when it has been above zero.
    pub(crate) above_zero: Latest,
    /// When it was last raised.
    pub(crate) raised: Latest,
}

impl Default for Stamps {
    fn default() -> Self {
        Self {
            above_zero: Latest::new(),
            raised: Latest::new(),
        }
    }
}

impl Stamps {
    /// Takes over those of a snapshot; for a breaker that nobody else has.
    pub(crate) fn restore(&self, generation: u32, held: HeldScore, passed: Duration) {
        for (latest, age) in [
            (&self.above_zero, held.above_zero),
            (&self.raised, held.raised),
        ] {
            if let Some(age) = age.filter(|_| held.value > 0) {
                let moment = Moment::before(age.saturating_add(passed));
                let _ = latest.put(generation, moment, || true);
            }
        }
    }
}

/// A moment of a generation that only moves on; zero for none.
#[derive(Debug)]
pub(crate) struct Latest(TaggedCell);

impl Latest {
    fn new() -> Self {
        Self(TaggedCell::new(0, 0))
    }

    #[inline]
    pub(crate) fn get(&self, generation: u32) -> Option<Moment> {
        let moment = self.0.get(generation).filter(|&moment| moment > 0);
        moment.map(Moment)
    }

    /// Puts a moment, unless there is a later one. False if the word is not `current` any more.
    #[must_use = "what was not published may not be relied on"]
    #[inline]
    pub(crate) fn put(&self, generation: u32, moment: Moment, current: impl Fn() -> bool) -> bool {
        let latest = |newest: Option<u64>| newest.unwrap_or(0).max(moment.0).max(1);
        self.0.put(generation, current, latest)
    }
}
