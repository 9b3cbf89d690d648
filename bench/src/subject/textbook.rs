//! The textbook breaker: everything behind one mutex, locked by allow and by done.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::{Entry, Kind, Seen, Subject};
use crate::stage::{self, Stage};
use crate::workload::{Load, Workload};

/// Behind `std::sync::Mutex`.
pub(super) const STD: Entry = Entry {
    name: "std-mutex",
    version: "",
    kind: Kind::Peer,
    stage: set::<Mutex<Inner>>,
};

/// Behind `parking_lot::Mutex`.
pub(super) const PARKING_LOT: Entry = Entry {
    name: "parking_lot-mutex",
    version: env!("VERSION_parking_lot"),
    kind: Kind::Peer,
    stage: set::<parking_lot::Mutex<Inner>>,
};

fn set<L: Lock>(workload: Workload) -> Result<Box<dyn Stage>, String> {
    match workload.load {
        Load::Floor => Err("not a floor".into()),
        _ if workload.listener => Err("it has no listeners".into()),
        _ if !workload.is_plain() => Err("it has no such rule or call".into()),
        _ => stage::set(workload, move || Textbook::<L>::new(workload)),
    }
}

trait Lock: Send + Sync + 'static {
    fn new(inner: Inner) -> Self;
    fn with<R>(&self, f: impl FnOnce(&mut Inner) -> R) -> R;
}

impl Lock for Mutex<Inner> {
    fn new(inner: Inner) -> Self {
        Self::new(inner)
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut Inner) -> R) -> R {
        f(&mut self.lock().expect("no one panics under the lock"))
    }
}

impl Lock for parking_lot::Mutex<Inner> {
    fn new(inner: Inner) -> Self {
        Self::new(inner)
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut Inner) -> R) -> R {
        f(&mut self.lock())
    }
}

struct Textbook<L> {
    ratio: f64,
    min_calls: usize,
    open_wait: Duration,
    inner: L,
}

struct Inner {
    state: State,
    /// Whether each of the last outcomes was a failure.
    ring: Box<[bool]>,
    next: usize,
    samples: usize,
    failures: usize,
}

#[derive(Clone, Copy)]
enum State {
    Closed,
    Open { until: Instant },
    HalfOpen { probe_out: bool },
}

impl<L: Lock> Textbook<L> {
    fn new(workload: Workload) -> Self {
        Self {
            ratio: workload.ratio(),
            min_calls: workload.min_calls(),
            open_wait: workload.open_wait(),
            inner: L::new(Inner {
                state: State::Closed,
                ring: vec![false; workload.window].into(),
                next: 0,
                samples: 0,
                failures: 0,
            }),
        }
    }

    fn allow(&self) -> bool {
        self.inner.with(|inner| match inner.state {
            State::Closed => true,
            State::Open { until } if Instant::now() < until => false,
            State::HalfOpen { probe_out: true } => false,
            State::Open { .. } | State::HalfOpen { probe_out: false } => {
                inner.state = State::HalfOpen { probe_out: true };
                true
            }
        })
    }

    fn done(&self, failed: bool) {
        self.inner.with(|inner| match inner.state {
            State::Closed => {
                inner.record(failed);
                let ratio = inner.failures as f64 / inner.samples as f64;
                if inner.samples >= self.min_calls && ratio >= self.ratio {
                    inner.open(self.open_wait);
                }
            }
            State::HalfOpen { .. } if failed => inner.open(self.open_wait),
            State::HalfOpen { .. } => inner.close(),
            State::Open { .. } => {}
        });
    }
}

impl Inner {
    fn record(&mut self, failed: bool) {
        let oldest = &mut self.ring[self.next];
        self.failures -= usize::from(*oldest);
        *oldest = failed;
        self.failures += usize::from(failed);
        self.next += 1;
        if self.next == self.ring.len() {
            self.next = 0;
        }
        self.samples = (self.samples + 1).min(self.ring.len());
    }

    fn open(&mut self, wait: Duration) {
        self.state = State::Open {
            until: Instant::now() + wait,
        };
    }

    fn close(&mut self) {
        self.state = State::Closed;
        self.ring.fill(false);
        (self.next, self.samples, self.failures) = (0, 0, 0);
    }
}

impl<L: Lock> Subject for Textbook<L> {
    #[inline]
    fn caller(&self) -> impl FnMut(bool) -> bool {
        |fails| {
            let granted = self.allow();
            if granted {
                self.done(fails);
            }
            granted
        }
    }

    fn state(&self) -> Seen {
        self.inner.with(|inner| match inner.state {
            State::Closed => Seen::Closed,
            State::Open { .. } => Seen::Open,
            State::HalfOpen { .. } => Seen::HalfOpen,
        })
    }

    fn hold_probe(&self) {
        while !self.allow() {}
    }
}
