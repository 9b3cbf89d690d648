//! The way back to all calls after a recovery.

use super::*;

/// What fits where the breaker keeps it, with its bias: a century from when it was built.
const LATEST: i64 = (1 << 42) - 1 - (1 << 40);

impl Model {
    /// What becomes of the ramp as the breaker goes on to `next`.
    pub(super) fn ramp_after(&mut self, next: &Mode, at: Duration) {
        self.ramp_begun = match (&self.mode, next) {
            (_, Mode::Closed(_)) if self.config.ramp.is_none() => None,
            (Mode::Open(..) | Mode::HalfOpen(..) | Mode::ForcedOpen(_), Mode::Closed(_)) => {
                Some((at.as_millis() as i64).min(LATEST))
            }
            (Mode::Closed(_), Mode::Closed(_)) => self.ramp_begun,
            _ => None,
        };
    }

    /// How much of the ramp has passed, and all of it, in nanoseconds.
    fn ramp(&self, at: Duration) -> Option<(u64, u64)> {
        let (begun, ramp) = (self.ramp_begun?, self.config.ramp?);
        let passed = i128::from(saturating_nanos(at)) - i128::from(begun) * 1_000_000;
        let passed = passed.clamp(0, u64::MAX.into()) as u64;
        Some((passed, saturating_nanos(ramp)))
    }

    /// Admits a call as far as a ramp does, and ends the ramp if it is over.
    pub(super) fn ramp_up(&mut self, at: Duration) -> Result<(), Rejected> {
        let Some((passed, ramp)) = self.ramp(at) else {
            return Ok(());
        };
        if passed >= ramp {
            self.ramp_begun = None;
            return Ok(());
        }
        let share = ((u128::from(passed) << 64) / u128::from(ramp)) as u64;
        let (credit, is_whole) = self.credit.overflowing_add(share);
        self.credit = credit;
        if is_whole {
            return Ok(());
        }
        Err(Rejected {
            word: Word::before((self.generation + 1) % GENERATIONS).refusing(Cause::Ramping),
            left: TimeLeft::nanos((ramp - passed).div_ceil(2)),
            breaker: NameId::NONE,
        })
    }

    /// How long a share of the calls goes on to be refused.
    pub(super) fn ramp_left(&self, at: Duration) -> Option<Duration> {
        let (passed, ramp) = self.ramp(at)?;
        (passed < ramp).then(|| Duration::from_nanos(ramp - passed))
    }

    /// Goes on with the ramp of a snapshot that is `passed` old.
    pub(super) fn restore_ramp(&mut self, snapshot: &Snapshot, passed: Duration) {
        let (Mode::Closed(_), Some(ramp), Some(left)) =
            (&self.mode, self.config.ramp, snapshot.ramp_left)
        else {
            return;
        };
        let left = saturating_nanos(left.min(ramp).saturating_sub(passed));
        let begun = (saturating_nanos(ramp) - left) / 1_000_000;
        self.ramp_begun = (left > 0).then(|| -(begun.min((1 << 40) - 1) as i64));
    }
}
