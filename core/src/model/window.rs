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
        }
    }

    /// One outcome more, in this tick.
    pub(super) fn push(&mut self, config: &Config, sample: Sample, tick: u64) {
        match self {
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
        }
    }

    pub(super) fn forget_run(&mut self) {
        if let Self::Ticks { run, .. } = self {
            *run = 0;
        }
    }

    /// What a snapshot that is `passed` old holds, if that fits the config.
    pub(super) fn restored(config: &Config, snapshot: &Snapshot, passed: Duration) -> Option<Self> {
        if snapshot.window.kept() != config.window.kept() {
            return None;
        }
        let recent = passed <= MAX_AGE;
        match config.window {
            Window::Count(_) if !recent => None,
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
            Window::Count(_) => 0,
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
