//! Random programs for a few threads, short enough to be searched.

use std::time::Duration;

use cutout::{Config, Cusum, OpenWait, Outcome, Report, Score, SlowRule, Window};

use super::Op;

/// A random number generator (SplitMix64): small, and the same on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// What happens before, one call at a time, and what the threads then do.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) config: Config,
    /// Calls, each after the clock has moved on by so much.
    pub(crate) before: Vec<(Duration, Op)>,
    pub(crate) threads: Vec<Vec<Op>>,
}

/// The open wait, and the unit of the growing one.
const WAIT: Duration = Duration::from_secs(60);

/// Calls in the threads' part of a program.
const CALLS: usize = 16;

impl Program {
    pub(crate) fn random(random: &mut Random) -> Self {
        let config = config(random);
        let mut permits = Vec::new();
        let mut granted = 0;
        let before = (0..random.below(16))
            .map(|_| {
                let waits = [0, 0, 0, 1, 2][random.below(5)];
                (
                    WAIT * waits,
                    op(random, &config, &mut permits, &mut granted),
                )
            })
            .collect();
        let count = 2 + random.below(3);
        // What is in flight is shared out.
        let mut held = vec![Vec::new(); count];
        for (index, permit) in permits.into_iter().enumerate() {
            held[index % count].push(permit);
        }
        let threads = held
            .into_iter()
            .map(|mut permits| {
                (0..1 + random.below(CALLS / count))
                    .map(|_| op(random, &config, &mut permits, &mut granted))
                    .collect()
            })
            .collect();
        Self {
            config,
            before,
            threads,
        }
    }
}

/// Small windows and quotas, so that something happens.
fn config(random: &mut Random) -> Config {
    let config = config_of_outcomes(random);
    if !random.one_in(4) {
        return config;
    }
    let mut cusum = Cusum::of_failures(score(random))
        .lasting([Duration::ZERO, WAIT][random.below(2)])
        .max_age([None, Some(WAIT * 2)][random.below(2)])
        .head_start_percent([0, 50][random.below(2)]);
    if config.slow.is_some() {
        cusum = cusum.and_slow(WAIT, score(random));
    }
    by_scores(config, Window::Cusum(cusum))
}

fn score(random: &mut Random) -> Score {
    let bad = 1 + random.below(3) as u16;
    Score {
        bad,
        good: 1 + random.below(2) as u16,
        limit: bad + random.below(6) as u16,
    }
}

/// The config with a window of scores, and none of the rules that may not stand beside one.
fn by_scores(config: Config, window: Window) -> Config {
    config.with(|config| {
        config.window = window;
        (config.min_calls, config.failure_ratio) = (None, None);
        config.slow = None;
    })
}

fn config_of_outcomes(random: &mut Random) -> Config {
    let size = 1 + random.below(4) as u32;
    let slow = SlowRule {
        limit: WAIT,
        ratio: 1.0,
    };
    Config::default().with(|config| {
        config.window = Window::count(size);
        config.min_calls = Some(1 + random.below(size as usize) as u32);
        config.failure_ratio = Some([0.5, 1.0][random.below(2)]);
        config.slow = random.one_in(2).then_some(slow);
        config.consecutive_failures = random.one_in(3).then_some(size);
        config.open_wait = OpenWait::exponential(WAIT, 2.0, WAIT * 8);
        config.max_probes = 1 + random.below(3) as u32;
        config.successes_to_close = 1 + random.below(3) as u32;
        config.max_inconclusive = 1 + random.below(3) as u32;
        config.probe_lease = (!random.one_in(4)).then_some(WAIT);
        config.abandoned = [Outcome::Ignored, Outcome::Failure][random.below(2)];
    })
}

fn op(random: &mut Random, present: &Config, permits: &mut Vec<usize>, granted: &mut usize) -> Op {
    match random.below(44) {
        0..16 if !permits.is_empty() => {
            let permit = permits.swap_remove(random.below(permits.len()));
            if random.one_in(8) {
                return Op::Drop(permit);
            }
            Op::Done(permit, report(random))
        }
        32 => Op::Close,
        33 => [Op::Disable, Op::ObserveOnly][random.below(2)],
        34 => Op::ForceOpen([None, Some(Duration::ZERO), Some(WAIT)][random.below(3)]),
        35 => Op::Reconfigure({
            let other = config_of_outcomes(random).with(|config| {
                config.window = [present.window, Window::count(2)][random.below(2)];
                config.min_calls = Some(1);
                config.consecutive_failures = None;
                // A call that loses the race for a probe may leave its lease behind, so the leases are equal.
                config.probe_lease = present.probe_lease;
            });
            match other.window {
                window @ Window::Cusum(_) => by_scores(other, window),
                _ => other,
            }
        }),
        36 | 37 => Op::Snapshot,
        38 => [Op::State, Op::IsAvailable][random.below(2)],
        39 => [Op::Config, Op::Stale][random.below(2)],
        40 | 41 => Op::Resume,
        // Over at once: a probe is let in, with no clock that has to move.
        42 | 43 => Op::ForceOpen(Some(Duration::ZERO)),
        _ => {
            *granted += 1;
            permits.push(*granted);
            Op::Allow(*granted)
        }
    }
}

fn report(random: &mut Random) -> Report {
    let outcomes = [
        Outcome::Success,
        Outcome::Success,
        Outcome::Failure,
        Outcome::Failure,
        Outcome::Timeout,
        Outcome::Ignored,
        Outcome::Answered,
    ];
    Report {
        outcome: outcomes[random.below(7)],
        elapsed: random.one_in(4).then_some(WAIT),
        retry_after: random.one_in(4).then_some(WAIT * 3),
        label: None,
    }
}
