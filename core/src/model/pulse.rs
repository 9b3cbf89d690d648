//! Pauses of the process itself, which are nobody's latency.

use super::*;

/// The readings of the clock under configs that time calls.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pulse {
    width: u64,
    /// The latest tick with a reading; how steady they are; ticks of all pauses.
    last: u64,
    steady: u64,
    paused: u64,
    /// The running time at the last pause.
    stood_still: Duration,
}

/// Ticks are told apart by so many bits, and pauses are added up in so many.
const TICKS: u64 = 1 << 26;
const MOST_PAUSED: u64 = (1 << 32) - 1;

impl Pulse {
    pub(super) fn of(config: &Config) -> Option<Self> {
        let limit = config.shortest_limit()?;
        Some(Self {
            width: (limit / 16).max(1_000_000),
            last: 0,
            steady: 0,
            paused: 0,
            stood_still: Duration::ZERO,
        })
    }

    /// Counts a reading. Says for how long the process has run by then.
    fn running(&mut self, at: Duration) -> Duration {
        let tick = saturating_nanos(at) / self.width;
        let ahead = (tick % TICKS + TICKS - self.last) % TICKS;
        // A tick that is far ahead is one that the clock has stepped back to.
        if ahead > 0 && ahead < TICKS - (1 << 20) {
            let empty = ahead - 1;
            self.last = tick % TICKS;
            if self.steady >= 32 && empty >= 4 && self.paused + empty <= MOST_PAUSED {
                self.steady = 0;
                self.paused += empty;
                let began = self.less_pauses(Duration::from_nanos(tick * self.width));
                self.stood_still = self.stood_still.max(began);
            } else {
                self.steady = (self.steady + 1).min(48).saturating_sub(2 * empty);
            }
        }
        self.less_pauses(at)
    }

    fn less_pauses(&self, at: Duration) -> Duration {
        let paused = self.paused.saturating_mul(self.width);
        Duration::from_nanos(saturating_nanos(at).saturating_sub(paused))
    }
}

impl Model {
    /// Tells the model that the process runs.
    pub fn heartbeat(&mut self, now: u64) {
        let at = self.since_start(now);
        self.running(at);
    }

    /// For how long the process has run, as far as the readings tell.
    pub(super) fn running(&mut self, at: Duration) -> Duration {
        match &mut self.pulse {
            Some(pulse) => pulse.running(at),
            None => at,
        }
    }

    /// Whether a call was in flight when the process last stood still.
    pub(super) fn stood_still_since(&self, permit: &ModelPermit) -> bool {
        match (&self.pulse, permit.granted) {
            (Some(pulse), Some(granted)) => granted < pulse.stood_still,
            _ => false,
        }
    }

    /// A timeout that a pause may have made: the call ran for less than the shortest limit.
    pub(super) fn without_pause(
        &self,
        permit: &ModelPermit,
        report: Report,
        running: Duration,
    ) -> Report {
        let (Some(pulse), Some(granted)) = (&self.pulse, permit.granted) else {
            return report;
        };
        let ran = saturating_nanos(running.saturating_sub(granted));
        let is_excused = report.outcome == Outcome::Timeout
            && report.elapsed.is_none()
            && self.config.is_timed()
            && self.stood_still_since(permit)
            && ran < pulse.width.saturating_mul(16);
        let outcome = if is_excused {
            Outcome::Ignored
        } else {
            report.outcome
        };
        Report { outcome, ..report }
    }
}
