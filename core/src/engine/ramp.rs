//! The way back to all of its calls, for an upstream that has recovered: a share of them that grows evenly from none.
//!
//! A breaker that begins a ramp as it closes has a word that is timed, so that calls leave the fast path and look. Who finds that the
//! ramp is over ends it, and makes the word what it is otherwise. When it began is in a cell of the generation.

use crate::contract::state::State;
use crate::engine::Engine;
use crate::engine::sync::{AtomicU64, Relaxed};
use crate::engine::tagged_cell::TaggedCell;
use crate::engine::word::Word;

/// The share that is admitted so long after the recovery, in 2^-64; `None` if that is all.
pub(crate) fn share(passed: u64, ramp: u64) -> Option<u64> {
    (passed < ramp).then(|| ((u128::from(passed) << 64) / u128::from(ramp)) as u64)
}

/// The part of a call that shares have added up to, in 2^-64. So calls are admitted at even distances, and no more
/// than the share.
#[derive(Debug, Default)]
pub(crate) struct Credit(AtomicU64);

impl Credit {
    /// Whether a call is within this share.
    pub(crate) fn admits(&self, share: u64) -> bool {
        // Relaxed: it orders nothing; each call adds its own part.
        let before = self.0.fetch_add(share, Relaxed);
        before.checked_add(share).is_none()
    }
}

/// When a ramp began, in milliseconds, with a bias so that one of before a restart can be told. Zero is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Begun(u64);

impl Begun {
    const BIAS: u64 = 1 << 40;
    const NANOS: u64 = 1_000_000;

    pub(crate) const fn at(now: u64) -> Self {
        let at = Self::BIAS + now / Self::NANOS;
        Self(if at < TaggedCell::MAX {
            at
        } else {
            TaggedCell::MAX
        })
    }

    /// So many nanoseconds before the breaker was built.
    pub(crate) const fn before_start(passed: u64) -> Self {
        let before = Self::BIAS.saturating_sub(passed / Self::NANOS);
        Self(if before == 0 { 1 } else { before })
    }

    const fn passed(self, now: u64) -> u64 {
        match self.0.checked_sub(Self::BIAS) {
            Some(at) => now.saturating_sub(at.saturating_mul(Self::NANOS)),
            None => now.saturating_add((Self::BIAS - self.0) * Self::NANOS),
        }
    }
}

/// What a breaker keeps for its ramps: when they began, for even generations and for odd ones.
#[derive(Debug)]
pub(crate) struct Ramps {
    begun: [TaggedCell; 2],
    credit: Credit,
}

impl Default for Ramps {
    fn default() -> Self {
        Self {
            begun: [(); 2].map(|()| TaggedCell::new(0, 0)),
            credit: Credit::default(),
        }
    }
}

impl Ramps {
    fn cell(&self, generation: u32) -> &TaggedCell {
        &self.begun[generation as usize % 2]
    }

    fn begun(&self, generation: u32) -> Option<Begun> {
        let begun = self.cell(generation).get(generation)?;
        Some(Begun(begun)).filter(|&Begun(at)| at > 0)
    }

    /// Of a generation that nobody else has yet, or while the word is `current`.
    #[must_use = "what was not published may not be relied on"]
    pub(crate) fn begin(&self, generation: u32, begun: Begun, current: impl Fn() -> bool) -> bool {
        // Two threads may try to begin the same generation, by readings a little apart: the later one stays.
        let later = |latest: Option<u64>| latest.unwrap_or(0).max(begun.0);
        self.cell(generation).put(generation, current, later)
    }
}

/// Where a closed breaker is on its ramp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnRamp {
    /// There is none.
    No,
    /// It is over, and has not been ended.
    Over,
    /// This share is admitted, and it has so many nanoseconds left.
    Yes { share: u64, left: u64 },
}

impl Engine {
    /// Where the breaker of a closed word is on its ramp. It holds if the word has not moved after this.
    pub(crate) fn on_ramp(&self, word: Word, now: u64) -> OnRamp {
        let (Some(ramp), Some(begun)) = (self.on_demand.rare(word.side()).ramp, self.begun(word))
        else {
            return OnRamp::No;
        };
        let passed = begun.passed(now);
        match share(passed, ramp) {
            Some(share) => OnRamp::Yes {
                share,
                left: ramp - passed,
            },
            None => OnRamp::Over,
        }
    }

    fn begun(&self, word: Word) -> Option<Begun> {
        self.on_demand.ramps()?.begun(word.generation())
    }

    /// Whether a call is within this share.
    pub(crate) fn ramp_admits(&self, share: u64) -> bool {
        self.on_demand
            .ramps()
            .is_none_or(|ramps| ramps.credit.admits(share))
    }

    /// Ends a ramp that is over, so that a clock that steps back does not bring it back, and moves the word to one that is as
    /// without it. False if the word has moved meanwhile.
    #[cold]
    pub(crate) fn end_ramp(&self, word: Word) -> bool {
        let Some(ramps) = self.on_demand.ramps() else {
            return true;
        };
        let generation = word.generation();
        let timed = self.terms(word).is_timed();
        ramps
            .cell(generation)
            .put(generation, || self.is_current(word), |_| 0)
            && self.word.try_move(word, word.timed_if(timed))
    }

    /// As [`begin`](Self::begin), for a closed generation: with a ramp, if the config has one and the state before rejected calls.
    /// One that is under way goes on.
    #[must_use = "only the winner of a move may act on it"]
    pub(crate) fn begin_closed(&self, from: Word, to: Word, now: u64) -> bool {
        let begun = match from.state() {
            State::Open | State::HalfOpen | State::ForcedOpen => Some(Begun::at(now)),
            State::Closed => self.begun(from),
            State::Disabled | State::ObserveOnly => None,
        };
        let (Some(begun), true, Some(ramps)) =
            (begun, self.terms(to).ramps(), self.on_demand.ramps())
        else {
            return self.begin(from, to);
        };
        ramps.begin(to.generation(), begun, || self.is_current(from))
            && self.begin(from, to.timed_if(true))
    }

    /// A word of the same generation by another config: timed, if that has a ramp and one is under way.
    pub(crate) fn keeping_ramp(&self, from: Word, to: Word) -> Word {
        let goes_on = from.state() == State::Closed
            && to.generation() == from.generation()
            && self.terms(to).ramps()
            && self.begun(from).is_some();
        if goes_on { to.timed_if(true) } else { to }
    }
}
