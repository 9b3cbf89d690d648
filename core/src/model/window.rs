//! What a window holds.

use super::*;

/// The outcomes of a window.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    /// The last ones.
    Samples(VecDeque<Sample>),
    /// Those of the last ticks in which there were any.
    Ticks {
        ticks: VecDeque<(u64, Counts)>,
        /// The failures that came last, counted while there is a rule on them.
        run: u32,
    },
    /// Scores of those that came.
    Scores(HeldScores),
}

/// The scores of a window that keeps them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct HeldScores {
    failures: One,
    slow: One,
    /// The failures that came last, counted while there is a rule on them.
    run: u32,
}

/// A score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct One {
    value: u32,
    /// When it last left zero.
    above_zero: Option<Moment>,
    /// When it was last raised.
    raised: Option<Moment>,
    /// Whether the last outcome has raised it, to its limit, and it has lasted.
    matches: bool,
}

impl One {
    const NOTHING: Self = Self {
        value: 0,
        above_zero: None,
        raised: None,
        matches: false,
    };

    fn push(&mut self, score: Option<Score>, is_bad: bool, of: &Cusum, now: Moment) {
        self.matches = false;
        let Some(score) = score else { return };
        if !is_bad {
            self.value = self.value.saturating_sub(score.good.into());
            return;
        }
        let millis = |duration: Duration| duration.as_millis() as u64;
        let later = |than: Option<Moment>| than.filter(|than| than.0 > now.0).unwrap_or(now);
        if let Some(max_age) = of.max_age {
            let age = self.raised.map_or(0, |raised| now.millis_since(raised));
            if age >= millis(max_age) {
                self.value = 0;
            }
            self.raised = Some(later(self.raised));
        }
        if !of.lasting.is_zero() && (self.value == 0 || self.above_zero.is_none()) {
            self.above_zero = Some(later(self.above_zero));
        }
        self.value = (self.value + u32::from(score.bad)).min(score.limit.into());
        let lasts = self
            .above_zero
            .is_none_or(|since| now.millis_since(since) >= millis(of.lasting));
        self.matches = self.value == u32::from(score.limit) && lasts;
    }

    fn shown(self, now: u64) -> HeldScore {
        let age = |moment: Option<Moment>| {
            moment
                .filter(|_| self.value > 0)
                .map(|moment| moment.age(now))
        };
        HeldScore {
            value: self.value,
            above_zero: age(self.above_zero),
            raised: age(self.raised),
        }
    }

    fn restored(held: HeldScore, score: Option<Score>, passed: Duration) -> Option<Self> {
        let moment = |age: Option<Duration>| {
            let age = age.filter(|_| held.value > 0)?.saturating_add(passed);
            Some(Moment(Moment::before(age).0.max(1)))
        };
        let limit = score.map_or(0, |score| u32::from(score.limit));
        (held.value <= limit).then(|| Self {
            value: held.value,
            above_zero: moment(held.above_zero),
            raised: moment(held.raised),
            matches: false,
        })
    }
}

impl HeldScores {
    const NOTHING: Self = Self {
        failures: One::NOTHING,
        slow: One::NOTHING,
        run: 0,
    };

    fn push(&mut self, config: &Config, of: &Cusum, sample: Sample, now: Moment) {
        let slow = of.slow.map(|slow| slow.score);
        self.failures
            .push(of.failures, is_failure(&sample), of, now);
        self.slow.push(slow, sample.slow, of, now);
        if config.consecutive_failures.is_some() && is_failure(&sample) {
            self.run = (self.run + 1).min(Cusum::MAX_CONSECUTIVE);
        } else {
            self.run = 0;
        }
    }

    pub(super) fn shown(&self, at: Duration) -> Scores {
        let now = saturating_nanos(at);
        Scores {
            failures: self.failures.shown(now),
            slow: self.slow.shown(now),
        }
    }

    /// The score that matches.
    pub(super) fn matching(&self) -> Option<Cause> {
        match (self.failures.matches, self.slow.matches) {
            (true, _) => Some(Cause::FailureScore),
            (false, true) => Some(Cause::SlowScore),
            (false, false) => None,
        }
    }

    /// What it begins with once probes have closed the breaker.
    fn head_start(of: &Cusum) -> Self {
        let start = |score: Option<Score>| One {
            value: score.map_or(0, |score| {
                u32::from(score.limit) * of.head_start_percent / 100
            }),
            ..One::default()
        };
        Self {
            failures: start(of.failures),
            slow: start(of.slow.map(|slow| slow.score)),
            run: 0,
        }
    }
}

/// The tick in which a model is built; restored outcomes lie before it.
const FIRST_TICK: u64 = 1 << 16;

/// The nanoseconds of a bucket.
pub(super) fn tick_width(length: Duration, buckets: u32) -> u64 {
    saturating_nanos(length).div_ceil(u64::from(buckets))
}

/// How old outcomes may be of which nothing but the snapshot's age is known.
const MAX_AGE: Duration = Duration::from_secs(3600);

impl Content {
    pub(super) const fn nothing(window: Window) -> Self {
        match window {
            Window::Count(_) => Self::Samples(VecDeque::new()),
            Window::Time { .. } => Self::Ticks {
                ticks: VecDeque::new(),
                run: 0,
            },
            Window::Cusum(_) => Self::Scores(HeldScores::NOTHING),
        }
    }

    /// What it holds once probes have closed the breaker.
    pub(super) fn after_probes(window: Window) -> Self {
        match window {
            Window::Cusum(cusum) => Self::Scores(HeldScores::head_start(&cusum)),
            _ => Self::nothing(window),
        }
    }

    /// One outcome more, in this tick.
    pub(super) fn push(&mut self, config: &Config, sample: Sample, tick: u64, at: Duration) {
        match self {
            Self::Scores(scores) => {
                let Window::Cusum(cusum) = config.window else {
                    unreachable!("a window of another shape restarts")
                };
                scores.push(config, &cusum, sample, Moment::at(saturating_nanos(at)));
            }
            Self::Samples(samples) => {
                let Window::Count(size) = config.window else {
                    unreachable!("a window of another shape restarts")
                };
                if samples.len() == size as usize {
                    samples.pop_front();
                }
                samples.push_back(sample);
            }
            Self::Ticks { ticks, run } => {
                match ticks.back_mut() {
                    Some((last, counts)) if *last == tick => *counts = counts.with(sample),
                    _ => ticks.push_back((tick, Counts::default().with(sample))),
                }
                if config.consecutive_failures.is_some() && is_failure(&sample) {
                    *run = run.saturating_add(1);
                } else {
                    *run = 0;
                }
            }
        }
    }

    /// What it holds in this tick.
    pub(super) fn counts(&self, window: Window, tick: u64) -> Counts {
        match self {
            Self::Samples(samples) => samples
                .iter()
                .fold(Counts::default(), |counts, &sample| counts.with(sample)),
            Self::Scores(_) => Counts::default(),
            Self::Ticks { .. } => self
                .ticks(window, tick)
                .fold(Counts::default(), |sum, (_, counts)| sum.plus(counts)),
        }
    }

    /// The ticks that are in the window in this one, oldest first.
    pub(super) fn ticks(&self, window: Window, tick: u64) -> impl Iterator<Item = (u64, Counts)> {
        let (ticks, buckets) = match (self, window) {
            (Self::Ticks { ticks, .. }, Window::Time { buckets, .. }) => (Some(ticks), buckets),
            _ => (None, 0),
        };
        ticks
            .into_iter()
            .flatten()
            .filter(move |(of, _)| tick - of < u64::from(buckets))
            .copied()
    }

    /// How many failures came last.
    pub(super) fn run(&self) -> u32 {
        match self {
            Self::Samples(samples) => samples
                .iter()
                .rev()
                .take_while(|sample| is_failure(sample))
                .count() as u32,
            Self::Ticks { run, .. } => *run,
            Self::Scores(scores) => scores.run,
        }
    }

    pub(super) fn forget_run(&mut self) {
        match self {
            Self::Ticks { run, .. } => *run = 0,
            Self::Scores(scores) => scores.run = 0,
            Self::Samples(_) => {}
        }
    }

    /// What a snapshot that is `passed` old holds, if that fits the config.
    pub(super) fn restored(config: &Config, snapshot: &Snapshot, passed: Duration) -> Option<Self> {
        if snapshot.window.kept() != config.window.kept() {
            return None;
        }
        let recent = passed <= MAX_AGE;
        match config.window {
            Window::Count(_) | Window::Cusum(_) if !recent => None,
            Window::Cusum(cusum) => {
                let slow = cusum.slow.map(|slow| slow.score);
                let Scores {
                    failures,
                    slow: held,
                } = snapshot.scores;
                Some(Self::Scores(HeldScores {
                    failures: One::restored(failures, cusum.failures, passed)?,
                    slow: One::restored(held, slow, passed)?,
                    run: match config.consecutive_failures {
                        Some(_) => snapshot.failures_in_a_row.min(Cusum::MAX_CONSECUTIVE),
                        None => 0,
                    },
                }))
            }
            Window::Count(size) => {
                let samples = &snapshot.samples;
                let fits = samples.len() <= size as usize
                    && samples
                        .iter()
                        .all(|sample| sample.outcome != Outcome::Ignored);
                fits.then(|| Self::Samples(samples.iter().copied().map(in_window).collect()))
            }
            Window::Time { length, buckets } => {
                let width = tick_width(length, buckets);
                let mut ticks = VecDeque::new();
                for bucket in &snapshot.buckets {
                    let counts = bucket.counts;
                    if counts.failures > counts.samples
                        || counts.timeouts > counts.failures
                        || counts.slow > counts.samples
                    {
                        return None;
                    }
                    let back = saturating_nanos(bucket.age.saturating_add(passed)).div_ceil(width);
                    if back < u64::from(buckets) && counts.samples > 0 {
                        ticks.push_back((FIRST_TICK - back, counts));
                    }
                }
                let in_order = ticks
                    .iter()
                    .zip(ticks.iter().skip(1))
                    .all(|((one, _), (next, _))| one < next);
                let run = match config.consecutive_failures {
                    Some(_) if recent => snapshot.failures_in_a_row,
                    _ => 0,
                };
                in_order.then_some(Self::Ticks { ticks, run })
            }
        }
    }
}

impl Model {
    /// The tick that it is at; never before one in which an outcome came.
    pub(super) fn tick(&self, at: Duration) -> u64 {
        match self.config.window {
            Window::Count(_) | Window::Cusum(_) => 0,
            Window::Time { length, buckets } => {
                let tick = FIRST_TICK + saturating_nanos(at) / tick_width(length, buckets);
                tick.max(self.newest)
            }
        }
    }

    /// How long ago this tick began.
    pub(super) fn age(&self, tick: u64, at: Duration) -> Duration {
        let Window::Time { length, buckets } = self.config.window else {
            return Duration::ZERO;
        };
        let width = tick_width(length, buckets);
        if tick >= FIRST_TICK {
            let began = Duration::from_nanos((tick - FIRST_TICK).saturating_mul(width));
            at.saturating_sub(began)
        } else {
            at.saturating_add(Duration::from_nanos(
                (FIRST_TICK - tick).saturating_mul(width),
            ))
        }
    }
}
