//! The steps on a breaker's shared memory while its window is a count window.
//!
//! An outcome is recorded in one of three ways. `record_full`: the window is full, and no rule can match. `record_filling`: a plain window fills up, and no
//! rule can match. `record_closely`: anything else. The first has no
//! loop and saves no register that it need not: a function that saves registers on the stack has stores
//! under way, and a CAS waits for all of them. So it is compiled four times: for near rings and far ones, and for windows that the number of bad outcomes judges, and
//! those that are judged by kinds. Those that are near and judged by one number are *plain*.

use alloc::vec::Vec;

use crate::contract::outcome::{Counts, Sample};
use crate::contract::state::Cause;
use crate::engine::field::seldom;
use crate::engine::settings::Terms;
use crate::engine::shape::{Closed, Shape};
use crate::engine::sync::Backoff;
use crate::engine::window::count::{Kind, Place, Ring, RingAt};
use crate::engine::window::tally::{KindCounts, Tallied};
use crate::engine::word::Word;
use crate::engine::{Engine, Recording};

impl Engine {
    #[inline]
    fn ring_at(&self, ring: RingAt) -> Option<Ring<'_>> {
        Some(Ring::new(match ring {
            RingAt::Near => &self.near,
            RingAt::Far(ring) => self.on_demand.far(ring)?,
        }))
    }

    /// The ring of the window of `word`.
    fn ring(&self, word: Word) -> Ring<'_> {
        let ring = self.ring_at(self.terms(word).thresholds().ring());
        ring.unwrap_or(Ring::new(&self.near))
    }

    /// Records an outcome, and says true, if three things hold: the generation of `word` lasts, no rule asks for
    /// the call's duration, and no rule matches. Otherwise it does nothing and says false. `word` is what the
    /// caller has loaded; it has granted the permit, and is untimed.
    #[inline]
    pub(crate) fn record_untimed(&self, word: Word, incoming: Kind) -> bool {
        if incoming.is_bad() {
            self.record_bad(word, incoming)
        } else {
            self.record_success(word)
        }
    }

    // These two only find out who goes on. So whoever that is saves the registers that it needs itself, and no more.
    #[inline(never)]
    fn record_success(&self, word: Word) -> bool {
        let terms = self.terms(word);
        if terms.thresholds().is_plain() {
            self.record_plain_success(word, terms)
        } else {
            self.record_apart(word, Kind::FAST_SUCCESS, terms)
        }
    }

    #[inline(never)]
    fn record_bad(&self, word: Word, incoming: Kind) -> bool {
        let terms = self.terms(word);
        if terms.thresholds().is_plain() {
            self.record_plain_bad(word, incoming, terms)
        } else {
            self.record_apart(word, incoming, terms)
        }
    }

    #[inline(never)]
    fn record_plain_success(&self, word: Word, terms: Terms<'_>) -> bool {
        self.record_plain(word, Kind::FAST_SUCCESS, terms)
    }

    #[inline(never)]
    fn record_plain_bad(&self, word: Word, incoming: Kind, terms: Terms<'_>) -> bool {
        self.record_plain(word, incoming, terms)
    }

    #[inline(always)]
    fn record_plain(&self, word: Word, incoming: Kind, terms: Terms<'_>) -> bool {
        if !word.closed(terms.thresholds().near_shape()).full {
            seldom();
            return self.record_filling(word, incoming, terms);
        }
        self.record_or_again::<false, false>(word, incoming, terms)
    }

    /// Puts an outcome in a plain window that fills up. False if a rule may match, as in [`record_untimed`](Self::record_untimed).
    #[inline(never)]
    fn record_filling(&self, word: Word, incoming: Kind, terms: Terms<'_>) -> bool {
        let shape = terms.thresholds().near_shape();
        let closed = word.closed(shape);
        let pushed = word.push(shape, incoming, Kind::FAST_SUCCESS);
        if self.may_match(word, pushed.closed(shape), incoming) {
            return self.record_untimed_anyhow(word, incoming, false);
        }
        let ring = Ring::new(&self.near);
        let is_written = shape.pending_at(closed).is_none_or(|pending_at| {
            ring.write(pending_at, closed.pending, || self.is_current(word))
        });
        is_written && self.word.try_move(word, pushed)
            || self.record_untimed_anyhow(word, incoming, true)
    }

    /// As [`record_untimed`](Self::record_untimed), for other windows than plain ones.
    #[inline]
    fn record_apart(&self, word: Word, incoming: Kind, terms: Terms<'_>) -> bool {
        match (terms.thresholds().ring(), terms.floors().is_none()) {
            (RingAt::Near, true) => self.record_good_score(word, incoming),
            (RingAt::Near, false) => self.record_by_kind(word, incoming, terms),
            (RingAt::Far(_), true) => self.record_far(word, incoming, terms),
            (RingAt::Far(_), false) => self.record_far_by_kind(word, incoming, terms),
        }
    }

    /// A bad outcome takes a clock.
    #[inline(never)]
    fn record_good_score(&self, word: Word, incoming: Kind) -> bool {
        !incoming.is_bad()
            && (self.lower_scores(word) || self.record_untimed_anyhow(word, incoming, true))
    }

    #[inline(never)]
    fn record_by_kind(&self, word: Word, incoming: Kind, terms: Terms<'_>) -> bool {
        self.record_or_again::<false, true>(word, incoming, terms)
    }

    #[inline(never)]
    fn record_far(&self, word: Word, incoming: Kind, terms: Terms<'_>) -> bool {
        self.record_or_again::<true, false>(word, incoming, terms)
    }

    #[inline(never)]
    fn record_far_by_kind(&self, word: Word, incoming: Kind, terms: Terms<'_>) -> bool {
        self.record_or_again::<true, true>(word, incoming, terms)
    }

    #[inline(always)]
    fn record_or_again<const FAR: bool, const BY_KIND: bool>(
        &self,
        word: Word,
        incoming: Kind,
        terms: Terms<'_>,
    ) -> bool {
        match self.record_full::<FAR, BY_KIND>(word, incoming, terms) {
            Some(true) => true,
            Some(false) => self.record_untimed_anyhow(word, incoming, true),
            None => self.record_untimed_anyhow(word, incoming, false),
        }
    }

    #[cold]
    #[inline(never)]
    fn record_untimed_anyhow(&self, granted: Word, incoming: Kind, lost: bool) -> bool {
        let stamp = granted.stamp();
        let mut backoff = Backoff::new();
        if lost {
            backoff.pause();
        }
        loop {
            let word = self.word.load();
            if !word.records_untimed(stamp) {
                return false;
            }
            let recording = if !self.is_by_score(word) {
                if self.is_about_to_match(word, incoming) {
                    return false;
                }
                self.record_closely(word, incoming)
            } else if incoming.is_bad() {
                return false;
            } else if self.lower_scores(word) {
                Recording::Done
            } else {
                Recording::Moved
            };
            match recording {
                Recording::Done => return true,
                Recording::Moved => backoff.pause(),
                Recording::Matches(..) => return false,
            }
        }
    }

    /// Puts an outcome in the window of `word`, unless a rule matches with it.
    pub(crate) fn record(&self, word: Word, incoming: Kind) -> Recording {
        let terms = self.terms(word);
        let recorded = match (terms.thresholds().ring(), terms.floors().is_none()) {
            (RingAt::Near, true) => self.record_full::<false, false>(word, incoming, terms),
            (RingAt::Near, false) => self.record_full::<false, true>(word, incoming, terms),
            (RingAt::Far(_), true) => self.record_full::<true, false>(word, incoming, terms),
            (RingAt::Far(_), false) => self.record_full::<true, true>(word, incoming, terms),
        };
        match recorded {
            Some(true) => Recording::Done,
            Some(false) => Recording::Moved,
            None => self.record_closely(word, incoming),
        }
    }

    /// Puts an outcome in the window of `word`, if that is full and no rule can match. `None` in any other case;
    /// false if the word has moved meanwhile.
    #[inline(always)]
    fn record_full<const FAR: bool, const BY_KIND: bool>(
        &self,
        word: Word,
        incoming: Kind,
        terms: Terms<'_>,
    ) -> Option<bool> {
        let thresholds = terms.thresholds();
        // The widths of a near window are constants.
        let shape = if FAR {
            thresholds.shape()
        } else {
            thresholds.near_shape()
        };
        let closed = word.closed(shape);
        if !closed.full {
            return None;
        }
        let ring = if FAR {
            Ring::new(self.on_demand.far(thresholds.far_ring())?)
        } else {
            Ring::new(&self.near)
        };
        let place = ring.place(shape.pending_at(closed)?)?;
        let held = if BY_KIND {
            self.enter_pending(word, shape, place)?
        } else {
            if place.kind() != closed.pending {
                if !self.is_current(word) {
                    return Some(false);
                }
                place.put(closed.pending);
            }
            KindCounts::default()
        };
        let outgoing = ring.kind_at(closed.cursor)?;
        let pushed = word.push(shape, incoming, outgoing);
        let may_match = if BY_KIND {
            let counts = held.shifted(KindCounts::one(incoming), KindCounts::one(outgoing));
            terms.floors().are_reached(counts)
        } else {
            thresholds.ratio_is_near(pushed.closed(shape))
        };
        if may_match || thresholds.run_may_match(pushed.closed(shape), incoming) {
            return None;
        }
        Some(self.word.try_move(word, pushed))
    }

    /// Writes the pending outcome of `word`, a full window's, to the tally and to its `place` in the ring. Says what the tally has
    /// then; `None` if the word has moved meanwhile.
    #[inline(always)]
    fn enter_pending(&self, word: Word, shape: Shape, place: Place<'_>) -> Option<KindCounts> {
        let closed = word.closed(shape);
        // After the place: who finds the outcome there finds it here.
        let seen = self.tally.look();
        let mut replaced = place.kind();
        if closed.cursor <= 1 {
            seldom();
            if shape.size == 1 {
                return None;
            }
            if closed.cursor == 0 && seen.is_filling() {
                replaced = Kind::FAST_SUCCESS;
            }
        } else if replaced == closed.pending {
            return Some(seen.counts());
        }
        if !self.is_current(word) {
            return None;
        }
        let held = self.enter_in_tally(word, shape, seen, replaced)?;
        if place.kind() != closed.pending {
            place.put(closed.pending);
        }
        Some(held)
    }

    /// Enters the pending outcome of `word` in the tally in place of a `replaced` one, unless it is there. Says what the tally has
    /// then; `None` if the word has moved meanwhile. The caller has made sure that it had not when the tally was already `seen`.
    #[inline(always)]
    fn enter_in_tally(
        &self,
        word: Word,
        shape: Shape,
        seen: Tallied,
        replaced: Kind,
    ) -> Option<KindCounts> {
        let closed = word.closed(shape);
        if seen.is_as_of(closed.cursor) {
            return Some(seen.counts());
        }
        let pending = KindCounts::one(closed.pending);
        let counts = seen.counts().shifted(pending, KindCounts::one(replaced));
        if self.tally.put(seen, Tallied::new(counts, word, shape)) {
            return Some(counts);
        }
        // Somebody else has entered it, or the word has moved on.
        let now = self.tally.look();
        now.is_as_of(closed.cursor).then(|| now.counts())
    }

    /// As [`record`](Self::record), in all cases.
    #[cold]
    #[inline(never)]
    fn record_closely(&self, word: Word, incoming: Kind) -> Recording {
        let thresholds = self.terms(word).thresholds();
        let shape = thresholds.shape();
        let closed = word.closed(shape);
        let Some(held) = self.write_pending(word, shape, closed) else {
            return Recording::Moved;
        };
        let pushed = word.push(shape, incoming, self.outgoing(word, closed));
        if self.may_match(word, pushed.closed(shape), incoming)
            && let Some((cause, counts)) = self.matching_rule(word, held, incoming)
        {
            return Recording::Matches(cause, counts);
        }
        if self.word.try_move(word, pushed) {
            Recording::Done
        } else {
            Recording::Moved
        }
    }

    /// Whether a rule can match in this window at all, now that `incoming` is in it. `pushed` is what comes after `word`.
    #[inline]
    fn may_match(&self, word: Word, pushed: Closed, incoming: Kind) -> bool {
        let thresholds = self.terms(word).thresholds();
        self.ratio_may_match(word, pushed) || thresholds.run_may_match(pushed, incoming)
    }

    /// The same of the rules on what the window holds.
    ///
    /// Failures, timeouts and slow calls are all bad outcomes, so none of them is more frequent than the bad ones. In a full
    /// window no rule matches while there are fewer bad outcomes than the *floor*: the least number that reaches the
    /// lowest ratio. With 20 outcomes and ratios of 0.5 and 0.3 the floor is 6. In a window that fills up, no ratio is reached
    /// before there are `min_calls`, nor while there is no bad outcome; a number of failures may be there before.
    #[inline]
    fn ratio_may_match(&self, word: Word, pushed: Closed) -> bool {
        let terms = self.terms(word);
        let is_near = terms.thresholds().ratio_is_near(pushed);
        if pushed.full {
            return is_near;
        }
        pushed.bad > 0 && pushed.cursor >= terms.min_calls()
            || is_near && self.on_demand.rare(word.side()).failures > 0
    }

    /// Whether with `incoming` a rule matches, if all bad outcomes are failures. Then who counts the ring to say so goes on to open, and
    /// counts it once.
    fn is_about_to_match(&self, word: Word, incoming: Kind) -> bool {
        let terms = self.terms(word);
        let shape = terms.shape();
        let closed = word.closed(shape);
        let pushed = word.push(shape, incoming, self.outgoing(word, closed));
        let pushed = pushed.closed(shape);
        self.ratio_may_match(word, pushed) && {
            let bad = Counts {
                samples: shape.samples(pushed),
                failures: pushed.bad as u32,
                ..Counts::default()
            };
            self.rules(word).matching(bad).is_some()
        }
    }

    /// Writes the pending outcome of `word` to its place in the ring, and before that to the tally, if one is kept: the helping step, which any
    /// thread does for the one that recorded last. Says what the tally has then, or nothing if there is none; `None` if the word has
    /// moved meanwhile.
    fn write_pending(
        &self,
        word: Word,
        shape: Shape,
        closed: Closed,
    ) -> Option<Option<KindCounts>> {
        let is_tallied = !self.terms(word).floors().is_none();
        let Some(pending_at) = shape.pending_at(closed) else {
            return Some(is_tallied.then(KindCounts::default));
        };
        let is_current = || self.is_current(word);
        let ring = self.ring(word);
        if !is_tallied {
            let written = ring.write(pending_at, closed.pending, is_current);
            return written.then_some(None);
        }
        let place = ring.place(pending_at)?;
        let seen = self.tally.look();
        let is_first = closed.cursor == 1 && !closed.full || shape.size == 1;
        if is_first || seen.is_unknown() {
            // What the tally has is of an earlier window, or nothing.
            if !ring.write(pending_at, closed.pending, is_current) {
                return None;
            }
            return self.tally_anew(word, shape, closed, ring).map(Some);
        }
        if closed.full {
            return self.enter_pending(word, shape, place).map(Some);
        }
        if !is_current() {
            return None;
        }
        let held = if closed.pending.is_bad() {
            self.enter_in_tally(word, shape, seen, Kind::FAST_SUCCESS)?
        } else {
            seen.counts()
        };
        if place.kind() != closed.pending {
            place.put(closed.pending);
        }
        Some(Some(held))
    }

    /// Counts the ring, which has the pending outcome of `word`, and makes that the tally. `None` if the word has moved meanwhile.
    fn tally_anew(
        &self,
        word: Word,
        shape: Shape,
        closed: Closed,
        ring: Ring<'_>,
    ) -> Option<KindCounts> {
        loop {
            let seen = self.tally.look();
            let counts = KindCounts::of(ring.counts(shape.samples(closed)));
            let new = Tallied::new(counts, word, shape);
            if !self.is_current(word) {
                return None;
            }
            if seen == new || self.tally.put(seen, new) {
                return Some(counts);
            }
        }
    }

    /// Makes the tally ready for a move of the word to another config side in the same generation. If the window has not been judged by kinds
    /// so far and is about to be, nobody knows the tally, and whoever records next counts the ring. False if the word has moved meanwhile.
    pub(crate) fn hand_tally_over(&self, from: Word, to: Word) -> bool {
        let is_new = from.is_recording()
            && self.terms(from).floors().is_none()
            && !self.terms(to).floors().is_none();
        if !is_new {
            return true;
        }
        let seen = self.tally.look();
        let unknown = Tallied::unknown(from, self.terms(from).shape());
        self.is_current(from) && self.tally.put(seen, unknown)
    }

    /// The kind of the outcome that the next outcome pushes out of the window; in one that is not full that is none, which
    /// counts like a fast success.
    fn outgoing(&self, word: Word, closed: Closed) -> Kind {
        if closed.full {
            let outgoing = self.ring(word).kind_at(closed.cursor);
            outgoing.unwrap_or(Kind::FAST_SUCCESS)
        } else {
            Kind::FAST_SUCCESS
        }
    }

    /// The rule that matches once `incoming` is in the window of `word`, and what
    /// the window then holds. To be called after the pending outcome is written to the ring. `held` is what the tally has.
    #[cold]
    #[inline(never)]
    fn matching_rule(
        &self,
        word: Word,
        held: Option<KindCounts>,
        incoming: Kind,
    ) -> Option<(Cause, Counts)> {
        let thresholds = self.terms(word).thresholds();
        let shape = thresholds.shape();
        let closed = word.closed(shape);
        let run = thresholds.consecutive_failures();
        let in_a_row =
            run > 0 && incoming.is_failure() && self.ends_in_failures(word, closed, run - 1);
        let outgoing = self.outgoing(word, closed);
        let pushed = word.push(shape, incoming, outgoing).closed(shape);
        if !in_a_row && !self.ratio_may_match(word, pushed) {
            return None;
        }
        let samples = shape.samples(pushed);
        let rules = self.rules(word);
        let by_tally = held.map(|held| {
            held.shifted(KindCounts::one(incoming), KindCounts::one(outgoing))
                .counts(samples)
        });
        // Without a tally there are no more failures than bad outcomes. Most often there are as many, and the ring is counted once, to say so.
        let most = by_tally.unwrap_or(Counts {
            samples,
            failures: pushed.bad as u32,
            ..Counts::default()
        });
        if !in_a_row {
            rules.matching(most)?;
        }
        let counts = by_tally.unwrap_or_else(|| {
            let outgoing = if closed.full {
                outgoing.counts()
            } else {
                Counts::default()
            };
            self.ring(word)
                .counts(shape.samples(closed))
                .shifted(incoming.counts(), outgoing)
        });
        let cause = if in_a_row {
            Cause::ConsecutiveFailures
        } else {
            rules.matching(counts)?
        };
        Some((cause, counts))
    }

    /// Whether the newest `run` outcomes of a window are all failures; `run` is less than the window's size.
    fn ends_in_failures(&self, word: Word, closed: Closed, run: u32) -> bool {
        let ring = self.ring(word);
        let size = self.terms(word).shape().size;
        let end = closed.cursor;
        if run <= end {
            return ring.all_failures(end - run, end);
        }
        closed.full && ring.all_failures(0, end) && ring.all_failures(size - (run - end), size)
    }

    /// As [`leave`](Self::leave).
    pub(super) fn leave_by_count(&self, word: Word) -> Option<Counts> {
        let shape = self.terms(word).shape();
        let closed = word.closed(shape);
        self.write_pending(word, shape, closed)?;
        Some(self.ring(word).counts(shape.samples(closed)))
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
        let ring = self.ring(word);
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
