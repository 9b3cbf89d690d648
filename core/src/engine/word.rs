//! The one word that decides admission: its bits, and the states they mean.
//!
//! ```text
//!  63   61 60        39  38   37   36                                    0
//! +-------+------------+----+-----+---------------------------------------+
//! | mode  | generation |side|clean| payload, by mode                      |
//! +-------+------------+----+-----+---------------------------------------+
//! closed, observe-only   timed 1 | pending 3 | full 1 | lap, cursor, bad: 32 in all
//!   by a time window     timed 1 | revision 4 | run 32
//!   by scores            timed 1 | revision 4 | run 8 | failure score 12 | slow score 12
//! open, forced open      revision 2 | cause 4 | digits of the deadline 31
//! half-open              revision 2 | cause 4 | bad 7 | out 8 | passed 8 | inconclusive 8
//! disabled               revision 2
//! ```
//!
//! `side` says which of the two config sides the word goes with. Each reconfiguration
//! flips it, and moves the revision on, or the lap where there is one. So after two reconfigurations the word
//! has the side that it had, and is another word all the same.
//!
//! `clean` is set when the window is full of fast successes or all scores are zero, and only then. It is zero in
//! every mode without a window. So one masked comparison tells whether a success may be left
//! unrecorded.
//!
//! How `lap`, `cursor` and `bad` share their 32 bits depends on the window's size ([`Shape`]). What the
//! window does not need goes to the lap count. For example, in a window of 4 the cursor is at 2 again after four more
//! outcomes, with as many bad ones perhaps; the lap is then one more, so the two words are not equal.
//!
//! Scores are all that their window holds, but for when they were raised. So each time that one is raised the revision moves
//! on, as it does with a reconfiguration. Which of the payloads the word of a closed breaker has that is not a time window's, its config side says.

use crate::contract::cusum::Cusum;
use crate::contract::score::Score;
use crate::contract::stages::Stages;
use crate::contract::state::{Cause, State};
use crate::engine::field::{Field, seldom};
use crate::engine::shape::{Closed, LAP_CURSOR_BAD, Shape};
use crate::engine::sync::{AcqRel, Acquire, AtomicU64, Relaxed};
use crate::engine::wait::Wait;
use crate::engine::window::count::Kind;

const PAYLOAD: Field = Field::lowest(37);
const CLEAN: Field = PAYLOAD.above(1);
const SIDE: Field = CLEAN.above(1);
const GENERATION: Field = SIDE.above(22);
const MODE: Field = GENERATION.above(3);

const FULL: Field = LAP_CURSOR_BAD.above(1);
const PENDING: Field = FULL.above(3);
const TIMED: Field = PENDING.above(1);

const RUN: Field = Field::lowest(32);
const TIME_REVISION: Field = RUN.above(4);

const SLOW_SCORE: Field = Field::lowest(12);
const FAILURE_SCORE: Field = SLOW_SCORE.above(12);
const SCORE_RUN: Field = FAILURE_SCORE.above(8);
const SCORE_REVISION: Field = SCORE_RUN.above(4);
const STANDING: u64 = SLOW_SCORE.mask() | FAILURE_SCORE.mask() | SCORE_RUN.mask();

const DIGITS: Field = Field::lowest(Wait::BITS);
const CAUSE: Field = DIGITS.above(4);
const REVISION: Field = CAUSE.above(2);

const INCONCLUSIVE: Field = Field::lowest(8);
const PASSED: Field = INCONCLUSIVE.above(8);
const OUT: Field = PASSED.above(8);
const BAD: Field = OUT.above(7);

/// Modes. The topmost bit is clear where outcomes enter a window. There the middle bit
/// says that the window is a time window.
const CLOSED: u64 = 0b000;
const OBSERVE_ONLY: u64 = 0b001;
const BY_TIME: u64 = 0b010;
const OPEN: u64 = 0b100;
const HALF_OPEN: u64 = 0b101;
const FORCED_OPEN: u64 = 0b110;
const DISABLED: u64 = 0b111;

const _: () = {
    assert!(MODE.mask() >> 61 == 0b111);
    assert!(TIMED.mask() | PENDING.mask() | FULL.mask() | LAP_CURSOR_BAD.mask() == PAYLOAD.mask());
    assert!(TIMED.mask() | TIME_REVISION.mask() | RUN.mask() == PAYLOAD.mask());
    assert!(TIMED.mask() | SCORE_REVISION.mask() | STANDING == PAYLOAD.mask());
    assert!(FAILURE_SCORE.max() == Score::MAX_LIMIT as u64);
    assert!(SCORE_RUN.max() == Cusum::MAX_CONSECUTIVE as u64);
    assert!(REVISION.mask() | CAUSE.mask() | DIGITS.mask() == PAYLOAD.mask());
    assert!(BAD.above(4).mask() == CAUSE.mask());
    // A stage opens at the latest when all of its probes are bad.
    assert!(BAD.max() + 1 == Stages::MAX as u64);
    assert!(PASSED.max() == Stages::MAX_OUTCOMES as u64);
};

/// What a permit remembers of the word that granted it: the mode and the generation.
///
/// One more bit says that the mode does not record. Further bits say in which era the call is followed, if it is
/// (see `in_flight.rs`). The fast paths compare a stamp with a masked word of a mode that records and follows no
/// call; for a stamp with one of these bits the comparison fails, with no test of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

const RECORDS_NOT: Field = Field::lowest(1);
const ERA: Field = RECORDS_NOT.above(35);
const _: () = assert!(ERA.mask() & (TIMED.mask() | CLEAN.mask()) == 0);

impl Stamp {
    pub(crate) fn generation(self) -> u32 {
        Word(self.0).generation()
    }

    pub(crate) fn is_probe(self) -> bool {
        Word(self.0).state() == State::HalfOpen
    }

    /// The same stamp, of a call that is followed in `era`, which is not zero.
    pub(crate) const fn in_era(self, era: u64) -> Self {
        Self(self.0 | ERA.put(era))
    }

    /// In which era the call is followed; zero if it is not.
    pub(crate) const fn era(self) -> u64 {
        ERA.get(self.0)
    }
}

/// A value of the word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(u64);

/// What a word that records starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recorder {
    /// The window is a time window.
    pub(crate) by_time: bool,
    /// The window keeps scores.
    pub(crate) by_score: bool,
    /// A rule needs the start time of calls.
    pub(crate) timed: bool,
    /// There is a rule on consecutive failures.
    pub(crate) in_a_row: bool,
}

impl Recorder {
    const fn mode(self, mode: u64) -> u64 {
        mode | if self.by_time { BY_TIME } else { 0 }
    }

    /// The payload of an empty window, and that scores of zero are clean.
    const fn empty(self) -> u64 {
        TIMED.put(self.timed as u64) | CLEAN.put(self.by_score as u64)
    }
}

/// What a window of scores holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) failures: u16,
    pub(crate) slow: u16,
    /// The failures that came last, while there is a rule on them; saturates.
    pub(crate) run: u32,
}

/// The payload of half-open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HalfOpen {
    /// What opened the breaker.
    pub(crate) cause: Cause,
    /// Probes granted and not settled.
    pub(crate) out: u32,
    /// Probes that succeeded; saturates at 255, the most that can be asked for. By stages: the outcomes of those that have
    /// passed, and the probes of this one that succeeded.
    pub(crate) passed: u32,
    /// Probes of this stage that did not; less than decides it.
    pub(crate) bad: u32,
    /// Probes that ended without a verdict.
    pub(crate) inconclusive: u32,
}

impl HalfOpen {
    /// No probe has been granted yet.
    pub(crate) const fn new(cause: Cause) -> Self {
        Self {
            cause,
            out: 0,
            passed: 0,
            bad: 0,
            inconclusive: 0,
        }
    }
}

impl Word {
    pub(crate) const GENERATIONS: u32 = 1 << 22;

    /// The word of a breaker's first generation, before it is given a state.
    pub(crate) fn before(generation: u32) -> Self {
        Self(GENERATION.put(u64::from(generation.wrapping_sub(1) % Self::GENERATIONS)))
    }

    #[inline]
    pub(crate) fn state(self) -> State {
        const CLOSED_BY_TIME: u64 = CLOSED | BY_TIME;
        match MODE.get(self.0) {
            CLOSED | CLOSED_BY_TIME => State::Closed,
            OPEN => State::Open,
            HALF_OPEN => State::HalfOpen,
            FORCED_OPEN => State::ForcedOpen,
            DISABLED => State::Disabled,
            _ => State::ObserveOnly,
        }
    }

    #[inline]
    pub(crate) const fn generation(self) -> u32 {
        GENERATION.get(self.0) as u32
    }

    #[inline]
    pub(crate) const fn next_generation(self) -> u32 {
        (self.generation() + 1) % Self::GENERATIONS
    }

    /// How many generations `to` is after `from`.
    pub(crate) const fn distance(from: u32, to: u32) -> u32 {
        to.wrapping_sub(from) % Self::GENERATIONS
    }

    pub(crate) const fn previous_generation(self) -> u32 {
        self.generation().wrapping_sub(1) % Self::GENERATIONS
    }

    /// How many generations ago that one was.
    pub(crate) const fn generations_since(self, generation: u32) -> u32 {
        self.generation().wrapping_sub(generation) % Self::GENERATIONS
    }

    /// Which config side this word goes with.
    #[inline]
    pub(crate) const fn side(self) -> usize {
        SIDE.get(self.0) as usize
    }

    #[inline]
    pub(crate) const fn stamp(self) -> Stamp {
        let not = RECORDS_NOT.put(!self.is_recording() as u64);
        Stamp(self.0 & (MODE.mask() | GENERATION.mask()) | not)
    }

    /// Whether a permit of this stamp is not stale.
    #[inline]
    pub(crate) const fn has_granted(self, stamp: Stamp) -> bool {
        self.stamp().0 == stamp.0 & !ERA.mask()
    }

    #[inline]
    pub(crate) const fn is_closed(self) -> bool {
        self.0 & (MODE.mask() ^ MODE.put(BY_TIME)) == 0
    }

    /// Closed or observe-only: outcomes enter the window.
    #[inline]
    pub(crate) const fn is_recording(self) -> bool {
        self.0 & MODE.put(OPEN) == 0
    }

    /// Of a word that records: whether the window is a time window.
    #[inline]
    pub(crate) const fn is_by_time(self) -> bool {
        self.0 & MODE.put(BY_TIME) != 0
    }

    /// Closed, and no rule needs the start time of its calls.
    #[inline]
    pub(crate) const fn admits_untimed(self) -> bool {
        self.0 & (MODE.mask() ^ MODE.put(BY_TIME) | TIMED.mask()) == 0
    }

    /// Open or forced open: there is a deadline to wait for.
    #[inline]
    pub(crate) const fn is_waiting(self) -> bool {
        matches!(MODE.get(self.0), OPEN | FORCED_OPEN)
    }

    #[inline]
    pub(crate) const fn is_half_open(self) -> bool {
        MODE.get(self.0) == HALF_OPEN
    }

    /// Closed and observe-only: whether the window is full of fast successes.
    pub(crate) const fn is_clean(self) -> bool {
        self.0 & CLEAN.mask() != 0
    }

    /// Whether one more success of `stamp` leaves the window as it is: the
    /// generation is the permit's, the window holds nothing but fast successes,
    /// and no rule asks how long the call took.
    #[inline]
    pub(crate) const fn is_unmoved_by_success(self, stamp: Stamp) -> bool {
        self.0 & (MODE.mask() | GENERATION.mask() | CLEAN.mask() | TIMED.mask())
            == stamp.0 | CLEAN.mask()
    }

    /// Whether the generation is that of `stamp`, outcomes enter the window,
    /// and no rule asks how long the call took.
    #[inline]
    pub(crate) const fn records_untimed(self, stamp: Stamp) -> bool {
        self.0 & (MODE.mask() | GENERATION.mask() | TIMED.mask()) == stamp.0
    }

    /// The same where a rule asks, of a call that is not followed.
    #[inline]
    pub(crate) const fn records_timed(self, stamp: Stamp) -> bool {
        self.0 & (MODE.mask() | GENERATION.mask() | TIMED.mask()) == stamp.0 | TIMED.mask()
    }

    /// Closed and observe-only: whether a rule needs the start time of calls.
    #[inline]
    pub(crate) const fn is_timed(self) -> bool {
        TIMED.get(self.0) == 1
    }

    /// The payload of closed and observe-only.
    #[inline]
    pub(crate) const fn closed(self, shape: Shape) -> Closed {
        Closed {
            cursor: shape.cursor(self.0),
            full: FULL.get(self.0) == 1,
            bad: shape.bad(self.0),
            pending: Kind::from_bits(PENDING.get(self.0) as u32),
        }
    }

    /// Of a time window: how many failures came last, while there is a rule on them.
    #[inline]
    pub(crate) const fn run(self) -> u32 {
        RUN.get(self.0) as u32
    }

    /// Of a time window: the same with another run of failures.
    #[inline]
    pub(crate) const fn with_run(self, run: u32) -> Self {
        Self(self.0 & !RUN.mask() | RUN.put(run as u64))
    }

    /// Of a time window: whether both words are of one generation and one config, whatever
    /// their runs of failures, and whether or not a ramp that makes calls timed has ended in between.
    #[inline]
    pub(crate) const fn goes_with(self, other: Self) -> bool {
        (self.0 ^ other.0) & !(RUN.mask() | TIMED.mask()) == 0
    }

    /// Of a window of scores: what it holds.
    #[inline]
    pub(crate) const fn standing(self) -> Standing {
        Standing {
            failures: FAILURE_SCORE.get(self.0) as u16,
            slow: SLOW_SCORE.get(self.0) as u16,
            run: SCORE_RUN.get(self.0) as u32,
        }
    }

    /// Of a window of scores: the same generation with other ones.
    #[inline]
    pub(crate) const fn with_standing(self, standing: Standing) -> Self {
        let bits = FAILURE_SCORE.put(standing.failures as u64)
            | SLOW_SCORE.put(standing.slow as u64)
            | SCORE_RUN.put(standing.run as u64);
        let clean = CLEAN.put((bits == 0) as u64);
        Self(self.0 & !(STANDING | CLEAN.mask()) | bits | clean)
    }

    /// Of a window of scores: another word of the same meaning.
    pub(crate) const fn revised(self) -> Self {
        Self(next_of(SCORE_REVISION, self.0))
    }

    /// Open and forced open: the lowest digits of the deadline, see [`Wait`].
    #[inline]
    pub(crate) const fn digits(self) -> u64 {
        DIGITS.get(self.0)
    }

    /// An operator's state.
    pub(crate) fn is_by_operator(self) -> bool {
        matches!(
            self.state(),
            State::ForcedOpen | State::Disabled | State::ObserveOnly
        )
    }

    /// Half-open: probes granted and not settled.
    #[inline]
    pub(crate) const fn probes_out(self) -> u32 {
        OUT.get(self.0) as u32
    }

    /// The payload of half-open.
    #[inline]
    pub(crate) fn half_open(self) -> HalfOpen {
        HalfOpen {
            cause: self.cause(),
            out: OUT.get(self.0) as u32,
            passed: PASSED.get(self.0) as u32,
            bad: BAD.get(self.0) as u32,
            inconclusive: INCONCLUSIVE.get(self.0) as u32,
        }
    }

    /// What a rejection keeps of a word that records, by which a share of the calls is refused for this cause. No breaker
    /// has such a word.
    pub(crate) const fn refusing(self, cause: Cause) -> Self {
        let is_throttled = matches!(cause, Cause::Throttled);
        Self(self.0 & !(PAYLOAD.mask() | CLEAN.mask()) | DIGITS.put(is_throttled as u64))
    }

    /// Of what a rejection keeps: why the call was rejected.
    pub(crate) fn cause_of_rejection(self) -> Cause {
        match DIGITS.get(self.0) {
            _ if !self.is_recording() => self.cause(),
            0 => Cause::Ramping,
            _ => Cause::Throttled,
        }
    }

    /// Open, forced open and half-open: what opened the breaker.
    #[inline]
    pub(crate) fn cause(self) -> Cause {
        cause_of(CAUSE.get(self.0))
    }

    /// The same generation with a window of so many outcomes, at most its size.
    pub(crate) const fn filled(self, shape: Shape, samples: u32, bad: u32, pending: Kind) -> Self {
        let full = samples == shape.size;
        let cursor = if full { 0 } else { samples };
        Self(
            self.0 & !(CLEAN.mask() | PENDING.mask() | FULL.mask() | LAP_CURSOR_BAD.mask())
                | CLEAN.put((full && bad == 0) as u64)
                | PENDING.put(pending.bits() as u64)
                | FULL.put(full as u64)
                | LAP_CURSOR_BAD.put((cursor as u64) << shape.bad_bits | bad as u64),
        )
    }

    /// The same generation after one more outcome, which pushes `outgoing` out.
    ///
    /// `outgoing` may have been read after the word has moved on. Then it may be a bad outcome that this word
    /// does not count, and the result makes no sense. The CAS to it fails.
    #[inline]
    pub(crate) const fn push(self, shape: Shape, incoming: Kind, outgoing: Kind) -> Self {
        let mut next =
            self.0 & !(CLEAN.mask() | PENDING.mask()) | PENDING.put(incoming.bits() as u64);
        // Branches, though arithmetic would do: the processor predicts them and need not wait for what is seldom so.
        if self.closed(shape).cursor + 1 == shape.size {
            seldom();
            next = shape.start_lap(next) | FULL.mask();
        } else {
            next += 1 << shape.bad_bits;
        }
        if incoming.is_bad() {
            next = next.wrapping_add(1);
        }
        if outgoing.is_bad() {
            seldom();
            next = next.wrapping_sub(1);
        }
        let pushed = Self(next).closed(shape);
        if pushed.bad == 0 {
            seldom();
            if pushed.full {
                next |= CLEAN.mask();
            }
        }
        Self(next)
    }

    /// Of a count window: a number that is another one in the next lap, and in the next generation.
    pub(crate) const fn turn(self, shape: Shape) -> u64 {
        shape.lap(self.0) + self.generation() as u64
    }

    /// How many outcomes came between this word and a later one of its generation; `u32::MAX` if the lap has wrapped
    /// meanwhile, and nobody can tell.
    pub(crate) fn outcomes_until(self, later: Self, shape: Shape) -> u32 {
        let outcomes = shape.total(later.0).checked_sub(shape.total(self.0));
        outcomes
            .and_then(|outcomes| u32::try_from(outcomes).ok())
            .unwrap_or(u32::MAX)
    }

    /// The same generation with another half-open payload.
    #[inline]
    pub(crate) fn with_half_open(self, half_open: HalfOpen) -> Self {
        Self(self.0 & !(PAYLOAD.mask() ^ REVISION.mask()) | half_open_bits(half_open))
    }

    /// The same state and payload, under the other config side. `shape` is that of the
    /// side that the word goes with so far.
    pub(crate) fn with_other_side(self, shape: Shape, recorder: Recorder) -> Self {
        let flipped = self.0 ^ SIDE.mask();
        if !self.is_recording() {
            return Self(next_of(REVISION, flipped));
        }
        let moved_on = if self.is_by_time() {
            let run = if recorder.in_a_row { 0 } else { RUN.mask() };
            next_of(TIME_REVISION, flipped & !run)
        } else if shape.is_of_scores() {
            let mut standing = self.standing();
            if !recorder.in_a_row {
                standing.run = 0;
            }
            Self(flipped).with_standing(standing).revised().0
        } else {
            shape.next_lap(flipped)
        };
        Self(moved_on & !TIMED.mask() | TIMED.put(u64::from(recorder.timed)))
    }

    /// Of a word that records: the same, with calls that are timed or are not.
    pub(crate) const fn timed_if(self, timed: bool) -> Self {
        Self(self.0 & !TIMED.mask() | TIMED.put(timed as u64))
    }

    /// The next generation: closed with an empty window.
    pub(crate) fn to_closed(self, recorder: Recorder) -> Self {
        self.next(recorder.mode(CLOSED), recorder.empty())
    }

    /// The next generation: observe-only with an empty window.
    pub(crate) fn to_observe_only(self, recorder: Recorder) -> Self {
        self.next(recorder.mode(OBSERVE_ONLY), recorder.empty())
    }

    /// The next generation: open for this wait.
    pub(crate) fn to_open(self, cause: Cause, wait: Wait) -> Self {
        self.next(OPEN, cause_bits(cause) | DIGITS.put(wait.digits))
    }

    /// The next generation: half-open.
    pub(crate) fn to_half_open(self, half_open: HalfOpen) -> Self {
        self.next(HALF_OPEN, half_open_bits(half_open))
    }

    /// The next generation: forced open for this wait.
    pub(crate) fn to_forced_open(self, wait: Wait) -> Self {
        let digits = DIGITS.put(wait.digits);
        self.next(FORCED_OPEN, cause_bits(Cause::Operator) | digits)
    }

    /// The next generation: disabled.
    pub(crate) fn to_disabled(self) -> Self {
        self.next(DISABLED, 0)
    }

    fn next(self, mode: u64, payload: u64) -> Self {
        Self(
            MODE.put(mode)
                | GENERATION.put(u64::from(self.next_generation()))
                | self.0 & SIDE.mask()
                | payload,
        )
    }
}

/// `word` with the next value of `field`, which wraps.
const fn next_of(field: Field, word: u64) -> u64 {
    let value = field.get(word).wrapping_add(1) & field.max();
    word & !field.mask() | field.put(value)
}

fn cause_bits(cause: Cause) -> u64 {
    CAUSE.put(code_of(cause))
}

/// Four bits for what can open a breaker.
pub(crate) const fn code_of(cause: Cause) -> u64 {
    match cause {
        Cause::ConsecutiveFailures => 0,
        Cause::FailureRatio => 1,
        Cause::TimeoutRatio => 2,
        Cause::SlowRatio => 3,
        Cause::ProbeFailed => 4,
        Cause::ProbeTimedOut => 5,
        Cause::ProbeSlow => 6,
        Cause::ProbesInconclusive => 7,
        Cause::Failures => 9,
        Cause::Outlier => 10,
        Cause::FailureScore => 11,
        Cause::SlowScore => 12,
        Cause::Peers => 13,
        // The others never open a breaker; a restored snapshot may claim one.
        Cause::Operator
        | Cause::ProbesPassed
        | Cause::WaitElapsed
        | Cause::LeaseLost
        | Cause::Reconfigured
        | Cause::Ramping
        | Cause::Throttled => 8,
    }
}

/// What these bits stand for.
pub(crate) fn cause_of(code: u64) -> Cause {
    match code {
        0 => Cause::ConsecutiveFailures,
        1 => Cause::FailureRatio,
        2 => Cause::TimeoutRatio,
        3 => Cause::SlowRatio,
        4 => Cause::ProbeFailed,
        5 => Cause::ProbeTimedOut,
        6 => Cause::ProbeSlow,
        7 => Cause::ProbesInconclusive,
        8 => Cause::Operator,
        9 => Cause::Failures,
        10 => Cause::Outlier,
        11 => Cause::FailureScore,
        12 => Cause::SlowScore,
        13 => Cause::Peers,
        cause => unreachable!("no transition writes cause {cause}"),
    }
}

fn half_open_bits(half_open: HalfOpen) -> u64 {
    cause_bits(half_open.cause)
        | OUT.put(u64::from(half_open.out))
        | PASSED.put(u64::from(half_open.passed))
        | BAD.put(u64::from(half_open.bad))
        | INCONCLUSIVE.put(u64::from(half_open.inconclusive))
}

/// The word itself. Every transition of a breaker is one successful
/// [`try_move`](Self::try_move).
#[derive(Debug)]
pub(crate) struct AtomicWord(AtomicU64);

impl AtomicWord {
    pub(crate) fn new(word: Word) -> Self {
        Self(AtomicU64::new(word.0))
    }

    /// Acquire: pairs with the release in [`try_move`](Self::try_move). A thread that sees a word also
    /// sees what was written for it before: ring words, leases, what came before, the config.
    #[inline]
    pub(crate) fn load(&self) -> Word {
        Word(self.0.load(Acquire))
    }

    /// Relaxed: for answers that depend on nothing but the word.
    #[inline]
    pub(crate) fn glance(&self) -> Word {
        Word(self.0.load(Relaxed))
    }

    /// Moves the word from `from` to `to`, unless someone else has moved it.
    ///
    /// Release: pairs with [`load`](Self::load). Acquire: pairs with the release here. `reconfigure` fills the side that
    /// an earlier move has left; those writes must come after that move. Relaxed: a caller whose move
    /// fails loads the word again.
    #[must_use = "only the winner of a move may act on it"]
    #[inline]
    pub(crate) fn try_move(&self, from: Word, to: Word) -> bool {
        self.0
            .compare_exchange(from.0, to.0, AcqRel, Relaxed)
            .is_ok()
    }
}
