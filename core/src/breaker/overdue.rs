//! Calls that are counted while they are still in flight.

use crate::breaker::settle::EndedCall;
use crate::breaker::token::Token;
use crate::breaker::{Breaker, Reading};
use crate::contract::clock::Clock;
use crate::contract::config::Window;
use crate::contract::outcome::{Outcome, Report};
use crate::engine::in_flight::{Epochs, Return, Start};
use crate::engine::window::count::Kind;
use crate::engine::word::Word;

impl<C: Clock> Breaker<C> {
    /// Whether calls are followed, under the config that goes with a timed word.
    #[inline]
    pub(crate) fn follows(&self, word: Word) -> bool {
        self.engine.terms(word).thresholds().overdue().is_some()
    }

    fn epochs(&self, word: Word) -> Epochs<'_> {
        let in_flight = self.engine.on_demand.in_flight();
        let in_flight = in_flight.expect("room is made before a word moves to such a config");
        in_flight.of(word.side(), word.generation())
    }

    /// Whether the breaker is still in the generation of `word`, with the same config side.
    fn lasts(&self, word: Word) -> bool {
        let present = self.engine.word.load();
        present.stamp() == word.stamp() && present.side() == word.side()
    }

    /// Admits a call and follows it; `None` if the word has moved meanwhile, or the clock
    /// must be read anew.
    #[cold]
    pub(crate) fn start_following(&self, word: Word, now: &Reading<'_, C>) -> Option<Token> {
        let (epochs, kind) = self.count_overdue(word, now)?;
        match epochs.start(now.running(), || self.lasts(word)) {
            Start::At(started) => {
                let stamp = word.stamp().in_era(epochs.era());
                Some(Token::timed(stamp, started))
            }
            Start::Late => None,
            Start::Overdue(calls) => {
                self.enter_overdue(word, kind, calls, now);
                None
            }
        }
    }

    /// Ends the flight of a call that returns; `None` if the word has moved meanwhile, or the clock must be read anew.
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
        let (epochs, _) = self.count_overdue(word, now)?;
        match token.started() {
            Some(started) if token.stamp().era() == epochs.era() => {
                epochs.end_following(started, || self.lasts(word))
            }
            // The limit has changed since the call started, so it is not followed any more.
            _ => Some(Return::InTime),
        }
    }

    /// Takes the calls that are overdue and puts them in the window. If there were none, gives the epochs that go with `word`, and what an
    /// overdue call counts as. `None` if there were some, since the word may have moved then; or if it has moved anyway.
    fn count_overdue(&self, word: Word, now: &Reading<'_, C>) -> Option<(Epochs<'_>, Kind)> {
        let epochs = self.epochs(word);
        let kind = self.engine.terms(word).thresholds().overdue()?;
        let overdue = epochs.take_overdue(now.running(), || self.lasts(word))?;
        if overdue == 0 {
            return Some((epochs, kind));
        }
        self.enter_overdue(word, kind, overdue, now);
        None
    }

    /// Puts overdue calls in the window of their generation, as long as that lasts.
    fn enter_overdue(&self, mut word: Word, kind: Kind, overdue: u64, now: &Reading<'_, C>) {
        let stamp = word.stamp();
        let ended = EndedCall {
            token: Token::untimed(stamp),
            outcome: Outcome::Timeout,
            said: Report::of(Outcome::Timeout),
            now,
        };
        // A count window takes them one by one. Once it is full of them, one more changes nothing.
        let by_time = word.is_by_time();
        let mut left = if by_time {
            overdue
        } else {
            overdue.min(u64::from(Window::MAX_COUNT))
        };
        while left > 0 && word.stamp() == stamp {
            let at_once = if by_time { left } else { 1 };
            if self.enter(word, (kind, at_once), &ended).is_some() {
                left -= at_once;
            }
            word = self.engine.word.load();
        }
    }
}
