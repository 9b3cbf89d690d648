//! Admission, from the fast path down to the rare cases: `admit` reads the word alone,
//! `admit_timed_or_reject` the clock too, `admit_by_state` moves the word if it must.

use alloc::sync::Arc;

use crate::breaker::permit::{OwnedPermit, Permit};
use crate::breaker::rejected::{Rejected, TimeLeft};
use crate::breaker::token::Token;
use crate::breaker::{Breaker, Reading, time_left};
use crate::contract::clock::Clock;
use crate::contract::deadline::Deadline;
use crate::contract::outcome::Counts;
use crate::contract::state::{Cause, State};
use crate::engine::on_ramp::OnRamp;
use crate::engine::word::{HalfOpen, Word};

/// With so many nanoseconds left, and less, a reading that may be old does not do. More than it is old.
const CLOSE: u64 = 100_000_000;

impl<C: Clock> Breaker<C> {
    /// Asks for admission.
    ///
    /// Closed, disabled and observe-only always grant; closed reads one word and
    /// writes nothing (with a slow rule it reads the clock too). Open rejects until
    /// its wait is over; the first call after that makes the breaker half-open and
    /// gets a probe. Half-open grants while fewer than `max_probes` probes are
    /// unsettled, or while the [stage](crate::Stages) has a slot.
    ///
    /// Lock-free, without allocation; at most one clock read, and one of [`Clock::recent`].
    ///
    /// # Cancel safety
    ///
    /// A permit that is dropped settles as abandoned, so an early return, a
    /// cancelled future or a panic frees what it held.
    ///
    /// # Errors
    ///
    /// [`Rejected`], which says why and for how long.
    #[inline]
    pub fn allow(&self) -> Result<Permit<'_, C>, Rejected> {
        self.admit().map(|token| Permit::new(self, token))
    }

    /// As [`allow`](Self::allow), with a permit that owns its share of the
    /// breaker, for futures, streams and threads.
    ///
    /// # Errors
    ///
    /// [`Rejected`], which says why and for how long.
    #[inline]
    pub fn allow_owned(self: &Arc<Self>) -> Result<OwnedPermit<C>, Rejected> {
        self.admit()
            .map(|token| OwnedPermit::new(Arc::clone(self), token))
    }

    #[inline]
    pub(crate) fn admit(&self) -> Result<Token, Rejected> {
        let word = self.engine.word.load();
        if word.admits_untimed() {
            return Ok(Token::untimed(word.stamp()));
        }
        self.admit_timed_or_reject(word)
    }

    /// The other cases that can be frequent: a slow rule is set, or the breaker is open, or half-open with all
    /// probes out.
    #[inline(never)]
    fn admit_timed_or_reject(&self, word: Word) -> Result<Token, Rejected> {
        if !word.is_recording() {
            return self.reject_at_sight(word);
        }
        let now = Reading::new(self);
        if word.is_timed() && !self.looks_further(word) {
            return Ok(Token::timed(word.stamp(), now.running()));
        }
        self.admit_by_state(now)
    }

    #[inline(never)]
    fn reject_at_sight(&self, word: Word) -> Result<Token, Rejected> {
        match self.refusal_at_sight(word) {
            Ok(left) => Err(self.reject(word, left)),
            Err(now) => self.admit_by_state(now),
        }
    }

    /// How long a call has to wait that finds `word`, if it has to. Otherwise, and if that is a close matter, the clock as far as it
    /// has been read.
    ///
    /// Where a reading that may be old leaves much time, the time is not over by the clock either.
    #[inline]
    fn refusal_at_sight(&self, word: Word) -> Result<TimeLeft, Reading<'_, C>> {
        let now = Reading::new(self);
        let end = if word.is_waiting() {
            self.engine.deadline_of(word)
        } else if word.is_half_open() && !self.engine.has_slot(word) {
            // The quota and the lease were read after the word. If the word is still the same, they go with it.
            let lease = self.engine.lease_of(word);
            self.engine.is_current(word).then_some(lease)
        } else {
            None
        };
        let Some(end) = end else {
            return Err(now);
        };
        if end == Deadline::NEVER {
            return Ok(time_left(word, end, 0));
        }
        let (reading, least) = match self.recent() {
            Some(recent) => (recent, CLOSE),
            None => (now.get(), 0),
        };
        match end.left(reading) {
            Some(left) if left <= least => Err(now),
            _ => Ok(time_left(word, end, reading)),
        }
    }

    #[cold]
    #[inline(never)]
    fn admit_by_state<'a>(&'a self, mut now: Reading<'a, C>) -> Result<Token, Rejected> {
        let mut has_share = false;
        loop {
            let word = self.engine.word.load();
            match word.state() {
                State::Closed
                    if word.is_timed() && !has_share && self.engine.terms(word).ramps() =>
                {
                    match self.admit_on_ramp(word, &now) {
                        Some(Ok(())) => has_share = true,
                        Some(Err(rejected)) => return Err(rejected),
                        None => {}
                    }
                }
                State::Closed if has_share && !self.engine.terms(word).is_timed() => {
                    // Its word is timed for the ramp alone.
                    if self.engine.is_current(word) {
                        return Ok(Token::untimed(word.stamp()));
                    }
                }
                State::Closed | State::ObserveOnly if word.is_timed() && self.follows(word) => {
                    match self.start_following(word, &now) {
                        Some(token) => return Ok(token),
                        None => now = Reading::new(self),
                    }
                }
                State::Closed | State::ObserveOnly if word.is_timed() => {
                    return Ok(Token::timed(word.stamp(), now.running()));
                }
                State::Closed | State::ObserveOnly | State::Disabled => {
                    return Ok(Token::untimed(word.stamp()));
                }
                State::Open | State::ForcedOpen => {
                    let Some(deadline) = self.engine.deadline_of(word) else {
                        continue;
                    };
                    if !deadline.is_over(now.get()) {
                        return Err(self.reject(word, time_left(word, deadline, now.get())));
                    }
                    let first = HalfOpen {
                        out: 1,
                        ..HalfOpen::new(word.cause())
                    };
                    if let Some(token) = self.start_probing(word, first, Cause::WaitElapsed, &now) {
                        return Ok(token);
                    }
                }
                State::HalfOpen => {
                    if let Some(answer) = self.admit_probe(word, &now) {
                        return answer;
                    }
                }
            }
        }
    }

    #[inline]
    fn looks_further(&self, word: Word) -> bool {
        self.engine.terms(word).thresholds().looks_further()
    }

    /// Whether a closed word that may be on a ramp admits one more call; `None` if it has moved meanwhile.
    fn admit_on_ramp(&self, word: Word, now: &Reading<'_, C>) -> Option<Result<(), Rejected>> {
        match self.engine.on_ramp(word, now.get()) {
            OnRamp::No if self.engine.terms(word).is_timed() => Some(Ok(())),
            // Or who ended it has lost the race for the word.
            OnRamp::No | OnRamp::Over => self.engine.end_ramp(word).then_some(Ok(())),
            // The ramp was read after the word. If the word is still the same, it goes with it.
            OnRamp::Yes { .. } if !self.engine.is_current(word) => None,
            OnRamp::Yes { share, .. } if self.engine.ramp_admits(share) => Some(Ok(())),
            OnRamp::Yes { left, .. } => {
                // By then half of those that are refused now will not be.
                let half = TimeLeft::nanos(left.div_ceil(2));
                Some(Err(self.reject(word.refusing(Cause::Ramping), half)))
            }
        }
    }

    /// Counts a rejection.
    #[inline]
    pub(crate) fn reject(&self, word: Word, left: TimeLeft) -> Rejected {
        let rejected = Rejected {
            word,
            left,
            breaker: self.name_id(),
        };
        if let Some(watch) = &self.watch {
            watch.rejected(rejected);
        }
        rejected
    }

    /// The time left of the last lease of a half-open word.
    pub(crate) fn lease_left(&self, word: Word, now: &Reading<'_, C>) -> TimeLeft {
        let lease = self.engine.lease_of(word);
        lease
            .left(now.get())
            .map_or(TimeLeft::UNKNOWN, TimeLeft::nanos)
    }

    /// Admission by a half-open word; `None` if it has moved meanwhile.
    fn admit_probe(&self, word: Word, now: &Reading<'_, C>) -> Option<Result<Token, Rejected>> {
        let half_open = word.half_open();
        if self.engine.has_slot(word) {
            let granted = word.with_half_open(HalfOpen {
                out: half_open.out + 1,
                ..half_open
            });
            return self.grant_probe(word, granted, now).map(Ok);
        }
        if self.engine.lease_of(word).is_over(now.get()) {
            let next = HalfOpen {
                out: 1,
                ..half_open
            };
            return self
                .start_probing(word, next, Cause::LeaseLost, now)
                .map(Ok);
        }
        let left = self.lease_left(word, now);
        // The quota and the lease were read after the word. If the word is still the same, they go with it.
        self.engine
            .is_current(word)
            .then(|| Err(self.reject(word, left)))
    }

    /// Starts a half-open generation with its first probe; `None` if the word
    /// has moved meanwhile.
    fn start_probing(
        &self,
        from: Word,
        half_open: HalfOpen,
        cause: Cause,
        now: &Reading<'_, C>,
    ) -> Option<Token> {
        let to = from.to_half_open(half_open);
        let token = self.grant_probe(from, to, now)?;
        self.emit(from, to, cause, None, Counts::default(), now);
        Some(token)
    }

    /// Grants a probe: publishes its lease, then moves the word to `to`, which has one more probe out. `None` if the word
    /// has moved meanwhile.
    ///
    /// For example, the quota is 1 and threads A and B both see no probe out. Both publish a lease, and the later one stays. Both try
    /// to move the word. A wins and has the probe. B starts over, sees one probe out, and is rejected.
    fn grant_probe(&self, from: Word, to: Word, now: &Reading<'_, C>) -> Option<Token> {
        let terms = self.engine.terms(from);
        // A probe is always timed: a rule on slow calls may be set while it is out.
        let token = Token::timed(to.stamp(), now.running());
        let lease = terms
            .lease()
            .map_or(Deadline::NEVER, |lease| Deadline::after(now.get(), lease));
        let granted =
            self.engine.publish_lease(from, to.generation(), lease) && self.engine.begin(from, to);
        granted.then_some(token)
    }
}
