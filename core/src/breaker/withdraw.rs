//! What becomes of a permit whose call is not made.

use crate::breaker::token::Token;
use crate::breaker::{Breaker, Reading};
use crate::contract::clock::Clock;
use crate::contract::state::State;
use crate::engine::word::HalfOpen;

impl<C: Clock> Breaker<C> {
    /// Takes a permit back as if nobody had asked for it: a probe's slot is free again, and a call that is followed is followed no more.
    ///
    /// Once its generation is over there is nothing to take back: a probe that has lost its lease has lost its slot too.
    #[cold]
    #[inline(never)]
    pub(crate) fn withdraw(&self, token: Token) {
        loop {
            let word = self.engine.word.load();
            if !word.has_granted(token.stamp()) {
                return;
            }
            let is_done = match word.state() {
                State::HalfOpen => {
                    let half_open = word.half_open();
                    let out = half_open.out.saturating_sub(1);
                    self.free_slot(word, HalfOpen { out, ..half_open }, ())
                        .is_some()
                }
                State::Closed | State::ObserveOnly if word.is_timed() => self
                    .end_following(word, token, &Reading::new(self))
                    .is_some(),
                _ => true,
            };
            if is_done {
                return;
            }
        }
    }
}
