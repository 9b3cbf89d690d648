//! What a permit's outcome does, from the fast path down to the rare cases: a healthy success (`settle_as`), an outcome in
//! a count window (`Engine::record_untimed`) or a time window (`settle_by_time`), all the rest (`settle_by_state`).

use core::time::Duration;

use crate::breaker::token::{Dropped, Token};
use crate::breaker::{Breaker, Match, Reading};
use crate::contract::clock::{Clock, saturating_nanos};
use crate::contract::evidence::Moment;
use crate::contract::outcome::{Counts, Outcome, Report, Sample, Settled};
use crate::contract::rules;
use crate::contract::state::{Cause, State};
use crate::engine::Recording;
use crate::engine::by_score::Times;
use crate::engine::by_time::Judgement;
use crate::engine::in_flight::Return;
use crate::engine::records::TripRecord;
use crate::engine::settings::Terms;
use crate::engine::sync::Relaxed;
use crate::engine::wait::Wait;
use crate::engine::window::count::Kind;
use crate::engine::word::Word;

/// A call that has ended: its permit's token, what is reported of it, and the time of the report.
pub(crate) struct EndedCall<'a, C> {
    pub(crate) token: Token,
    /// What it counts as, which may not be what was said.
    pub(crate) outcome: Outcome,
    /// What else was said. By reference, since a label makes it large.
    pub(crate) said: &'a Report,
    pub(crate) now: &'a Reading<'a, C>,
}

impl<C: Clock> EndedCall<'_, C> {
    /// Whether the call was slow, by the rule in `terms`.
    #[inline]
    pub(super) fn is_slow(&self, terms: Terms<'_>) -> bool {
        let Some(limit) = terms.slow_limit() else {
            return false;
        };
        let ran = |started| self.now.running().saturating_sub(started);
        let elapsed = match (self.said.elapsed, self.token.started()) {
            // The caller's clock went on while the process stood still.
            (Some(elapsed), Some(started)) if self.now.has_stood_still_since(started) => {
                saturating_nanos(elapsed).min(ran(started))
            }
            (Some(elapsed), _) => saturating_nanos(elapsed),
            (None, Some(started)) => ran(started),
            (None, None) => return false,
        };
        elapsed >= limit
    }
}

impl<C: Clock> Breaker<C> {
    #[inline(always)]
    pub(crate) fn settle(&self, token: Token, report: &Report) -> Settled {
        // Known when it is compiled, for all who say no more than the outcome.
        if report.elapsed.is_none() && report.retry_after.is_none() && report.label.is_none() {
            return self.settle_as(token, report.outcome);
        }
        self.settle_report(token, report)
    }

    /// Settles a permit with nothing but an outcome.
    ///
    /// Token and outcome fit in registers. So if the compiler chooses not to inline this, a call takes few more
    /// instructions, and no CAS waits for a report to be stored.
    #[inline]
    fn settle_as(&self, token: Token, outcome: Outcome) -> Settled {
        if let Some(watch) = &self.watch {
            watch.settled(Report::of(outcome), token.stamp().is_probe());
        }
        let success = outcome.is_alive();
        let word = self.engine.word.load();
        // A full window of fast successes stays one: the healthy case writes nothing.
        if success && word.is_unmoved_by_success(token.stamp()) {
            return Settled::Recorded;
        }
        if let Some(kind) = Kind::of_untimed(outcome)
            && word.records_untimed(token.stamp())
            && !word.is_by_time()
            && self.engine.record_untimed(word, kind)
        {
            return Settled::Recorded;
        }
        self.settle_otherwise(token, outcome)
    }

    #[inline(never)]
    fn settle_otherwise(&self, token: Token, outcome: Outcome) -> Settled {
        let word = self.engine.word.load();
        if let Some(kind) = Kind::of_untimed(outcome) {
            if word.records_untimed(token.stamp()) {
                if word.is_by_time() {
                    return self.settle_by_time(word, token, kind, outcome);
                }
                if self.engine.is_by_score(word) {
                    return self.settle_by_score(word, token, kind, outcome);
                }
                return self.settle_untimed(word, token, kind, outcome);
            }
            if word.records_timed(token.stamp()) {
                return self.settle_timed(word, token, outcome);
            }
        }
        self.settle_by_state(token, Ok(Report::of(outcome)))
    }

    #[inline(never)]
    fn settle_by_score(&self, word: Word, token: Token, kind: Kind, outcome: Outcome) -> Settled {
        let times = Times {
            now: || self.now(),
            recent: || self.recent().unwrap_or_else(|| self.now()),
        };
        match self.engine.record_in_scores(word, kind, &times) {
            Recording::Done => Settled::Recorded,
            _ => self.settle_untimed(word, token, kind, outcome),
        }
    }

    /// Settles a permit whose call is untimed, where a rule may match.
    #[inline(never)]
    fn settle_untimed(&self, word: Word, token: Token, kind: Kind, outcome: Outcome) -> Settled {
        let said = Report::of(outcome);
        let now = Reading::new(self);
        let ended = EndedCall {
            token,
            outcome,
            said,
            now: &now,
        };
        match self.enter_moving(word, (kind, 1), &ended) {
            Some(settled) => settled,
            None => self.settle_by_state(token, Ok(said)),
        }
    }

    /// Settles a permit whose call is timed, not followed while it is in flight, and of a config without a ramp.
    #[inline(never)]
    fn settle_timed(&self, word: Word, token: Token, outcome: Outcome) -> Settled {
        let said = Report::of(outcome);
        let terms = self.engine.terms(word);
        // A pause of the process may have made a timeout.
        if outcome != Outcome::Timeout && !terms.thresholds().looks_further() {
            let now = Reading::new(self);
            now.running();
            let ended = EndedCall {
                token,
                outcome,
                said,
                now: &now,
            };
            let slow = ended.is_slow(terms);
            if let Some(kind) = Kind::of(Sample { outcome, slow })
                && let Some(settled) = self.enter(word, (kind, 1), &ended)
            {
                return settled;
            }
        }
        self.settle_by_state(token, Ok(said))
    }

    #[inline(never)]
    fn settle_report(&self, token: Token, report: &Report) -> Settled {
        if let Some(watch) = &self.watch {
            watch.settled(report, token.stamp().is_probe());
        }
        self.settle_by_state(token, Ok(report))
    }

    #[inline(never)]
    fn settle_by_time(&self, word: Word, token: Token, kind: Kind, outcome: Outcome) -> Settled {
        let now = Reading::new(self);
        let said = Report::of(outcome);
        if let Some(tick) = self.engine.count(word, (kind, 1), now.get()) {
            if self.engine.is_quiet(word, kind, tick) {
                return Settled::Recorded;
            }
            let ended = EndedCall {
                token,
                outcome,
                said,
                now: &now,
            };
            return self.judge_by_time(word, (kind, 1), &ended);
        }
        self.settle_by_state(token, Ok(said))
    }

    /// Judges the time window after an outcome has been counted in it.
    #[cold]
    #[inline(never)]
    fn judge_by_time(
        &self,
        mut word: Word,
        outcomes: (Kind, u64),
        ended: &EndedCall<'_, C>,
    ) -> Settled {
        let mut in_run = false;
        // Once its generation is over, an outcome has nothing left to do.
        while word.has_granted(ended.token.stamp()) {
            match self.engine.judge(word, outcomes, in_run) {
                Judgement::Stays => return Settled::Recorded,
                Judgement::Moves(to) => {
                    if self.engine.word.try_move(word, to) {
                        in_run = true;
                    }
                }
                Judgement::Matches(cause, counts) => {
                    if let Some(settled) = self.matches(word, cause, counts, ended) {
                        return settled;
                    }
                }
            }
            word = self.engine.word.load();
        }
        Settled::Recorded
    }

    /// Settles a permit that code around its call has dropped. It is cold, so that a healthy call does not
    /// ask whether its thread panics.
    #[cold]
    #[inline(never)]
    pub(crate) fn drop_permit(&self, token: Token) {
        self.abandon(token, Dropped::here());
    }

    /// Settles a permit that was dropped.
    #[cold]
    pub(crate) fn abandon(&self, token: Token, dropped: Dropped) {
        if let Some(watch) = &self.watch {
            watch.abandoned(token.stamp().is_probe());
        }
        self.settle_by_state(token, Err(dropped));
    }

    /// Settles a permit by its report, or by the policy for dropped ones.
    #[cold]
    #[inline(never)]
    fn settle_by_state(&self, token: Token, report: Result<&Report, Dropped>) -> Settled {
        let mut now = Reading::new(self);
        let mut has_returned = false;
        loop {
            let word = self.engine.word.load();
            let is_late = !word.has_granted(token.stamp());
            if is_late {
                match self.engine.is_late_probe(word, token.stamp()) {
                    Some(true) => {}
                    Some(false) => {
                        // Relaxed: a count orders nothing.
                        self.stale.fetch_add(1, Relaxed);
                        return Settled::Stale;
                    }
                    None => continue,
                }
            }
            if word.state() != State::Disabled && self.engine.terms(word).is_timed() {
                now.running();
            }
            if !has_returned && word.is_recording() && word.is_timed() {
                match self.end_following(word, token, &now) {
                    Some(Return::InTime) => has_returned = true,
                    Some(Return::Overdue) => return Settled::Overdue,
                    None => {
                        now = Reading::new(self);
                        continue;
                    }
                }
            }
            let said = report
                .unwrap_or_else(|dropped| Report::of(self.outcome_of(dropped, word, token, &now)));
            let ended = EndedCall {
                token,
                outcome: self.without_pause(said, word, token, &now),
                said,
                now: &now,
            };
            let settled = match word.state() {
                State::Closed | State::ObserveOnly => self.record(word, &ended),
                State::HalfOpen => self.judge_probe(word, is_late, &ended),
                // Open and forced open grant no permits.
                State::Disabled | State::Open | State::ForcedOpen => Some(Settled::Ignored),
            };
            if let Some(settled) = settled {
                return settled;
            }
        }
    }

    /// What was said, unless it is a timeout that a pause of this process may have made: the
    /// call was in flight then, and ran for less than the shortest limit otherwise. Who measured
    /// the call and reports so knows better.
    fn without_pause(
        &self,
        said: &Report,
        word: Word,
        token: Token,
        now: &Reading<'_, C>,
    ) -> Outcome {
        if said.outcome != Outcome::Timeout || said.elapsed.is_some() {
            return said.outcome;
        }
        let (Some(pulse), Some(started)) = (self.engine.on_demand.pulse(), token.started()) else {
            return said.outcome;
        };
        let is_excused = self.engine.terms(word).is_timed()
            && pulse.has_stood_still_since(started)
            && now.running().saturating_sub(started) < pulse.limit();
        if is_excused {
            Outcome::Ignored
        } else {
            said.outcome
        }
    }

    /// What a dropped permit settles as.
    fn outcome_of(
        &self,
        dropped: Dropped,
        word: Word,
        token: Token,
        now: &Reading<'_, C>,
    ) -> Outcome {
        let terms = self.engine.terms(word);
        let too_long = self.engine.on_demand.rare(word.side()).abandoned_after;
        match (dropped, too_long, token.started()) {
            (Dropped::Panicked, ..) => terms.panicked(),
            (Dropped::Abandoned, Some(after), Some(started))
                if now.running().saturating_sub(started) >= after =>
            {
                Outcome::Timeout
            }
            (Dropped::Abandoned, ..) => terms.abandoned(),
        }
    }

    /// Puts an outcome in the window; `None` if the word has moved meanwhile.
    fn record(&self, word: Word, ended: &EndedCall<'_, C>) -> Option<Settled> {
        let outcome = ended.outcome;
        let slow = outcome != Outcome::Ignored && ended.is_slow(self.engine.terms(word));
        let Some(kind) = Kind::of(Sample { outcome, slow }) else {
            // The policy for dropped permits was read after the word. If the word is still the same, it goes with it.
            return self.engine.is_current(word).then_some(Settled::Ignored);
        };
        self.enter(word, (kind, 1), ended)
    }

    /// Puts outcomes of a kind in the window: several at once in a time window, one in a count window. `None` if the word
    /// has moved meanwhile.
    #[inline]
    pub(crate) fn enter(
        &self,
        word: Word,
        outcomes: (Kind, u64),
        ended: &EndedCall<'_, C>,
    ) -> Option<Settled> {
        let (kind, _) = outcomes;
        if word.is_clean() && !kind.is_bad() {
            // The slow limit was read after the word. If the word is still the same, it goes with it.
            return self.engine.is_current(word).then_some(Settled::Recorded);
        }
        self.enter_moving(word, outcomes, ended)
    }

    /// As [`enter`](Self::enter), of outcomes that do not leave the window as it is.
    #[inline(never)]
    fn enter_moving(
        &self,
        word: Word,
        outcomes: (Kind, u64),
        ended: &EndedCall<'_, C>,
    ) -> Option<Settled> {
        let (kind, _) = outcomes;
        if word.is_by_time() {
            let tick = self.engine.count(word, outcomes, ended.now.get())?;
            if self.engine.is_quiet(word, kind, tick) {
                return Some(Settled::Recorded);
            }
            return Some(self.judge_by_time(word, outcomes, ended));
        }
        let recording = if self.engine.is_by_score(word) {
            let times = Times {
                now: || ended.now.get(),
                recent: || ended.now.recent(),
            };
            self.engine.record_in_scores(word, kind, &times)
        } else {
            self.engine.record(word, kind)
        };
        match recording {
            Recording::Done => Some(Settled::Recorded),
            Recording::Moved => None,
            Recording::Matches(cause, counts) => self.matches(word, cause, counts, ended),
        }
    }

    /// What follows when a rule matches the window of `word`; `None` if it has moved meanwhile.
    fn matches(
        &self,
        word: Word,
        cause: Cause,
        counts: Counts,
        ended: &EndedCall<'_, C>,
    ) -> Option<Settled> {
        if word.state() == State::ObserveOnly {
            let to = word.to_observe_only(self.engine.terms(word).recorder());
            let matched = self.match_of(word, cause, counts, ended);
            return self.engine.begin(word, to).then(|| {
                self.emit_match(word, to, matched, None, ended.now);
                Settled::WouldTrip
            });
        }
        self.open(word, cause, 0, counts, ended)
            .then_some(Settled::Tripped)
    }

    /// Moves the word to open by an outcome; false if it has moved meanwhile.
    #[cold]
    pub(super) fn open(
        &self,
        from: Word,
        cause: Cause,
        attempt: u32,
        counts: Counts,
        ended: &EndedCall<'_, C>,
    ) -> bool {
        let asked = match ended.outcome {
            // An ignored outcome says nothing about the upstream, so what it asks for does not count.
            Outcome::Ignored => None,
            _ => ended.said.retry_after,
        };
        let matched = self.match_of(from, cause, counts, ended);
        self.open_by(from, matched, attempt, asked, ended.now)
    }

    /// Moves the word to open; false if it has moved meanwhile.
    pub(super) fn open_by(
        &self,
        from: Word,
        matched: Match,
        attempt: u32,
        asked: Option<Duration>,
        now: &Reading<'_, C>,
    ) -> bool {
        let wait = rules::open_wait(
            &self.engine.terms(from).open_wait(),
            attempt,
            asked,
            self.seed,
            from.next_generation(),
        );
        let wait = Wait::of(now.get(), wait);
        let to = from.to_open(matched.cause, wait);
        if !self.engine.begin_wait(from, to, wait) {
            return false;
        }
        let record = TripRecord {
            cause: matched.cause,
            at: Moment::at(now.get()),
            counts: matched.counts,
            threshold: matched.threshold,
        };
        self.engine.record_trip(to, record, matched.label);
        self.emit_match(from, to, matched, None, now);
        true
    }

    /// A match of a rule of the config that goes with `word`, by the outcome that is settled.
    fn match_of(
        &self,
        word: Word,
        cause: Cause,
        counts: Counts,
        ended: &EndedCall<'_, C>,
    ) -> Match {
        Match {
            cause,
            counts,
            threshold: self.engine.rules(word).threshold(cause),
            label: ended.said.label,
        }
    }
}
