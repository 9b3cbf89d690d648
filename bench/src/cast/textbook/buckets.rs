//! The outcomes of the last so long, counted in buckets of time.

use std::time::{Duration, Instant};

use super::window::Window;

/// A ring of buckets and the sum of them, moved on by each outcome that finds itself in a
/// later one.
pub(super) struct Buckets {
    start: Instant,
    nanos_each: u64,
    each: Box<[Counts]>,
    /// The number of the newest bucket, counted from the start.
    newest: u64,
    sum: Counts,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    samples: usize,
    failures: usize,
}

impl Buckets {
    pub(super) fn new(length: Duration, buckets: u32) -> Self {
        Self {
            start: Instant::now(),
            nanos_each: (length / buckets).as_nanos() as u64,
            each: vec![Counts::default(); buckets as usize].into(),
            newest: 0,
            sum: Counts::default(),
        }
    }

    fn move_on(&mut self, to: u64) {
        let buckets = self.each.len() as u64;
        // What is older than the window is forgotten once, however long ago it was.
        let first = (self.newest + 1).max(to.saturating_sub(buckets - 1));
        for bucket in first..=to {
            let old = &mut self.each[(bucket % buckets) as usize];
            self.sum.samples -= old.samples;
            self.sum.failures -= old.failures;
            *old = Counts::default();
        }
        self.newest = to;
    }
}

impl Window for Buckets {
    fn record(&mut self, failed: bool) {
        let now = self.start.elapsed().as_nanos() as u64 / self.nanos_each;
        if now > self.newest {
            self.move_on(now);
        }
        let place = (self.newest % self.each.len() as u64) as usize;
        for counts in [&mut self.each[place], &mut self.sum] {
            counts.samples += 1;
            counts.failures += usize::from(failed);
        }
    }

    fn totals(&self) -> (usize, usize) {
        (self.sum.samples, self.sum.failures)
    }

    fn clear(&mut self) {
        self.each.fill(Counts::default());
        self.sum = Counts::default();
    }
}
