//! Calls that are counted while they are still in flight.

use crate::breaker::permit::Token;
use crate::breaker::settle::Settling;
use crate::breaker::{Breaker, Reading};
use crate::contract::clock::Clock;
use crate::contract::config::Window;
use crate::contract::outcome::{Outcome, Report};
use crate::engine::in_flight::{Flight, Return, Start};
use crate::engine::window::count::Kind;
use crate::engine::word::Word;

impl<C: Clock> Breaker<C> {
    /// Whether calls are followed, under the config that goes with a timed word.
    #[inline]
    pub(crate) fn follows(&self, word: Word) -> bool {
        self.engine.terms(word).thresholds().overdue().is_some()
    }

    fn flight(&self, word: Word) -> Flight<'_> {
        let in_flight = self.engine.on_demand.in_flight();
        let in_flight = in_flight.expect("room is made before a word moves to such a config");
        in_flight.of(word.side(), word.generation())
    }

    /// Whether the generation and the config of `word` last.
    fn lasts(&self, word: Word) -> bool {
        let present = self.engine.word.load();
        present.stamp() == word.stamp() && present.side() == word.side()
    }

    /// Admits a call and follows it; `None` if the word has moved meanwhile, or the clock
    /// must be read anew.
    #[cold]
    pub(crate) fn start_following(&self, word: Word, now: &Reading<'_, C>) -> Option<Token> {
        let (flight, kind) = self.count_overdue(word, now)?;
        match flight.start(now.running(), || self.lasts(word)) {
            Start::At(started) => {
                let stamp = word.stamp().in_era(flight.era());
                Some(Token::timed(stamp, started))
            }
            Start::Late => None,
            Start::Overdue(calls) => {
                self.enter_overdue(word, kind, calls, now);
                None
            }
        }
    }

    /// Ends the flight of a call; `None` as above.
    #[cold]
    pub(crate) fn end_following(
        &self,
        word: Word,
        token: Token,
        now: &Reading<'_, C>,
    ) -> Option<Return> {
        if !self.follows(word) {
            return self.lasts(word).then_some(Return::InTime);
        }
        let (flight, _) = self.count_overdue(word, now)?;
        match token.started() {
            Some(started) if token.stamp().era() == flight.era() => {
                flight.end_following(started, || self.lasts(word))
            }
            // The limit is another since it started.
            _ => Some(Return::InTime),
        }
    }

    /// Counts the calls that are overdue. Gives those that are in flight, and what such a call
    /// counts as; `None` as above.
    fn count_overdue(&self, word: Word, now: &Reading<'_, C>) -> Option<(Flight<'_>, Kind)> {
        let flight = self.flight(word);
        let kind = self.engine.terms(word).thresholds().overdue()?;
        let overdue = flight.take_overdue(now.running(), || self.lasts(word))?;
        if overdue == 0 {
            return Some((flight, kind));
        }
        self.enter_overdue(word, kind, overdue, now);
        None
    }

    /// Puts overdue calls in the window of their generation, unless it is over.
    fn enter_overdue(&self, mut word: Word, kind: Kind, overdue: u64, now: &Reading<'_, C>) {
        let stamp = word.stamp();
        let settling = Settling {
            token: Token::untimed(stamp),
            report: Report::from(Outcome::Timeout),
            now,
        };
        // A count window takes them one by one; more than it holds change nothing more.
        let by_time = word.is_by_time();
        let mut left = if by_time {
            overdue
        } else {
            overdue.min(u64::from(Window::MAX_COUNT))
        };
        while left > 0 && word.stamp() == stamp {
            let at_once = if by_time { left } else { 1 };
            if self.enter(word, (kind, at_once), &settling).is_some() {
                left -= at_once;
            }
            word = self.engine.word.load();
        }
    }
}
