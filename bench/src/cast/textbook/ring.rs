//! The last so many outcomes.

use super::window::Window;

/// Whether each of them was a failure.
pub(super) struct Ring {
    failed: Box<[bool]>,
    next: usize,
    samples: usize,
    failures: usize,
}

impl Ring {
    pub(super) fn new(size: usize) -> Self {
        Self {
            failed: vec![false; size].into(),
            next: 0,
            samples: 0,
            failures: 0,
        }
    }
}

impl Window for Ring {
    fn record(&mut self, failed: bool) {
        let oldest = &mut self.failed[self.next];
        self.failures -= usize::from(*oldest);
        *oldest = failed;
        self.failures += usize::from(failed);
        self.next += 1;
        if self.next == self.failed.len() {
            self.next = 0;
        }
        self.samples = (self.samples + 1).min(self.failed.len());
    }

    fn totals(&self) -> (usize, usize) {
        (self.samples, self.failures)
    }

    fn clear(&mut self) {
        self.failed.fill(false);
        (self.next, self.samples, self.failures) = (0, 0, 0);
    }
}
