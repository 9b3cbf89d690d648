//! From one generation to the next: filling the cells beside the word, then moving it; and reading them.

use crate::contract::deadline::Deadline;
use crate::contract::state::State;
use crate::engine::Engine;
use crate::engine::beside::Beside;
use crate::engine::past::Past;
use crate::engine::tagged_cell::TaggedCell;
use crate::engine::wait::Wait;
use crate::engine::word::{Stamp, Word};

impl Engine {
    fn beside(&self, generation: u32) -> &Beside {
        &self.beside[generation as usize % 2]
    }

    /// Moves the word to `to`, after the cells of its generation are filled if that is another one. False if the word has
    /// moved meanwhile.
    #[must_use = "only the winner of a move may act on it"]
    pub(crate) fn begin(&self, from: Word, to: Word) -> bool {
        let lasts = to.generation() == from.generation();
        (lasts || self.hand_on_lineage(from) && self.hand_on(from, to).is_some())
            && self.word.try_move(from, to)
    }

    /// As [`begin`](Self::begin), for a generation that waits.
    #[must_use = "only the winner of a move may act on it"]
    pub(crate) fn begin_wait(&self, from: Word, to: Word, wait: Wait) -> bool {
        // Two threads may try to open the same generation, by readings a little apart. The cell holds the later begin
        // of both, which goes with the digits of either: see `Wait`.
        self.beside(to.generation()).began.put(
            to.generation(),
            || self.is_current(from),
            |latest| latest.unwrap_or(0).max(wait.began),
        ) && self.begin(from, to)
    }

    /// Fills the cells of the generation of `to` whose values come from the generation
    /// of `from`. `None` if the word has moved from `from` meanwhile.
    fn hand_on(&self, from: Word, to: Word) -> Option<()> {
        let next = to.generation();
        let put = |cell: &TaggedCell, value| {
            let done = cell.put(next, || self.is_current(from), |_| value);
            done.then_some(())
        };
        let past = self.past_after(from)?;
        put(&self.beside(next).past, past.bits())?;
        if to.is_by_operator() {
            put(
                &self.beside(next).interrupted,
                self.interrupted_after(from)?,
            )?;
        }
        Some(())
    }

    /// What came before the generation of `word`; `None` if the word has moved meanwhile.
    pub(crate) fn past_of(&self, word: Word) -> Option<Past> {
        let bits = self.beside(word.generation()).past.get(word.generation())?;
        Some(Past::of_bits(bits))
    }

    /// The past of the generation that follows that of `word`.
    fn past_after(&self, word: Word) -> Option<Past> {
        let state = word.state();
        if state == State::Closed {
            return Some(Past::CLOSED);
        }
        let past = self.past_of(word)?;
        Some(match state {
            State::Open | State::HalfOpen => Past {
                state,
                cause: word.cause(),
                attempt: past.attempt_in(state),
                period: match state {
                    State::HalfOpen => past.period.saturating_add(1),
                    _ => 0,
                },
            },
            _ => Past { period: 0, ..past },
        })
    }

    /// How often the breaker has re-opened since it tripped, as of `word`; `None` if the word
    /// has moved meanwhile.
    pub(crate) fn attempt_of(&self, word: Word) -> Option<u32> {
        match word.state() {
            State::Closed => Some(0),
            state => Some(self.past_of(word)?.attempt_in(state)),
        }
    }

    /// Whether a permit of an earlier generation is a probe of the half-open period that
    /// `word` is in: its lease was lost, and nothing has ended the period since. `None` if the
    /// word has moved meanwhile.
    pub(crate) fn is_late_probe(&self, word: Word, stamp: Stamp) -> Option<bool> {
        if word.state() != State::HalfOpen || !stamp.is_probe() {
            return Some(false);
        }
        let back = word.generations_since(stamp.generation());
        Some(back > 0 && back <= self.past_of(word)?.period)
    }

    /// The deadline of a word that is open or forced open; `None` if the word
    /// has moved meanwhile.
    #[inline]
    pub(crate) fn deadline_of(&self, word: Word) -> Option<Deadline> {
        let began = self
            .beside(word.generation())
            .began
            .get(word.generation())?;
        Some(Wait::deadline(word.digits(), began))
    }

    /// The deadline of the open state that the operator's state of `word` has interrupted; `None`
    /// if the word has moved meanwhile.
    pub(crate) fn interrupted_deadline(&self, word: Word) -> Option<Deadline> {
        let millis = self
            .beside(word.generation())
            .interrupted
            .get(word.generation())?;
        Some(Deadline::from_millis(millis, TaggedCell::MAX))
    }

    /// The same of the operator's state that is about to follow `word`.
    fn interrupted_after(&self, word: Word) -> Option<u64> {
        let interrupted = match word.state() {
            State::Open => self.deadline_of(word)?,
            State::Closed | State::HalfOpen => Deadline::NEVER,
            _ => self.interrupted_deadline(word)?,
        };
        Some(interrupted.to_millis(TaggedCell::MAX))
    }

    /// When the last probe of a half-open word is presumed lost.
    pub(crate) fn lease_of(&self, word: Word) -> Deadline {
        let lease = self.beside(word.generation()).lease.get(word.generation());
        lease.map_or(Deadline::NEVER, |millis| {
            Deadline::from_millis(millis, TaggedCell::MAX)
        })
    }

    /// Publishes the lease of a probe of `generation`, before the word is moved from `word` to one with that
    /// probe out. False if the word has moved meanwhile.
    ///
    /// So a thread that sees the probe in the word sees its lease too. For example, the quota is 1 and thread A
    /// grants a probe with a lease of 60 s. Thread B sees one probe out. If it could see the lease of an
    /// earlier generation, long over, B would reclaim the probe at once.
    #[must_use = "a probe whose lease is not known may not be granted"]
    pub(crate) fn publish_lease(&self, word: Word, generation: u32, lease: Deadline) -> bool {
        self.beside(generation).lease.put(
            generation,
            || self.is_current(word),
            |newest| newest.unwrap_or(0).max(lease.to_millis(TaggedCell::MAX)),
        )
    }
}
