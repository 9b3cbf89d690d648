//! What came of the requests.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Requests by their ends, and how long they took.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) answered: u64,
    /// With an error of the protocol.
    pub(crate) refused: u64,
    /// Without an answer.
    pub(crate) lost: u64,
    micros: Vec<u32>,
    length: Duration,
}

/// An end of a request.
pub(crate) enum End {
    Answered,
    Refused,
    Lost,
}

impl Figures {
    pub(crate) fn add(figures: &Mutex<Self>, end: End, took: Duration) {
        let mut figures = figures.lock().unwrap_or_else(PoisonError::into_inner);
        match end {
            End::Answered => figures.answered += 1,
            End::Refused => figures.refused += 1,
            End::Lost => figures.lost += 1,
        }
        figures
            .micros
            .push(u32::try_from(took.as_micros()).unwrap_or(u32::MAX));
    }

    /// All of them, sorted.
    pub(crate) fn take(figures: &Mutex<Self>) -> Self {
        let mut figures = figures.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = std::mem::take(&mut *figures);
        taken.micros.sort_unstable();
        taken
    }

    pub(crate) fn took(figures: &Mutex<Self>, length: Duration) {
        figures
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .length = length;
    }

    /// The time within which this share of the requests ended.
    pub(crate) fn micros(&self, share: f64) -> u32 {
        let last = self.micros.len().saturating_sub(1);
        let place = (self.micros.len() as f64 * share) as usize;
        self.micros.get(place.min(last)).copied().unwrap_or(0)
    }

    pub(crate) fn line(&self) -> String {
        let all = self.answered + self.refused + self.lost;
        format!(
            "{:.0}/s, {} answered, {} refused, {} lost; p50 {} us, p99 {} us, p99.9 {} us, max {} ms",
            all as f64 / self.length.as_secs_f64(),
            self.answered,
            self.refused,
            self.lost,
            self.micros(0.5),
            self.micros(0.99),
            self.micros(0.999),
            self.micros(1.0) / 1000,
        )
    }
}
