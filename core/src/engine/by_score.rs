//! The steps on a breaker's shared memory while its window keeps scores.
//!
//! The scores are in the word, so that an outcome is one move of it, and a good one reads nothing else. One that
//! raises a score reads the times of earlier raises from cells beside the word, and writes its own time there *before* the
//! move. If the move succeeds, the times it read were current: every raise changes the word, by its
//! revision, even where the score is at its limit already.

use crate::contract::evidence::Moment;
use crate::contract::outcome::Counts;
use crate::contract::score::Score;
use crate::contract::snapshot::{HeldScore, Scores};
use crate::contract::state::Cause;
use crate::engine::field::seldom;
use crate::engine::window::count::Kind;
use crate::engine::window::score::Stamps;
use crate::engine::word::{Standing, Word};
use crate::engine::{Engine, Recording};

/// The time, and a reading that costs less and may be a little old: see [`Clock::recent`](crate::Clock::recent).
pub(crate) struct Times<N, R> {
    pub(crate) now: N,
    pub(crate) recent: R,
}

/// From this greatest age on, in milliseconds, a reading that may be 50 ms old says well enough how old a score is.
const LONG_AGE: u64 = 5000;

/// What an outcome makes of one of the two scores.
enum Step {
    To {
        value: u16,
        is_raised: bool,
        matches: bool,
    },
    /// The score is too old: it is zero.
    TooOld,
    /// The word has moved meanwhile.
    Moved,
}

impl Step {
    #[inline]
    const fn lower(score: Score, value: u16) -> Self {
        Self::To {
            value: score.lowered(value),
            is_raised: false,
            matches: false,
        }
    }
}

impl Engine {
    /// Lowers the scores by a fast success. False if the word has moved meanwhile.
    #[inline]
    pub(crate) fn lower_scores(&self, word: Word) -> bool {
        let terms = self.terms(word);
        let standing = word.standing();
        let lowered = word.with_standing(Standing {
            failures: terms.failure_score().lowered(standing.failures),
            slow: terms.slow_score().lowered(standing.slow),
            run: 0,
        });
        if lowered == word {
            self.is_current(word)
        } else {
            self.word.try_move(word, lowered)
        }
    }

    /// Moves the scores by an outcome, unless a rule matches then. Reads the clock if it
    /// raises one whose times matter.
    #[inline]
    pub(crate) fn record_in_scores<N: Fn() -> u64, R: Fn() -> u64>(
        &self,
        word: Word,
        incoming: Kind,
        times: &Times<N, R>,
    ) -> Recording {
        if !incoming.is_bad() {
            return match self.lower_scores(word) {
                true => Recording::Done,
                false => Recording::Moved,
            };
        }
        let terms = self.terms(word);
        let Some(stamps) = self.on_demand.stamps() else {
            // There is room before a word moves to such a window.
            return Recording::Moved;
        };
        let before = word.standing();
        let longest = terms.thresholds().consecutive_failures();
        let run = match incoming.is_failure() && longest > 0 {
            true => (before.run + 1).min(u8::MAX.into()),
            false => 0,
        };
        let mut after = Standing { run, ..before };
        let mut cause = (longest > 0 && run >= longest).then_some(Cause::ConsecutiveFailures);
        let mut any_raised = false;

        let (score, value) = (terms.failure_score(), before.failures);
        let step = match incoming.is_failure() {
            true => self.raise(word, score, value, &stamps.failures, times),
            false => Step::lower(score, value),
        };
        match step {
            Step::To {
                value,
                is_raised,
                matches,
            } => {
                after.failures = value;
                any_raised |= is_raised;
                cause = cause.or(matches.then_some(Cause::FailureScore));
            }
            Step::TooOld => {
                let failures = 0;
                return self.forget(word, Standing { failures, ..before });
            }
            Step::Moved => return Recording::Moved,
        }
        let (score, value) = (terms.slow_score(), before.slow);
        if score.limit > 0 {
            let step = match incoming.is_slow() {
                true => self.raise(word, score, value, &stamps.slow, times),
                false => Step::lower(score, value),
            };
            match step {
                Step::To {
                    value,
                    is_raised,
                    matches,
                } => {
                    after.slow = value;
                    any_raised |= is_raised;
                    cause = cause.or(matches.then_some(Cause::SlowScore));
                }
                Step::TooOld => return self.forget(word, Standing { slow: 0, ..before }),
                Step::Moved => return Recording::Moved,
            }
        }
        if let Some(cause) = cause {
            return Recording::Matches(cause, Counts::default());
        }
        let mut to = word.with_standing(after);
        if any_raised {
            to = to.revised();
        }
        let is_done = if to == word {
            self.is_current(word)
        } else {
            self.word.try_move(word, to)
        };
        if is_done {
            Recording::Done
        } else {
            Recording::Moved
        }
    }

    /// Makes a score zero that is too old.
    #[cold]
    fn forget(&self, word: Word, left: Standing) -> Recording {
        // Nothing that can be seen: whoever comes later takes it for zero as well.
        let _ = self.word.try_move(word, word.with_standing(left));
        Recording::Moved
    }

    /// Raises a score. Its times are written before the word is moved.
    #[inline]
    fn raise<N: Fn() -> u64, R: Fn() -> u64>(
        &self,
        word: Word,
        score: Score,
        value: u16,
        stamps: &Stamps,
        times: &Times<N, R>,
    ) -> Step {
        let is_raised = score.limit > 0;
        if !is_raised {
            return Step::lower(score, value);
        }
        let terms = self.terms(word);
        let (lasting, max_age) = (terms.lasting(), terms.max_age());
        let raised = score.raised(value);
        let mut matches = raised == score.limit;
        let step = |matches| Step::To {
            value: raised,
            is_raised,
            matches,
        };
        if lasting == 0 && max_age.is_none() {
            return step(matches);
        }
        let generation = word.generation();
        let is_current = || self.is_current(word);
        // How long a score has lasted is judged by its first raise and by those at the limit.
        let decides = lasting > 0 && (value == 0 || matches);
        let now = Moment::at(match max_age {
            Some(LONG_AGE..) if !decides => (times.recent)(),
            _ => (times.now)(),
        });
        if let Some(max_age) = max_age {
            let last = stamps.raised.get(generation).filter(|_| value > 0);
            if last.is_some_and(|last| now.millis_since(last) >= max_age) {
                return Step::TooOld;
            }
            if !stamps.raised.put(generation, now, is_current) {
                return Step::Moved;
            }
        }
        if lasting > 0 {
            let mut since = stamps.above_zero.get(generation).filter(|_| value > 0);
            if since.is_none() {
                seldom();
                if !stamps.above_zero.put(generation, now, is_current) {
                    return Step::Moved;
                }
                since = stamps.above_zero.get(generation);
            }
            matches &= since.is_some_and(|since| now.millis_since(since) >= lasting);
        }
        step(matches)
    }

    /// The scores of a word that has some, as a snapshot has them.
    pub(crate) fn scores(&self, word: Word, now: u64) -> Scores {
        let standing = word.standing();
        let held = |value: u16, stamps: Option<&Stamps>| {
            let stamps = stamps.filter(|_| value > 0);
            let age = |moment: Option<Moment>| moment.map(|moment| moment.age(now));
            HeldScore {
                value: value.into(),
                above_zero: age(stamps.and_then(|stamps| stamps.above_zero.get(word.generation()))),
                raised: age(stamps.and_then(|stamps| stamps.raised.get(word.generation()))),
            }
        };
        let stamps = self.on_demand.stamps();
        Scores {
            failures: held(standing.failures, stamps.map(|stamps| &stamps.failures)),
            slow: held(standing.slow, stamps.map(|stamps| &stamps.slow)),
        }
    }
}
