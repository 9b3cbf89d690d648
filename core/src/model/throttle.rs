//! What a throttle does, one call at a time.

use alloc::collections::VecDeque;

use crate::breaker::name::NameId;
use crate::breaker::rejected::{Rejected, TimeLeft};
use crate::contract::clock::saturating_nanos;
use crate::contract::error::ConfigError;
use crate::contract::outcome::{Outcome, Settled};
use crate::contract::state::Cause;
use crate::contract::throttle::{Share, ThrottleConfig};
use crate::engine::chance::nth;
use crate::engine::word::Word;

/// The sequential throttle: what a [`Throttle`](crate::Throttle) would be behind one mutex.
///
/// As with [`Model`](super::Model), every method is told the time.
#[derive(Clone, Debug, PartialEq)]
pub struct ThrottleModel {
    config: ThrottleConfig,
    start: u64,
    seed: u64,
    /// How many draws there have been.
    drawn: u64,
    /// What came in each bucket of the window, oldest first.
    ticks: VecDeque<Tick>,
    /// The latest bucket that the clock has been seen in.
    newest: u64,
    /// Whether calls that ask look at the window: until one of them finds nothing to refuse, and again once a call that
    /// was settled has made something.
    looks: bool,
    /// When the next of the calls that would be refused is admitted, and so is a call after a step of the clock back
    /// beyond one interval.
    next_probe: u64,
}

/// That a call was admitted, as [`ThrottleModel::allow`] gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThrottleAdmission {
    /// Of one that would have been refused: when the next such is admitted.
    next_probe: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Tick {
    number: u64,
    accepts: u32,
    failures: u32,
    refused: u32,
}

impl ThrottleModel {
    /// A throttle that was built when the clock read `start`.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] when a value of `config` is not legal.
    pub fn new(config: ThrottleConfig, start: u64) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            config,
            start,
            seed: 0,
            drawn: 0,
            ticks: VecDeque::new(),
            newest: 0,
            looks: true,
            next_probe: 0,
        })
    }

    /// Sets what is drawn from: that of a throttle built with the same [`seed`](crate::ThrottleBuilder::seed).
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Asks for admission.
    ///
    /// # Errors
    ///
    /// [`Rejected`], with the time until the window moves on.
    pub fn allow(&mut self, now: u64) -> Result<ThrottleAdmission, Rejected> {
        const DRAWN: ThrottleAdmission = ThrottleAdmission { next_probe: None };
        if !self.looks {
            return Ok(DRAWN);
        }
        let at = self.at(now);
        self.newest = self.tick(at);
        let share = self.share_in(self.newest);
        if share.refused <= 0.0 {
            self.looks = false;
            return Ok(DRAWN);
        }
        let draw = nth(self.seed, self.drawn);
        self.drawn += 1;
        // 53 bits are what an `f64` can tell apart.
        if (draw >> 11) as f64 >= share.refused * (1_u64 << 53) as f64 {
            return Ok(DRAWN);
        }
        let interval = (1e9 / self.config.probes_per_second) as u64;
        if at >= self.next_probe || self.next_probe - at > interval {
            self.next_probe = at + interval;
            return Ok(ThrottleAdmission {
                next_probe: Some(self.next_probe),
            });
        }
        self.count(at, |tick| tick.refused += 1);
        let end = (self.newest + 1) * self.width();
        Err(Rejected {
            word: Word::before(1).refusing(Cause::Throttled),
            left: TimeLeft::nanos((end - at).min(self.width())),
            breaker: NameId::NONE,
        })
    }

    /// Settles a call that was admitted.
    pub fn done(&mut self, outcome: Outcome, now: u64) -> Settled {
        match outcome {
            Outcome::Ignored => return Settled::Ignored,
            Outcome::Success | Outcome::Answered => {
                self.count(self.at(now), |tick| tick.accepts += 1)
            }
            Outcome::Failure | Outcome::Timeout => {
                self.count(self.at(now), |tick| tick.failures += 1)
            }
        }
        Settled::Recorded
    }

    /// Takes back the admission to a call that is not made: if it was a probe, the next call that would be refused has it.
    pub fn withdraw(&mut self, admission: ThrottleAdmission) {
        if admission.next_probe == Some(self.next_probe) {
            self.next_probe = 0;
        }
    }

    /// What the window holds, and the share that is refused.
    pub fn share(&self, now: u64) -> Share {
        self.share_in(self.tick(self.at(now)))
    }

    fn count(&mut self, at: u64, add: impl FnOnce(&mut Tick)) {
        let number = self.tick(at);
        self.newest = number;
        if self.ticks.back().is_none_or(|last| last.number != number) {
            self.ticks.push_back(Tick {
                number,
                accepts: 0,
                failures: 0,
                refused: 0,
            });
        }
        add(self.ticks.back_mut().expect("there is one by now"));
        let buckets = u64::from(self.config.buckets);
        self.ticks.retain(|tick| number - tick.number < buckets);
        if self.share_in(number).refused > 0.0 {
            self.looks = true;
        }
    }

    /// The formula of the book.
    fn share_in(&self, number: u64) -> Share {
        let buckets = u64::from(self.config.buckets);
        let window = || {
            let ticks = self.ticks.iter();
            ticks.filter(|tick| number - tick.number < buckets)
        };
        let (accepts, failures, refused) = window().fold((0, 0, 0), |sum, tick| {
            (
                sum.0 + tick.accepts,
                sum.1 + tick.failures,
                sum.2 + tick.refused,
            )
        });
        let requests = accepts + failures + refused;
        let over = f64::from(requests) - self.config.k * f64::from(accepts);
        Share {
            requests,
            accepts,
            failures,
            refused: (over / (f64::from(requests) + 1.0)).max(0.0),
        }
    }

    const fn at(&self, now: u64) -> u64 {
        now.saturating_sub(self.start)
    }

    fn width(&self) -> u64 {
        saturating_nanos(self.config.length).div_ceil(u64::from(self.config.buckets))
    }

    /// The bucket at this time; never before one in which a call came.
    fn tick(&self, at: u64) -> u64 {
        (at / self.width()).max(self.newest)
    }
}
