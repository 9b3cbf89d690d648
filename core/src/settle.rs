//! What a permit's outcome does.

use crate::breaker::{Breaker, Reading};
use crate::clock::{Clock, saturating_nanos};
use crate::deadline::Deadline;
use crate::outcome::{Counts, Outcome, Report, Sample, Settled};
use crate::permit::Token;
use crate::rules;
use crate::settings::{Limits, Terms};
use crate::state::{Cause, State};
use crate::sync::Relaxed;
use crate::window::count::Slot;
use crate::word::{Closed, HalfOpen, Word};

/// A permit's report on its way to the breaker.
struct Settling<'a, C> {
    token: Token,
    report: Report,
    now: Reading<'a, C>,
}

impl<C: Clock> Settling<'_, C> {
    /// Whether the call was slow, by the rule in `terms`.
    #[inline]
    fn is_slow(&self, terms: Terms<'_>) -> bool {
        let Some(limit) = terms.slow_limit() else {
            return false;
        };
        let elapsed = match (self.report.elapsed, self.token.started()) {
            (Some(elapsed), _) => saturating_nanos(elapsed),
            (None, Some(started)) => self.now.get().saturating_sub(started),
            (None, None) => return false,
        };
        elapsed >= limit
    }
}

impl<C: Clock> Breaker<C> {
    #[inline]
    pub(crate) fn settle(&self, token: Token, report: Report) -> Settled {
        // A full window of fast successes stays one: the healthy case writes nothing.
        if report.outcome == Outcome::Success
            && self
                .block
                .word
                .glance()
                .is_unmoved_by_success(token.stamp())
        {
            return Settled::Recorded;
        }
        self.settle_by_state(token, report)
    }

    /// Settles a permit that was dropped.
    #[cold]
    pub(crate) fn abandon(&self, token: Token) {
        let terms = self.settings.terms(self.block.word.load().slot());
        #[cfg(feature = "std")]
        let panicking = std::thread::panicking();
        #[cfg(not(feature = "std"))]
        let panicking = false;
        let outcome = if panicking {
            terms.panicked()
        } else {
            terms.abandoned()
        };
        self.settle(token, outcome.into());
    }

    #[inline(never)]
    fn settle_by_state(&self, token: Token, report: Report) -> Settled {
        let settling = Settling {
            token,
            report,
            now: Reading::new(self),
        };
        loop {
            let word = self.block.word.load();
            if word.stamp() != token.stamp() {
                self.stale.fetch_add(1, Relaxed);
                return Settled::Stale;
            }
            let settled = match word.state() {
                State::Closed | State::ObserveOnly if report.outcome != Outcome::Ignored => {
                    self.record(word, &settling)
                }
                State::HalfOpen => self.judge_probe(word, &settling),
                _ => Some(Settled::Ignored),
            };
            if let Some(settled) = settled {
                return settled;
            }
        }
    }

    /// Puts an outcome in the window; `None` if the word has moved meanwhile.
    #[inline]
    fn record(&self, word: Word, settling: &Settling<'_, C>) -> Option<Settled> {
        let terms = self.settings.terms(word.slot());
        let limits = terms.limits();
        let shape = limits.shape;
        let closed = word.closed(shape);
        let incoming = Slot::of(Sample {
            outcome: settling.report.outcome,
            slow: settling.is_slow(terms),
        });
        if closed.lap > 0 && closed.bad == 0 && !incoming.is_bad() {
            // As in `settle`, but a slow limit was read: it must be the one that goes with the word.
            return self.is_current(word).then_some(Settled::Recorded);
        }
        self.write_pending(word, shape, closed);
        let outgoing = if closed.lap > 0 {
            self.ring().slot(closed.cursor)
        } else {
            Slot::FAST_SUCCESS
        };
        let pushed = shape.push(closed, incoming, outgoing);
        let match_ = self.matching_rule(terms, limits, closed, pushed, outgoing);
        let Some((cause, counts)) = match_ else {
            let moved = word.with_closed(shape, pushed);
            let won = self.block.word.try_move(word, moved);
            return won.then_some(Settled::Recorded);
        };
        if word.state() == State::ObserveOnly {
            let to = word.to_observe_only(word.is_timed());
            return self.block.word.try_move(word, to).then(|| {
                self.emit(word, to, cause, None, counts, &settling.now);
                Settled::WouldTrip
            });
        }
        self.open(word, cause, 0, counts, settling)
            .then_some(Settled::Tripped)
    }

    /// The rule that matches once `pushed` follows `closed`, and what the window then holds.
    #[inline]
    fn matching_rule(
        &self,
        terms: Terms<'_>,
        limits: Limits,
        closed: Closed,
        pushed: Closed,
        outgoing: Slot,
    ) -> Option<(Cause, Counts)> {
        let Limits {
            shape,
            min_calls,
            consecutive_failures,
            floor,
        } = limits;
        // No kind of outcome is more frequent than the bad ones. In a full
        // window fewer than `floor` of them match no ratio; in one that
        // fills up, none of them match none.
        let samples = shape.samples(pushed);
        let least = if samples == shape.size() { floor } else { 1 };
        let ratio_may_match = samples >= min_calls && pushed.bad >= least;
        let run_may_match = consecutive_failures > 0
            && pushed.pending.is_failure()
            && pushed.bad >= consecutive_failures;
        if !ratio_may_match && !run_may_match {
            return None;
        }
        self.count_and_match(terms, limits, closed, pushed, outgoing)
    }

    #[cold]
    #[inline(never)]
    fn count_and_match(
        &self,
        terms: Terms<'_>,
        limits: Limits,
        closed: Closed,
        pushed: Closed,
        outgoing: Slot,
    ) -> Option<(Cause, Counts)> {
        let shape = limits.shape;
        let outgoing = if closed.lap > 0 {
            outgoing.counts()
        } else {
            Counts::default()
        };
        let counts = self
            .ring()
            .counts(shape.samples(closed))
            .shifted(pushed.pending.counts(), outgoing);
        let run = limits.consecutive_failures;
        let in_a_row = run > 0
            && pushed.pending.is_failure()
            && counts.failures >= run
            && self.ends_in_failures(limits, closed, run - 1);
        let cause = if in_a_row {
            Cause::ConsecutiveFailures
        } else {
            terms.rules().matching_ratio(counts)?
        };
        Some((cause, counts))
    }

    /// Whether the newest `run` outcomes of a window, fewer than its size, are failures.
    fn ends_in_failures(&self, limits: Limits, closed: Closed, run: u32) -> bool {
        let ring = self.ring();
        let end = closed.cursor;
        if run <= end {
            return ring.all_failures(end - run, end);
        }
        let size = limits.shape.size();
        closed.lap > 0 && ring.all_failures(0, end) && ring.all_failures(size - (run - end), size)
    }

    /// What a probe's outcome decides; `None` if the word has moved meanwhile.
    fn judge_probe(&self, word: Word, settling: &Settling<'_, C>) -> Option<Settled> {
        let terms = self.settings.terms(word.slot());
        let half_open = word.half_open();
        let out = half_open.out.saturating_sub(1);
        let verdict = match settling.report.outcome {
            Outcome::Failure => Some(Cause::ProbeFailed),
            Outcome::Timeout => Some(Cause::ProbeTimedOut),
            Outcome::Success if settling.is_slow(terms) => Some(Cause::ProbeSlow),
            Outcome::Success => None,
            Outcome::Ignored => {
                let inconclusive = half_open.inconclusive + 1;
                if inconclusive >= terms.max_inconclusive() {
                    Some(Cause::ProbesInconclusive)
                } else {
                    let freed = word.with_half_open(HalfOpen {
                        out,
                        inconclusive,
                        ..half_open
                    });
                    let won = self.block.word.try_move(word, freed);
                    return won.then_some(Settled::Ignored);
                }
            }
        };
        if let Some(cause) = verdict {
            let attempt = self
                .attempt_of(word)
                .saturating_add(u32::from(cause.is_failed_probe()));
            return self
                .open(word, cause, attempt, Counts::default(), settling)
                .then_some(Settled::Reopened);
        }
        let passed = (half_open.passed + 1).min(255);
        if passed < terms.successes_to_close() {
            let counted = word.with_half_open(HalfOpen {
                out,
                passed,
                ..half_open
            });
            let won = self.block.word.try_move(word, counted);
            return won.then_some(Settled::Recorded);
        }
        let to = word.to_closed(terms.slow_limit().is_some());
        self.block.word.try_move(word, to).then(|| {
            let now = &settling.now;
            self.emit(word, to, Cause::ProbesPassed, None, Counts::default(), now);
            Settled::Closed
        })
    }

    /// Moves the word to open; false if it has moved meanwhile.
    #[cold]
    fn open(
        &self,
        from: Word,
        cause: Cause,
        attempt: u32,
        counts: Counts,
        settling: &Settling<'_, C>,
    ) -> bool {
        let wait = match settling.report.retry_after {
            Some(wait) if settling.report.outcome != Outcome::Ignored => saturating_nanos(wait),
            _ => {
                let terms = self.settings.terms(from.slot());
                rules::open_wait(
                    &terms.open_wait(),
                    attempt,
                    self.start,
                    from.next_generation(),
                )
            }
        };
        let now = &settling.now;
        let deadline = Deadline::after(now.get(), wait);
        let to = from.to_open(cause, deadline);
        if !self.block.word.try_move(from, to) {
            return false;
        }
        self.refine_deadline(to, deadline);
        self.emit(from, to, cause, None, counts, now);
        true
    }
}
