//! The shared memory of a breaker, and the steps on it that need no clock.
//!
//! All of them follow one pattern. A thread loads the word, reads what else it needs, and decides. Then it moves the word by a
//! CAS from what it loaded. If the CAS succeeds, nothing that the decision was by had changed. If it fails, the thread
//! starts over.

pub(crate) mod beside;
pub(crate) mod by_score;
pub(crate) mod by_time;
pub(crate) mod chance;
pub(crate) mod counters;
pub(crate) mod field;
mod generations;
pub(crate) mod in_flight;
pub(crate) mod lines;
pub(crate) mod on_demand;
pub(crate) mod past;
pub(crate) mod pulse;
pub(crate) mod records;
pub(crate) mod restore;
pub(crate) mod settings;
pub(crate) mod shape;
pub(crate) mod sync;
pub(crate) mod tagged_cell;
pub(crate) mod wait;
mod why;
pub(crate) mod window;
pub(crate) mod word;

use alloc::vec::Vec;

use crate::contract::config::{Config, Window};
use crate::contract::outcome::{Counts, Sample};
use crate::contract::rules::Rules;
use crate::contract::state::Cause;
use crate::engine::beside::Beside;
use crate::engine::on_demand::OnDemand;
use crate::engine::records::Records;
use crate::engine::settings::{Settings, Terms};
use crate::engine::shape::{Closed, Shape};
use crate::engine::sync::{AtomicU64, Backoff};
use crate::engine::window::count::{Kind, NEAR_WORDS, Near, Ring};
use crate::engine::word::{AtomicWord, Stamp, Word};

/// The word and the near ring words come first, and the breaker is aligned to 128 bytes. So both lie in
/// one block of 128 bytes that shares its cache lines with nothing else, and a contended call moves that block
/// between processors and no other.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Engine {
    pub(crate) word: AtomicWord,
    pub(crate) near: [AtomicU64; NEAR_WORDS],
    pub(crate) settings: Settings,
    pub(crate) beside: [Beside; 2],
    /// What opened the breaker.
    pub(crate) records: Records,
    pub(crate) on_demand: OnDemand,
}

/// What came of an attempt to record an outcome.
pub(crate) enum Recording {
    /// The outcome is in the window.
    Done,
    /// The word has moved meanwhile.
    Moved,
    /// With the outcome in the window this rule matches, and this is what the window then holds. The word
    /// has not been moved: the caller has to open the breaker instead.
    Matches(Cause, Counts),
}

impl Engine {
    pub(crate) fn generation(&self) -> u32 {
        self.word.load().generation()
    }

    /// Whether the word has not moved from `word`.
    #[inline]
    pub(crate) fn is_current(&self, word: Word) -> bool {
        self.word.load() == word
    }

    /// The config that goes with `word`.
    #[inline]
    pub(crate) fn terms(&self, word: Word) -> Terms<'_> {
        self.settings.terms(word.side())
    }

    /// The whole config that goes with `word`.
    pub(crate) fn config(&self, word: Word) -> Config {
        let overdue_after = self
            .on_demand
            .in_flight()
            .map(|in_flight| in_flight.limit(word.side()));
        self.terms(word).config(
            self.window(word),
            overdue_after.unwrap_or(0),
            self.on_demand.rare(word.side()),
        )
    }

    /// The rules that go with `word`.
    pub(crate) fn rules(&self, word: Word) -> Rules {
        Rules {
            failures: self.on_demand.rare(word.side()).failures,
            ..self.terms(word).rules()
        }
    }

    /// The window that goes with `word`.
    pub(crate) fn window(&self, word: Word) -> Window {
        let side = word.side();
        self.terms(word)
            .window()
            .unwrap_or_else(|| self.timeline().window(side))
    }

    /// Of a word that records: whether its window is one of scores.
    #[inline]
    pub(crate) fn is_by_score(&self, word: Word) -> bool {
        self.terms(word).thresholds().is_by_score()
    }

    #[inline]
    fn ring(&self) -> Ring<'_> {
        Ring {
            near: Near(&self.near),
            far: self.on_demand.far(),
        }
    }

    /// Records an outcome, and says true, if three things hold: the permit's generation lasts, no rule asks for
    /// the call's duration, and no rule matches. Otherwise it does nothing and says false. `word` is what the
    /// caller has loaded.
    #[inline]
    pub(crate) fn record_untimed(&self, word: Word, stamp: Stamp, incoming: Kind) -> bool {
        if incoming.is_bad() {
            self.record_bad(word, stamp, incoming)
        } else {
            self.record_success(word, stamp)
        }
    }

    #[inline(never)]
    fn record_success(&self, word: Word, stamp: Stamp) -> bool {
        match self.record_as_usual(word, stamp, Kind::FAST_SUCCESS) {
            Some(true) => true,
            lost => self.record_untimed_anyhow(stamp, Kind::FAST_SUCCESS, lost.is_some()),
        }
    }

    #[inline(never)]
    fn record_bad(&self, word: Word, stamp: Stamp, incoming: Kind) -> bool {
        match self.record_as_usual(word, stamp, incoming) {
            Some(true) => true,
            lost => self.record_untimed_anyhow(stamp, incoming, lost.is_some()),
        }
    }

    #[cold]
    #[inline(never)]
    fn record_untimed_anyhow(&self, stamp: Stamp, incoming: Kind, lost: bool) -> bool {
        let mut backoff = Backoff::new();
        if lost {
            backoff.pause();
        }
        loop {
            let word = self.word.load();
            if !word.records_untimed(stamp) {
                return false;
            }
            if self.is_by_score(word) {
                if incoming.is_bad() {
                    // It takes a clock.
                    return false;
                }
                if self.lower_scores(word) {
                    return true;
                }
                backoff.pause();
                continue;
            }
            match self.record(word, incoming) {
                Recording::Done => return true,
                Recording::Moved => backoff.pause(),
                Recording::Matches(..) => return false,
            }
        }
    }

    /// As [`record`](Self::record), for the most frequent cases: the window is near and full, and no rule
    /// can match; or it keeps scores, and they are lowered. `None` in any other case; false if the word has moved meanwhile.
    ///
    /// It has no loop and calls no function, so it needs few registers. A function that saves registers on the
    /// stack has stores under way, and a CAS waits for all of them.
    #[inline(always)]
    fn record_as_usual(&self, word: Word, stamp: Stamp, incoming: Kind) -> Option<bool> {
        if !word.records_untimed(stamp) {
            return None;
        }
        let thresholds = self.terms(word).thresholds();
        let Some(shape) = thresholds.near_shape() else {
            let lowers = thresholds.is_by_score() && !incoming.is_bad();
            return lowers.then(|| self.lower_scores(word));
        };
        let closed = word.closed(shape);
        if !closed.full {
            return None;
        }
        let near = Near(&self.near);
        near.write(shape.pending_at(closed)?, closed.pending, || {
            self.is_current(word)
        })?;
        let pushed = word.push(shape, incoming, near.kind_at(closed.cursor)?);
        if thresholds.full_may_match(pushed.closed(shape), incoming) {
            return None;
        }
        Some(self.word.try_move(word, pushed))
    }

    /// Puts an outcome in the window of `word`, unless a rule matches with it.
    pub(crate) fn record(&self, word: Word, incoming: Kind) -> Recording {
        let thresholds = self.terms(word).thresholds();
        let shape = thresholds.shape();
        let closed = word.closed(shape);
        if !self.write_pending(word, shape, closed) {
            return Recording::Moved;
        }
        let pushed = word.push(shape, incoming, self.outgoing(closed));
        if thresholds.may_match(pushed.closed(shape), incoming)
            && let Some((cause, counts)) = self.matching_rule(word, incoming)
        {
            return Recording::Matches(cause, counts);
        }
        if self.word.try_move(word, pushed) {
            Recording::Done
        } else {
            Recording::Moved
        }
    }

    /// Writes the pending outcome of `word` to its place in the ring: the helping step, which any thread does for the one
    /// that recorded last. False if the word has moved meanwhile.
    fn write_pending(&self, word: Word, shape: Shape, closed: Closed) -> bool {
        shape.pending_at(closed).is_none_or(|position| {
            self.ring()
                .write(position, closed.pending, || self.is_current(word))
        })
    }

    /// The kind of the outcome that the next outcome pushes out of the window; in one that is not full that is none, which
    /// counts like a fast success.
    fn outgoing(&self, closed: Closed) -> Kind {
        if closed.full {
            self.ring().kind_at(closed.cursor)
        } else {
            Kind::FAST_SUCCESS
        }
    }

    /// The rule that matches once `incoming` is in the window of `word`, and what
    /// the window then holds. To be called after the pending outcome is written to the ring.
    #[cold]
    #[inline(never)]
    fn matching_rule(&self, word: Word, incoming: Kind) -> Option<(Cause, Counts)> {
        let thresholds = self.terms(word).thresholds();
        let shape = thresholds.shape();
        let closed = word.closed(shape);
        let run = thresholds.consecutive_failures();
        let in_a_row =
            run > 0 && incoming.is_failure() && self.ends_in_failures(shape, closed, run - 1);
        let outgoing = self.outgoing(closed);
        let pushed = word.push(shape, incoming, outgoing);
        if !in_a_row && !thresholds.ratio_may_match(pushed.closed(shape)) {
            return None;
        }
        let outgoing = if closed.full {
            outgoing.counts()
        } else {
            Counts::default()
        };
        let counts = self
            .ring()
            .counts(shape.samples(closed))
            .shifted(incoming.counts(), outgoing);
        let cause = if in_a_row {
            Cause::ConsecutiveFailures
        } else {
            self.rules(word).matching(counts)?
        };
        Some((cause, counts))
    }

    /// Whether the newest `run` outcomes of a window are all failures; `run` is less than the window's size.
    fn ends_in_failures(&self, shape: Shape, closed: Closed, run: u32) -> bool {
        let ring = self.ring();
        let end = closed.cursor;
        if run <= end {
            return ring.all_failures(end - run, end);
        }
        closed.full
            && ring.all_failures(0, end)
            && ring.all_failures(shape.size - (run - end), shape.size)
    }

    /// Makes `word` ready to be left for another generation: writes its pending outcome to the ring. Says what the window
    /// holds; `None` if the word has moved meanwhile.
    ///
    /// Were it left out: thread A has loaded the old word and is about to write its pending failure; thread B begins a new
    /// generation with an empty window and puts a success in the same place; A's write would turn that into the old failure.
    pub(crate) fn leave(&self, word: Word, now: impl FnOnce() -> u64) -> Option<Counts> {
        if !word.is_recording() {
            return Some(Counts::default());
        }
        if word.is_by_time() {
            return Some(self.counts_by_time(word, now()));
        }
        if self.is_by_score(word) {
            return Some(Counts::default());
        }
        let shape = self.terms(word).shape();
        let closed = word.closed(shape);
        self.write_pending(word, shape, closed)
            .then(|| self.ring().counts(shape.samples(closed)))
    }

    /// The window's content, as it was at one moment of the generation of `word`. `None` if the
    /// generation or the window's shape ends meanwhile.
    ///
    /// The first round reads all positions. Each further round reads those that may have changed during the round
    /// before, until the word stands still for a whole round. For example, the window holds 20, and 3 outcomes come during the first
    /// round: the second one reads the position that was pending and the next 2, three reads in place of 20.
    pub(crate) fn samples(&self, mut word: Word) -> Option<Vec<Sample>> {
        let shape = self.terms(word).shape();
        let size = shape.size;
        let ring = self.ring();
        let mut kinds: Vec<_> = (0..size).map(|position| ring.look_at(position)).collect();
        let mut closed = word.closed(shape);
        loop {
            let end = self.word.load();
            if end == word {
                break;
            }
            if end.stamp() != word.stamp() || end.side() != word.side() {
                return None;
            }
            let first = shape.pending_at(closed).unwrap_or(0);
            let moved = word.outcomes_until(end, shape).saturating_add(1).min(size);
            (word, closed) = (end, end.closed(shape));
            for position in (first..first + moved).map(|position| position % size) {
                kinds[position as usize] = ring.look_at(position);
            }
        }
        if let Some(position) = shape.pending_at(closed) {
            kinds[position as usize] = closed.pending;
        }
        let samples = shape.samples(closed);
        let oldest = if samples == size { closed.cursor } else { 0 };
        Some(
            (oldest..oldest + samples)
                .map(|position| kinds[(position % size) as usize].unpack())
                .collect(),
        )
    }
}
