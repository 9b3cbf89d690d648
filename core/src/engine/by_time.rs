//! The steps on a breaker's shared memory while its window is a time window.
//!
//! Counting an outcome and judging the window are two steps. An outcome is counted once, in
//! its cell; whoever counted it then judges what the window holds, unless the
//! breaker is known to be quiet. Of calls that overlap, one may judge before another
//! has counted; the other then judges with both.

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

    /// Counts so many outcomes in the window of `word`; `None` if the word's generation or its
    /// config is over. Says in which tick.
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

    /// What so many outcomes that have been counted make of the word. With `in_run`, its run of
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
                // Others may have relied on the quiet, and one of them may be the one
                // that reaches `min_calls`.
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
