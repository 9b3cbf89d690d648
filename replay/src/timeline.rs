//! Calls over time: how many, how many bad, how long they took.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::call::Call;

/// Calls by when they began, in bins that grow with the log: at most [`BINS`](Self::BINS), however long it is.
#[derive(Clone, Debug)]
pub struct Timeline {
    begin: i64,
    width: u64,
    bins: Vec<Bin>,
}

/// The calls that began in one stretch of time.
#[derive(Clone, Debug)]
pub struct Bin {
    /// How many.
    pub calls: u64,
    /// How many of them were bad.
    pub bad: u64,
    took: Histogram<u32>,
}

/// A bin as plain values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Moment {
    /// When it begins, in nanoseconds since the epoch.
    pub start_ns: i64,
    /// Calls that began in it.
    pub calls: u64,
    /// Bad ones.
    pub bad: u64,
    /// The median of their durations in milliseconds; `None` without durations.
    pub p50_ms: Option<f64>,
    /// What 99 % of them do not exceed.
    pub p99_ms: Option<f64>,
}

impl Bin {
    /// Durations are kept in microseconds up to an hour, to a tenth of their size.
    fn empty() -> Self {
        let took = Histogram::new_with_max(3_600_000_000, 1);
        let Ok(took) = took else {
            unreachable!("one digit up to an hour is legal");
        };
        Self {
            calls: 0,
            bad: 0,
            took,
        }
    }

    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.bad += other.bad;
        // Both have the same bounds, so that it cannot fail.
        let _ = self.took.add(&other.took);
    }
}

impl Timeline {
    /// The most bins that are kept.
    pub const BINS: usize = 720;

    /// An empty one.
    pub const fn new() -> Self {
        Self {
            begin: 0,
            width: 1_000_000_000,
            bins: Vec::new(),
        }
    }

    /// Counts the next calls, in the order of their starts.
    pub fn feed(&mut self, calls: &[Call]) {
        for call in calls {
            if self.bins.is_empty() {
                self.begin = call.start;
            }
            let index = self.index(call.start);
            while self.bins.len() <= index {
                self.bins.push(Bin::empty());
            }
            let bin = &mut self.bins[index];
            bin.calls += 1;
            bin.bad += u64::from(call.bad);
            if call.took > 0 {
                bin.took.saturating_record((call.took / 1_000).max(1));
            }
        }
    }

    fn index(&mut self, start: i64) -> usize {
        loop {
            let index = start.abs_diff(self.begin) / self.width;
            if index < Self::BINS as u64 {
                return index as usize;
            }
            self.width *= 2;
            let mut halved: Vec<Bin> = Vec::with_capacity(Self::BINS);
            for (index, bin) in self.bins.drain(..).enumerate() {
                match halved.get_mut(index / 2) {
                    Some(half) => half.add(&bin),
                    None => halved.push(bin),
                }
            }
            self.bins = halved;
        }
    }

    /// How long a bin is, in nanoseconds.
    pub const fn width(&self) -> u64 {
        self.width
    }

    /// The bins in order.
    pub fn moments(&self) -> Vec<Moment> {
        let quantile = |bin: &Bin, share: f64| {
            let micros = bin.took.value_at_quantile(share);
            (!bin.took.is_empty()).then_some(micros as f64 / 1_000.0)
        };
        let starts = (0_u64..).map(|index| self.begin.saturating_add_unsigned(index * self.width));
        self.bins
            .iter()
            .zip(starts)
            .map(|(bin, start_ns)| Moment {
                start_ns,
                calls: bin.calls,
                bad: bin.bad,
                p50_ms: quantile(bin, 0.5),
                p99_ms: quantile(bin, 0.99),
            })
            .collect()
    }
}

impl Default for Timeline {
    fn default() -> Self {
        Self::new()
    }
}
