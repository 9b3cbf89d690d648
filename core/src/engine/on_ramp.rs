//! The steps of a ramp on a breaker's shared memory.
//!
//! A breaker that begins a ramp as it closes has a word that is timed, so that calls leave the fast path and look. Who finds that the
//! ramp is over ends it, and makes the word what it is otherwise. When it began is in a cell of the generation.

use crate::contract::state::State;
use crate::engine::Engine;
use crate::engine::ramp::{Begun, share};
use crate::engine::word::Word;

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

    /// A config without a ramp ends one, so that none is under way by it, whatever the cell says.
    fn begun(&self, word: Word) -> Option<Begun> {
        let ramps = self.on_demand.ramps()?;
        let has_ramp = self.terms(word).ramps();
        has_ramp.then(|| ramps.begun(word.generation()))?
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
        ramps.end(generation, || self.is_current(word))
            && self.word.try_move(word, word.timed_if(timed))
    }

    /// As [`begin`](Self::begin). A closed generation begins with a ramp, if the config has one and the state before rejected calls.
    /// One that is under way goes on.
    #[must_use = "only the winner of a move may act on it"]
    pub(crate) fn begin_ramping(&self, from: Word, to: Word, now: impl FnOnce() -> u64) -> bool {
        if to.state() != State::Closed || to.generation() == from.generation() {
            return self.begin(from, to);
        }
        let begun = match from.state() {
            State::Open | State::HalfOpen | State::ForcedOpen => Some(Begun::at(now())),
            State::Closed => self.begun(from),
            State::Disabled | State::ObserveOnly => None,
        };
        let (true, Some(ramps)) = (self.terms(to).ramps(), self.on_demand.ramps()) else {
            return self.begin(from, to);
        };
        let (generation, current) = (to.generation(), || self.is_current(from));
        match begun {
            Some(begun) => {
                ramps.begin(generation, begun, current) && self.begin(from, to.timed_if(true))
            }
            // An attempt that has failed may have left one there.
            None => ramps.end(generation, current) && self.begin(from, to),
        }
    }

    /// A word of the same generation by another config: timed, if that has a ramp and one is under way. `None` if the word has moved
    /// meanwhile.
    pub(crate) fn keeping_ramp(&self, from: Word, to: Word) -> Option<Word> {
        let ramps = match self.on_demand.ramps() {
            Some(ramps) if from.state() == State::Closed && self.terms(to).ramps() => ramps,
            _ => return Some(to),
        };
        if self.begun(from).is_some() {
            return Some(to.timed_if(true));
        }
        // By the config so far there is none. What one before it has left in the cell does not come back.
        let is_ended = ramps.end(from.generation(), || self.is_current(from));
        is_ended.then_some(to)
    }
}
