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
use crate::engine::window::count::Kind;
use crate::engine::window::score::Stamps;
use crate::engine::word::{Standing, Word};
use crate::engine::{Engine, Recording};

/// One of the two scores, about to be raised.
struct Raise<'a> {
    score: Score,
    value: u16,
    stamps: &'a Stamps,
}

/// What a raise has found.
enum Raised {
    To {
        value: u16,
        matches: bool,
    },
    /// The score is too old: it is zero.
    TooOld,
    /// The word has moved meanwhile.
    Moved,
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
    pub(crate) fn record_in_scores(
        &self,
        word: Word,
        incoming: Kind,
        now: impl Fn() -> u64,
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
        let mut after = before;
        let longest = terms.thresholds().consecutive_failures();
        after.run = match incoming.is_failure() && longest > 0 {
            true => (before.run + 1).min(u8::MAX.into()),
            false => 0,
        };
        let mut cause = (longest > 0 && after.run >= longest).then_some(Cause::ConsecutiveFailures);
        let mut is_raised = false;
        for (is_bad, score, value, stamps, of_score) in [
            (
                incoming.is_failure(),
                terms.failure_score(),
                &mut after.failures,
                &stamps.failures,
                Cause::FailureScore,
            ),
            (
                incoming.is_slow(),
                terms.slow_score(),
                &mut after.slow,
                &stamps.slow,
                Cause::SlowScore,
            ),
        ] {
            if !is_bad {
                *value = score.lowered(*value);
                continue;
            }
            if score.limit == 0 {
                continue;
            }
            is_raised = true;
            let raise = Raise {
                score,
                value: *value,
                stamps,
            };
            match self.raise(word, &raise, &now) {
                Raised::To {
                    value: raised,
                    matches,
                } => {
                    *value = raised;
                    cause = cause.or(matches.then_some(of_score));
                }
                Raised::TooOld => {
                    let mut reset = before;
                    match of_score {
                        Cause::FailureScore => reset.failures = 0,
                        _ => reset.slow = 0,
                    }
                    // Nothing that can be seen: whoever comes later takes it for zero as well.
                    let _ = self.word.try_move(word, word.with_standing(reset));
                    return Recording::Moved;
                }
                Raised::Moved => return Recording::Moved,
            }
        }
        if let Some(cause) = cause {
            return Recording::Matches(cause, Counts::default());
        }
        let mut to = word.with_standing(after);
        if is_raised {
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

    fn raise(&self, word: Word, raise: &Raise<'_>, now: impl Fn() -> u64) -> Raised {
        let Raise {
            score,
            value,
            stamps,
        } = *raise;
        let terms = self.terms(word);
        let (lasting, max_age) = (terms.lasting(), terms.max_age());
        let raised = score.raised(value);
        let mut matches = raised == score.limit;
        if lasting == 0 && max_age.is_none() {
            return Raised::To {
                value: raised,
                matches,
            };
        }
        let generation = word.generation();
        let is_current = || self.is_current(word);
        let now = Moment::at(now());
        if let Some(max_age) = max_age {
            let last = stamps.raised.get(generation).filter(|_| value > 0);
            if last.is_some_and(|last| now.millis_since(last) >= max_age) {
                return Raised::TooOld;
            }
            if !stamps.raised.put(generation, now, is_current) {
                return Raised::Moved;
            }
        }
        if lasting > 0 {
            let since = stamps.above_zero.get(generation);
            if (value == 0 || since.is_none())
                && !stamps.above_zero.put(generation, now, is_current)
            {
                return Raised::Moved;
            }
            let since = stamps.above_zero.get(generation);
            let Some(since) = since else {
                return Raised::Moved;
            };
            matches &= now.millis_since(since) >= lasting;
        }
        Raised::To {
            value: raised,
            matches,
        }
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
