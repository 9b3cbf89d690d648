//! The config of a live breaker: eleven words, twice.
//!
//! There are two *sides*, and the breaker's word says which one it goes with. `reconfigure` fills the
//! other side and then moves the word over to it. A side is written only while the word goes with the other. So the CAS
//! that validates a decision also validates the config that it was made by.
//!
//! For example, the word goes with side 0. Thread A reads `max_probes` there, 1. Thread B fills side 1 with
//! `max_probes` 2 and moves the word; thread C fills side 0 with 3. Whatever A now reads on side 0, its CAS fails, since the word
//! goes with side 1. Should C move the word back to side 0 before, it still differs from the one that A saw: each
//! reconfiguration moves a revision in the word on (`word.rs`).

use core::time::Duration;

use crate::contract::clock::saturating_nanos;
use crate::contract::config::{Config, OpenWait, Overdue, SlowRule, Window};
use crate::contract::cusum::{Cusum, SlowScore};
use crate::contract::outcome::Outcome;
use crate::contract::ratio::least;
use crate::contract::rules::Rules;
use crate::contract::score::Score;
use crate::contract::stages::Recovery;
use crate::engine::field::{Field, seldom};
use crate::engine::on_demand::Rare;
use crate::engine::shape::{Closed, Shape};
use crate::engine::sync::{Acquire, AtomicU64, Release};
use crate::engine::window::count::{Kind, RingAt};
use crate::engine::window::tally::Floors;
use crate::engine::word::{Recorder, Standing};

const WORDS: usize = 11;

/// What recording an outcome needs, in one word.
const THRESHOLDS: usize = 0;
const BAD_BITS: Field = Field::lowest(4);
const CURSOR_BITS: Field = BAD_BITS.above(4);
/// Zero for a time window, [`Shape::OF_SCORES`] for one of scores.
const SIZE: Field = CURSOR_BITS.above(13);
const FLOOR: Field = SIZE.above(13);
const CONSECUTIVE: Field = FLOOR.above(24);
/// What overdue calls count as; zero if they are not counted. With a ramp after a recovery, [`RAMPS`] is the other way round.
const OVERDUE: Field = CONSECUTIVE.above(3);
/// The bit of timeouts. It goes with that of failures where calls are overdue, and is zero where they are not: so which way round it
/// is can be told from the others, and whether calls are overdue from them alone.
const RAMPS: u64 = 0b010;
/// Where a count window is, and how it is judged: see [`RingAt`]. Zero if it is near and judged by the number of bad outcomes.
const RING: Field = OVERDUE.above(3);
const NEAR_BY_KIND: u64 = 7;

/// What is needed less often.
const POLICIES: usize = 1;
const MAX_PROBES: Field = Field::lowest(8);
const SUCCESSES: Field = MAX_PROBES.above(8);
const MAX_INCONCLUSIVE: Field = SUCCESSES.above(8);
const ABANDONED: Field = MAX_INCONCLUSIVE.above(3);
const PANICKED: Field = ABANDONED.above(3);
const JITTER: Field = PANICKED.above(7);
const MIN_CALLS: Field = JITTER.above(24);
/// Whether `min_calls` was said.
const SAID: Field = MIN_CALLS.above(1);
/// Whether a rule or a policy needs the start time of calls.
const TIMED: Field = SAID.above(1);
/// Whether half-open goes by stages.
const STAGED: Field = TIMED.above(1);

const FAILURE_RATIO: usize = 2;
const TIMEOUT_RATIO: usize = 3;
const SLOW_RATIO: usize = 4;

/// Of a window of scores, which has no ratios: two scores, and their times in milliseconds.
const FAILURE_SCORE: usize = FAILURE_RATIO;
const SLOW_SCORE: usize = SLOW_RATIO;
const LIMIT: Field = Field::lowest(12);
const BAD: Field = LIMIT.above(12);
const GOOD: Field = BAD.above(12);
const HEAD_START: Field = GOOD.above(7);
const TIMES: usize = TIMEOUT_RATIO;
const LASTING: Field = Field::lowest(32);
/// Zero for none.
const MAX_AGE: Field = LASTING.above(32);

const SLOW_LIMIT: usize = 5;
const WAIT_BASE: usize = 6;
const WAIT_FACTOR: usize = 7;
const WAIT_MAX: usize = 8;
const LEASE: usize = 9;
/// Of a count window that is judged by kinds: its [`Floors`].
const FLOORS: usize = 10;

/// Both sides.
#[derive(Debug)]
pub(crate) struct Settings([[AtomicU64; WORDS]; 2]);

impl Settings {
    pub(crate) fn new(config: &Config, ring: RingAt) -> Self {
        let side = || pack(config, ring).map(AtomicU64::new);
        Self([side(), side()])
    }

    /// Fills a side that the word does not go with.
    pub(crate) fn fill(&self, side: usize, config: &Config, ring: RingAt) {
        for (word, value) in self.0[side].iter().zip(pack(config, ring)) {
            // Release: pairs with `Terms::read`; a thread that sees this value also
            // sees that the word has left the side, so its check of the word fails.
            word.store(value, Release);
        }
    }

    #[inline]
    pub(crate) fn terms(&self, side: usize) -> Terms<'_> {
        // A branch, though an index would do: the processor predicts a branch and reads the config before it has
        // the word. For an index it would wait.
        if side == 0 {
            Terms(&self.0[0])
        } else {
            seldom();
            Terms(&self.0[1])
        }
    }
}

fn pack(config: &Config, ring: RingAt) -> [u64; WORDS] {
    let size = match config.window {
        Window::Count(size) => size,
        Window::Time { .. } => 0,
        Window::Cusum(_) => Shape::OF_SCORES,
    };
    let rules = Rules::of(config);
    let mut words = [0; WORDS];
    let shape = Shape::new(size);
    let floors = floors(config, &rules);
    words[THRESHOLDS] = SIZE.put(u64::from(size))
        | CURSOR_BITS.put(u64::from(shape.cursor_mask.count_ones()))
        | BAD_BITS.put(u64::from(shape.bad_bits))
        | CONSECUTIVE.put(u64::from(config.consecutive_failures.unwrap_or(0)))
        | FLOOR.put(match config.window {
            // Only a count window has a size that bounds it.
            Window::Time { .. } | Window::Cusum(_) => 0,
            Window::Count(size) => u64::from(rules.floor(size)),
        })
        | OVERDUE.put(
            config
                .overdue_sample()
                .and_then(Kind::of)
                .map_or(0, |kind| u64::from(kind.bits()))
                ^ if config.ramp.is_some() { RAMPS } else { 0 },
        )
        | RING.put(match (ring, config.window) {
            (RingAt::Far(ring), _) => ring as u64,
            (RingAt::Near, Window::Count(_)) if floors.is_none() => 0,
            _ => NEAR_BY_KIND,
        });
    words[FLOORS] = floors.bits();
    words[POLICIES] = MAX_PROBES.put(u64::from(config.max_probes))
        | SUCCESSES.put(u64::from(config.successes_to_close))
        | MAX_INCONCLUSIVE.put(u64::from(config.max_inconclusive))
        | ABANDONED.put(outcome_bits(config.abandoned))
        | PANICKED.put(outcome_bits(config.panicked))
        | JITTER.put(u64::from(config.open_wait.jitter_percent))
        | MIN_CALLS.put(u64::from(config.min_calls()))
        | SAID.put(u64::from(config.min_calls.is_some()))
        | TIMED.put(u64::from(config.is_timed()))
        | STAGED.put(u64::from(config.stages.is_some()));
    words[FAILURE_RATIO] = config.failure_ratio.unwrap_or(0.0).to_bits();
    words[TIMEOUT_RATIO] = config.timeout_ratio.unwrap_or(0.0).to_bits();
    words[SLOW_RATIO] = rules.slow_ratio.to_bits();
    words[SLOW_LIMIT] = config.slow_limit().map_or(0, saturating_nanos);
    if let Window::Cusum(cusum) = config.window {
        let slow = cusum.slow.map(|slow| slow.score);
        let head_start = HEAD_START.put(cusum.head_start_percent.into());
        words[FAILURE_SCORE] = score_bits(cusum.failures) | head_start;
        words[SLOW_SCORE] = score_bits(slow);
        let max_age = cusum.max_age.map_or(0, millis);
        words[TIMES] = LASTING.put(millis(cusum.lasting)) | MAX_AGE.put(max_age);
    }
    words[WAIT_BASE] = saturating_nanos(config.open_wait.base);
    words[WAIT_FACTOR] = config.open_wait.factor.to_bits();
    words[WAIT_MAX] = saturating_nanos(config.open_wait.max);
    words[LEASE] = config.probe_lease.map_or(0, saturating_nanos);
    words
}

/// From how many outcomes of each kind on a rule matches. None, if the number of bad outcomes says enough: there are rules on failures
/// alone, and nothing else is bad.
fn floors(config: &Config, rules: &Rules) -> Floors {
    let Window::Count(size) = config.window else {
        return Floors::NONE;
    };
    if config.timeout_ratio.is_none() && config.slow.is_none() {
        return Floors::NONE;
    }
    let of_ratio = |ratio: f64| (ratio > 0.0).then(|| least(ratio, size));
    let number = Some(rules.failures).filter(|&failures| failures > 0);
    Floors::new(
        of_ratio(rules.failure_ratio)
            .into_iter()
            .chain(number)
            .min(),
        of_ratio(rules.timeout_ratio),
        of_ratio(rules.slow_ratio),
    )
}

/// Of a duration that is legal for scores.
fn millis(duration: Duration) -> u64 {
    saturating_nanos(duration) / 1_000_000
}

fn score_bits(score: Option<Score>) -> u64 {
    score.map_or(0, |score| {
        LIMIT.put(score.limit.into()) | BAD.put(score.bad.into()) | GOOD.put(score.good.into())
    })
}

/// A score; all zeros if there is none, which stays at zero whatever comes.
const fn score_of(bits: u64) -> Score {
    Score {
        bad: BAD.get(bits) as u16,
        good: GOOD.get(bits) as u16,
        limit: LIMIT.get(bits) as u16,
    }
}

/// The thresholds of recording an outcome.
#[derive(Clone, Copy)]
pub(crate) struct Thresholds(u64);

impl Thresholds {
    #[inline]
    pub(crate) const fn shape(self) -> Shape {
        Shape {
            size: SIZE.get(self.0) as u32,
            cursor_mask: (1 << CURSOR_BITS.get(self.0)) - 1,
            bad_bits: BAD_BITS.get(self.0) as u32,
        }
    }

    const fn is_by_time(self) -> bool {
        SIZE.get(self.0) == 0
    }

    #[inline]
    pub(crate) const fn is_by_score(self) -> bool {
        SIZE.get(self.0) == Shape::OF_SCORES as u64
    }

    /// Whether it is a count window whose ring is near, and which is judged by the number of bad outcomes.
    #[inline]
    pub(crate) const fn is_plain(self) -> bool {
        RING.get(self.0) == 0
    }

    /// The shape of a window whose ring is near.
    #[inline]
    pub(crate) const fn near_shape(self) -> Shape {
        Shape::near(SIZE.get(self.0) as u32)
    }

    /// Where the ring is.
    #[inline]
    pub(crate) const fn ring(self) -> RingAt {
        match RING.get(self.0) {
            0 | NEAR_BY_KIND => RingAt::Near,
            _ => RingAt::Far(self.far_ring()),
        }
    }

    /// Of a window whose ring is far: which one.
    #[inline]
    pub(crate) const fn far_ring(self) -> usize {
        RING.get(self.0) as usize
    }

    /// Zero for none.
    #[inline]
    pub(crate) const fn consecutive_failures(self) -> u32 {
        CONSECUTIVE.get(self.0) as u32
    }

    /// What calls count as that are overdue; `None` if they are not counted.
    #[inline]
    pub(crate) const fn overdue(self) -> Option<Kind> {
        let bits = OVERDUE.get(self.0) & !RAMPS;
        if bits == 0 {
            return None;
        }
        let timeout = if bits & 1 == 1 { RAMPS } else { 0 };
        Some(Kind::from_bits((bits | timeout) as u32))
    }

    /// Whether a recovery is followed by a ramp.
    pub(crate) const fn ramps(self) -> bool {
        let bits = OVERDUE.get(self.0);
        (bits ^ bits >> 1) & 1 == 1
    }

    /// Whether a call of a timed word has more to look at than the clock: calls in flight, or a ramp.
    #[inline]
    pub(crate) const fn looks_further(self) -> bool {
        self.0 & OVERDUE.mask() != 0
    }

    /// Whether a full window has as many bad outcomes as it takes to reach a ratio.
    #[inline]
    pub(crate) const fn ratio_is_near(self, pushed: Closed) -> bool {
        pushed.bad >= FLOOR.get(self.0)
    }

    #[inline]
    pub(crate) const fn run_may_match(self, pushed: Closed, incoming: Kind) -> bool {
        let run = CONSECUTIVE.get(self.0);
        incoming.is_failure() && run > 0 && pushed.bad >= run
    }
}

/// One config side, read value by value as each is needed.
///
/// Each value is one that some config had. Only the caller's CAS, or another look at the word, shows that
/// all of them are of the same config.
#[derive(Clone, Copy)]
pub(crate) struct Terms<'a>(&'a [AtomicU64; WORDS]);

impl Terms<'_> {
    #[inline]
    fn read(self, index: usize) -> u64 {
        // Acquire: pairs with the release in `Settings::fill`.
        self.0[index].load(Acquire)
    }

    #[inline]
    pub(crate) fn thresholds(self) -> Thresholds {
        Thresholds(self.read(THRESHOLDS))
    }

    pub(crate) fn shape(self) -> Shape {
        self.thresholds().shape()
    }

    /// From how many outcomes on a ratio is judged.
    #[inline]
    pub(crate) fn min_calls(self) -> u32 {
        MIN_CALLS.get(self.read(POLICIES)) as u32
    }

    /// From how many outcomes of each kind on a rule matches in a full window; none if the number of bad ones says enough.
    #[inline]
    pub(crate) fn floors(self) -> Floors {
        Floors::of_bits(self.read(FLOORS))
    }

    /// The rules, but for the one on a number of failures.
    pub(crate) fn rules(self) -> Rules {
        let thresholds = self.thresholds();
        let mut rules = Rules {
            min_calls: self.min_calls(),
            consecutive_failures: thresholds.consecutive_failures(),
            failures: 0,
            failure_ratio: 0.0,
            timeout_ratio: 0.0,
            slow_ratio: 0.0,
            failure_score: 0,
            slow_score: 0,
        };
        if thresholds.is_by_score() {
            rules.failure_score = self.failure_score().limit.into();
            rules.slow_score = self.slow_score().limit.into();
        } else {
            rules.failure_ratio = f64::from_bits(self.read(FAILURE_RATIO));
            rules.timeout_ratio = f64::from_bits(self.read(TIMEOUT_RATIO));
            rules.slow_ratio = f64::from_bits(self.read(SLOW_RATIO));
        }
        rules
    }

    /// Of a window of scores: the one on failures.
    #[inline]
    pub(crate) fn failure_score(self) -> Score {
        score_of(self.read(FAILURE_SCORE))
    }

    /// Of a window of scores: the one on slow calls.
    #[inline]
    pub(crate) fn slow_score(self) -> Score {
        score_of(self.read(SLOW_SCORE))
    }

    /// Of a window of scores: for how many milliseconds one must last.
    #[inline]
    pub(crate) fn lasting(self) -> u64 {
        LASTING.get(self.read(TIMES))
    }

    /// Of a window of scores: after how many milliseconds one is too old.
    #[inline]
    pub(crate) fn max_age(self) -> Option<u64> {
        Some(MAX_AGE.get(self.read(TIMES))).filter(|&age| age > 0)
    }

    /// Of a window of scores: what it holds once probes have closed the breaker.
    pub(crate) fn head_start(self) -> Standing {
        let scores = self.scores();
        Standing {
            failures: scores.head_start(self.failure_score()),
            slow: scores.head_start(self.slow_score()),
            run: 0,
        }
    }

    /// Of a window of scores: all of it.
    pub(crate) fn scores(self) -> Cusum {
        let failures = Some(self.failure_score()).filter(|score| score.limit > 0);
        let slow = Some(self.slow_score()).filter(|score| score.limit > 0);
        let mut cusum = Cusum::of_failures(self.failure_score())
            .lasting(Duration::from_millis(self.lasting()))
            .max_age(self.max_age().map(Duration::from_millis))
            .head_start_percent(HEAD_START.get(self.read(FAILURE_SCORE)) as u32);
        cusum.failures = failures;
        cusum.slow = slow.map(|score| SlowScore {
            limit: Duration::from_nanos(self.slow_limit().unwrap_or(0)),
            score,
        });
        cusum
    }

    /// From how many nanoseconds on a call is slow.
    #[inline]
    pub(crate) fn slow_limit(self) -> Option<u64> {
        Some(self.read(SLOW_LIMIT)).filter(|&limit| limit > 0)
    }

    /// Whether a rule or a policy needs the start time of calls.
    pub(crate) fn is_timed(self) -> bool {
        TIMED.get(self.read(POLICIES)) == 1
    }

    /// Whether a recovery is followed by a ramp.
    pub(crate) fn ramps(self) -> bool {
        self.thresholds().ramps()
    }

    /// What a word that records starts with.
    pub(crate) fn recorder(self) -> Recorder {
        Recorder {
            by_time: self.thresholds().is_by_time(),
            by_score: self.thresholds().is_by_score(),
            timed: self.is_timed(),
            in_a_row: self.thresholds().consecutive_failures() > 0,
        }
    }

    /// How half-open is decided; `None` if it goes by stages.
    #[inline]
    pub(crate) fn at_once(self) -> Option<Recovery> {
        let policies = self.read(POLICIES);
        (STAGED.get(policies) == 0).then(|| Recovery::AtOnce {
            max_probes: MAX_PROBES.get(policies) as u32,
            successes: SUCCESSES.get(policies) as u32,
        })
    }

    pub(crate) fn max_inconclusive(self) -> u32 {
        MAX_INCONCLUSIVE.get(self.read(POLICIES)) as u32
    }

    /// The probe lease in nanoseconds.
    pub(crate) fn lease(self) -> Option<u64> {
        Some(self.read(LEASE)).filter(|&lease| lease > 0)
    }

    pub(crate) fn open_wait(self) -> OpenWait {
        OpenWait {
            base: Duration::from_nanos(self.read(WAIT_BASE)),
            factor: f64::from_bits(self.read(WAIT_FACTOR)),
            max: Duration::from_nanos(self.read(WAIT_MAX)),
            jitter_percent: JITTER.get(self.read(POLICIES)) as u32,
        }
    }

    pub(crate) fn abandoned(self) -> Outcome {
        outcome_of(ABANDONED.get(self.read(POLICIES)))
    }

    pub(crate) fn panicked(self) -> Outcome {
        outcome_of(PANICKED.get(self.read(POLICIES)))
    }

    /// The window; `None` if it is a time window.
    pub(crate) fn window(self) -> Option<Window> {
        let thresholds = self.thresholds();
        if thresholds.is_by_score() {
            return Some(Window::Cusum(self.scores()));
        }
        (!thresholds.is_by_time()).then(|| Window::Count(thresholds.shape().size))
    }

    /// The whole config, given what is kept elsewhere: the window, when a call is overdue, and
    /// what is rare.
    pub(crate) fn config(self, window: Window, overdue_after: u64, rare: Rare) -> Config {
        let rules = self.rules();
        let ratio = |ratio: f64| Some(ratio).filter(|&ratio| ratio > 0.0);
        Config {
            window,
            min_calls: Some(rules.min_calls).filter(|_| SAID.get(self.read(POLICIES)) == 1),
            failure_ratio: ratio(rules.failure_ratio),
            timeout_ratio: ratio(rules.timeout_ratio),
            slow: ratio(rules.slow_ratio).map(|ratio| SlowRule {
                limit: Duration::from_nanos(self.slow_limit().unwrap_or(0)),
                ratio,
            }),
            overdue: self
                .thresholds()
                .overdue()
                .map(|kind| match kind.is_failure() {
                    true => Overdue::Timeout(Duration::from_nanos(overdue_after)),
                    false => Overdue::Slow,
                }),
            consecutive_failures: Some(rules.consecutive_failures).filter(|&run| run > 0),
            failures: Some(rare.failures).filter(|&failures| failures > 0),
            open_wait: self.open_wait(),
            max_probes: MAX_PROBES.get(self.read(POLICIES)) as u32,
            successes_to_close: SUCCESSES.get(self.read(POLICIES)) as u32,
            stages: rare.stages,
            probe_lease: self.lease().map(Duration::from_nanos),
            max_inconclusive: self.max_inconclusive(),
            abandoned: self.abandoned(),
            abandoned_after: rare.abandoned_after.map(Duration::from_nanos),
            panicked: self.panicked(),
            ramp: rare.ramp.map(Duration::from_nanos),
        }
    }
}

fn outcome_bits(outcome: Outcome) -> u64 {
    match outcome {
        Outcome::Success => 0,
        Outcome::Failure => 1,
        Outcome::Timeout => 2,
        Outcome::Ignored => 3,
        Outcome::Answered => 4,
    }
}

fn outcome_of(bits: u64) -> Outcome {
    match bits {
        0 => Outcome::Success,
        1 => Outcome::Failure,
        2 => Outcome::Timeout,
        3 => Outcome::Ignored,
        4 => Outcome::Answered,
        bits => unreachable!("no config has outcome {bits}"),
    }
}
