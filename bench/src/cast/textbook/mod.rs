//! The textbook breaker: everything behind one mutex, locked by allow and by done.

mod buckets;
mod ring;
mod window;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use buckets::Buckets;
use ring::Ring;
use window::Window;

use crate::entry::{Can, Entry, Kind};
use crate::stage::{self, Stage};
use crate::subject::{Seen, Shared};
use crate::workload::{BUCKETS, TIME_WINDOW, Window as Span, Workload};

/// Behind `std::sync::Mutex`.
pub(super) const STD: Entry = Entry {
    name: "std-mutex",
    version: "",
    kind: Kind::Peer,
    can: CAN,
    set: set::<Std>,
};

/// Behind `parking_lot::Mutex`.
pub(super) const PARKING_LOT: Entry = Entry {
    name: "parking_lot-mutex",
    version: env!("VERSION_parking_lot"),
    kind: Kind::Peer,
    can: CAN,
    set: set::<ParkingLot>,
};

const CAN: Can = Can {
    time_window: true,
    listener: false,
    ..Can::PLAIN
};

fn set<L: Lock>(workload: Workload) -> Result<Box<dyn Stage>, String> {
    match workload.window {
        Span::Count(size) => stage::set(workload, move || {
            Textbook::<L, _>::new(workload, Ring::new(size))
        }),
        Span::Time => stage::set(workload, move || {
            Textbook::<L, _>::new(workload, Buckets::new(TIME_WINDOW, BUCKETS))
        }),
    }
}

/// A kind of mutex.
trait Lock: 'static {
    type Of<T: Send>: Send + Sync;
    fn new<T: Send>(inner: T) -> Self::Of<T>;
    fn with<T: Send, R>(lock: &Self::Of<T>, f: impl FnOnce(&mut T) -> R) -> R;
}

struct Std;

impl Lock for Std {
    type Of<T: Send> = Mutex<T>;

    fn new<T: Send>(inner: T) -> Mutex<T> {
        Mutex::new(inner)
    }

    #[inline]
    fn with<T: Send, R>(lock: &Mutex<T>, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut lock.lock().expect("no one panics under the lock"))
    }
}

struct ParkingLot;

impl Lock for ParkingLot {
    type Of<T: Send> = parking_lot::Mutex<T>;

    fn new<T: Send>(inner: T) -> parking_lot::Mutex<T> {
        parking_lot::Mutex::new(inner)
    }

    #[inline]
    fn with<T: Send, R>(lock: &parking_lot::Mutex<T>, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut lock.lock())
    }
}

struct Textbook<L: Lock, W: Window> {
    ratio: f64,
    min_calls: usize,
    open_wait: Duration,
    inner: L::Of<Inner<W>>,
}

struct Inner<W> {
    state: State,
    window: W,
}

#[derive(Clone, Copy)]
enum State {
    Closed,
    Open { until: Instant },
    HalfOpen { probe_out: bool },
}

impl<L: Lock, W: Window> Textbook<L, W> {
    fn new(workload: Workload, window: W) -> Self {
        Self {
            ratio: workload.ratio(),
            min_calls: workload.min_calls(),
            open_wait: workload.open_wait(),
            inner: L::new(Inner {
                state: State::Closed,
                window,
            }),
        }
    }

    fn allow(&self) -> bool {
        L::with(&self.inner, |inner| match inner.state {
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
        L::with(&self.inner, |inner| match inner.state {
            State::Closed => {
                inner.window.record(failed);
                let (samples, failures) = inner.window.totals();
                if samples >= self.min_calls && failures as f64 / samples as f64 >= self.ratio {
                    inner.open(self.open_wait);
                }
            }
            State::HalfOpen { .. } if failed => inner.open(self.open_wait),
            State::HalfOpen { .. } => inner.close(),
            State::Open { .. } => {}
        });
    }
}

impl<W: Window> Inner<W> {
    fn open(&mut self, wait: Duration) {
        self.state = State::Open {
            until: Instant::now() + wait,
        };
    }

    fn close(&mut self) {
        self.state = State::Closed;
        self.window.clear();
    }
}

impl<L: Lock, W: Window> Shared for Textbook<L, W> {
    #[inline(always)]
    fn call(&self, fails: bool) -> bool {
        let granted = self.allow();
        if granted {
            self.done(fails);
        }
        granted
    }

    fn state(&self) -> Seen {
        L::with(&self.inner, |inner| match inner.state {
            State::Closed => Seen::Closed,
            State::Open { .. } => Seen::Open,
            State::HalfOpen { .. } => Seen::HalfOpen,
        })
    }

    fn hold_probe(&self) {
        while !self.allow() {}
    }
}
