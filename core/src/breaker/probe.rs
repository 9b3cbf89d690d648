//! What a probe's outcome does to a half-open breaker.

use crate::breaker::Breaker;
use crate::breaker::settle::EndedCall;
use crate::contract::clock::Clock;
use crate::contract::outcome::{Counts, Outcome, Settled};
use crate::contract::stages::{Stages, Verdict};
use crate::contract::state::Cause;
use crate::engine::past::MAX_ATTEMPT;
use crate::engine::word::{HalfOpen, Word};

impl<C: Clock> Breaker<C> {
    /// What a probe's outcome decides; `None` if the word has moved meanwhile.
    ///
    /// A late probe lost its lease, and with it its slot: it frees none. For example, the quota is 1, probe A's lease ran out, and probe B
    /// has A's slot. A comes back with a success: it counts as passed, and B is still out.
    pub(super) fn judge_probe(
        &self,
        word: Word,
        is_late: bool,
        ended: &EndedCall<'_, C>,
    ) -> Option<Settled> {
        let terms = self.engine.terms(word);
        let half_open = word.half_open();
        let out = half_open.out.saturating_sub(u32::from(!is_late));
        let freed = HalfOpen { out, ..half_open };
        let recovery = self.engine.recovery(word);
        let bad = match ended.outcome {
            Outcome::Failure => Some(Cause::ProbeFailed),
            Outcome::Timeout => Some(Cause::ProbeTimedOut),
            Outcome::Success | Outcome::Answered if ended.is_slow(terms) => Some(Cause::ProbeSlow),
            Outcome::Success | Outcome::Answered => None,
            Outcome::Ignored => {
                let inconclusive = half_open.inconclusive + 1;
                if inconclusive >= terms.max_inconclusive() {
                    return self.reopen(word, Cause::ProbesInconclusive, ended);
                }
                let freed = HalfOpen {
                    inconclusive,
                    ..freed
                };
                return self.free_slot(word, freed, Settled::Ignored);
            }
        };
        if let Some(cause) = bad {
            let bad = half_open.bad + 1;
            return match recovery.after_bad(half_open.passed, bad) {
                Verdict::Opens => self.reopen(word, cause, ended),
                _ => self.free_slot(word, HalfOpen { bad, ..freed }, Settled::Recorded),
            };
        }
        let passed = (half_open.passed + 1).min(Stages::MAX_OUTCOMES);
        match recovery.after_good(passed) {
            Verdict::Closes => self.close_by_probe(word, ended),
            Verdict::Passed(passed) => {
                let next = HalfOpen {
                    passed,
                    bad: 0,
                    inconclusive: 0,
                    ..freed
                };
                self.free_slot(word, next, Settled::Recorded)
            }
            _ => self.free_slot(word, HalfOpen { passed, ..freed }, Settled::Recorded),
        }
    }

    /// Opens a half-open breaker again; `None` if the word has moved meanwhile.
    fn reopen(&self, word: Word, cause: Cause, ended: &EndedCall<'_, C>) -> Option<Settled> {
        let attempt = (self.engine.attempt_of(word)? + 1).min(MAX_ATTEMPT);
        self.open(word, cause, attempt, Counts::default(), ended)
            .then_some(Settled::Reopened)
    }

    /// Closes a half-open breaker; `None` if the word has moved meanwhile.
    fn close_by_probe(&self, word: Word, ended: &EndedCall<'_, C>) -> Option<Settled> {
        let terms = self.engine.terms(word);
        let recorder = terms.recorder();
        let mut to = word.to_closed(recorder);
        if recorder.by_score {
            to = to.with_standing(terms.head_start());
        }
        let now = ended.now;
        self.engine.begin_ramping(word, to, || now.get()).then(|| {
            self.emit(word, to, Cause::ProbesPassed, None, Counts::default(), now);
            Settled::Closed
        })
    }

    /// Moves a half-open word to a payload that has one probe less out, and tells those who wait for a slot. `None` if the word has moved meanwhile.
    pub(super) fn free_slot<T>(&self, from: Word, freed: HalfOpen, answer: T) -> Option<T> {
        let to = from.with_half_open(freed);
        self.engine.word.try_move(from, to).then(|| {
            self.tell_slot_free();
            answer
        })
    }
}
