//! The steps on a breaker's shared memory while its window is a time window.
//!
//! Counting an outcome and judging the window are two steps. A thread counts its outcome once, in
//! its cell. Then the same thread judges what the window holds, unless the breaker is known to be quiet.
//!
//! For example, ten failures trip the breaker and eight are counted. Threads A and B each count one more. A may judge
//! before B has counted: it sees nine. B judges after it has counted, and sees ten. Each judges after its own
//! count, so one of them sees both.

use crate::contract::outcome::Counts;
use crate::contract::state::Cause;
use crate::engine::Engine;
use crate::engine::window::count::Kind;
use crate::engine::window::time::{Counted, Timeline};
use crate::engine::word::Word;

/// What becomes of the word once an outcome is counted.
pub(crate) enum Judgement {
    Stays,
    /// Another word of the same generation: the run of failures has changed.
    Moves(Word),
    /// A rule matches, and this is what the window holds.
    Matches(Cause, Counts),
}

impl Engine {
    #[inline]
    pub(crate) fn timeline(&self) -> &Timeline {
        let timeline = self.on_demand.timeline();
        timeline.expect("room is made before a word moves to a time window")
    }

    /// Counts outcomes of a kind in the window of `word`, and says in which tick. `None` if the word's generation or its
    /// config is over.
    #[inline]
    pub(crate) fn count(&self, word: Word, outcomes: (Kind, u64), now: u64) -> Option<u64> {
        let is_current = || self.word.load().goes_with(word);
        let (side, generation) = (word.side(), word.generation());
        match self
            .timeline()
            .count(side, generation, outcomes, now, is_current)
        {
            Counted::In(tick) => Some(tick),
            Counted::Late => None,
        }
    }

    /// Whether an outcome that has been counted in `tick` cannot match any rule.
    #[inline]
    pub(crate) fn is_quiet(&self, word: Word, outcome: Kind, tick: u64) -> bool {
        let run = self.terms(word).thresholds().consecutive_failures();
        (run == 0 || (word.run() == 0 && !outcome.is_failure()))
            && self
                .timeline()
                .is_quiet(word.side(), word.generation(), outcome, tick)
    }

    /// What outcomes that have been counted make of the word. `in_run` says that the word's run of
    /// failures has them already.
    pub(crate) fn judge(&self, word: Word, outcomes: (Kind, u64), in_run: bool) -> Judgement {
        let (outcome, how_many) = outcomes;
        let (side, generation) = (word.side(), word.generation());
        let terms = self.terms(word);
        let timeline = self.timeline();
        let most = terms.thresholds().consecutive_failures();
        let run = match outcome.is_failure() {
            _ if most == 0 || in_run => word.run(),
            true => word
                .run()
                .saturating_add(how_many.min(u64::from(u32::MAX)) as u32),
            false => 0,
        };
        if most > 0 && outcome.is_failure() && run >= most {
            let counts = timeline.look(side, generation).counts;
            return Judgement::Matches(Cause::ConsecutiveFailures, counts);
        }
        if run != word.run() {
            return Judgement::Moves(word.with_run(run));
        }
        let rules = self.rules(word);
        loop {
            let look = timeline.look(side, generation);
            if let Some(cause) = rules.matching(look.counts) {
                return Judgement::Matches(cause, look.counts);
            }
            let slack = rules.slack(look.counts);
            if !self.word.load().goes_with(word) {
                return Judgement::Stays;
            }
            if !timeline.be_quiet(side, &look, slack) {
                continue;
            }
            if slack == 0 {
                // Until now others could find the breaker quiet and not judge. For example, `min_calls` is 10, this thread
                // saw nine outcomes, all failures, and a success of another thread was the tenth meanwhile: nobody but this thread
                // will judge it.
                let counts = timeline.look(side, generation).counts;
                if let Some(cause) = rules.matching(counts) {
                    return Judgement::Matches(cause, counts);
                }
            }
            return Judgement::Stays;
        }
    }

    /// What the window of `word` holds.
    pub(crate) fn counts_by_time(&self, word: Word, now: u64) -> Counts {
        self.timeline().counts(word.side(), word.generation(), now)
    }
}
