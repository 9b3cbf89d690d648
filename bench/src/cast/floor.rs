//! The floors: what the primitives cost that breakers are made of.

use std::hint::black_box;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::time::Instant;

use cutout::Clock;
use portable_atomic::AtomicU128;

use super::bare::{BARE_SERVICE, EMPTY_LOOP};
use crate::entry::{Can, Entry, Kind};
use crate::stage::{self, Stage};
use crate::subject::{Seen, Shared};
use crate::workload::{Load, Workload};

/// All of them.
pub(super) const ENTRIES: [Entry; 10] = [
    EMPTY_LOOP,
    BARE_SERVICE,
    floor("relaxed-load", |w| {
        set(w, |line| _ = line.word.load(Relaxed))
    }),
    floor("two-relaxed-loads", |w| {
        set(w, |line| {
            line.word.load(Relaxed);
            line.word.load(Relaxed);
        })
    }),
    floor("fetch-add", |w| {
        set(w, |line| _ = line.word.fetch_add(1, Relaxed))
    }),
    floor("cas-loop", |w| {
        set(w, |line| {
            let _ = line
                .word
                .fetch_update(AcqRel, Relaxed, |word| Some(word + 1));
        })
    }),
    floor("cas-loop-128", |w| {
        set(w, |line| {
            let _ = line
                .wide
                .fetch_update(AcqRel, Relaxed, |word| Some(word + 1));
        })
    }),
    floor("std-clock", |w| set(w, |_| _ = black_box(Instant::now()))),
    floor("quanta-clock", |w| {
        set(w, |_| _ = black_box(quanta::Instant::now()))
    }),
    floor("system-clock", |w| {
        let clock = cutout::SystemClock::new();
        set(w, move |_| _ = black_box(clock.now()))
    }),
];

const fn floor(name: &'static str, set: fn(Workload) -> Result<Box<dyn Stage>, String>) -> Entry {
    Entry {
        name,
        version: "",
        kind: Kind::Floor,
        can: Can {
            declines: |load| (load != Load::Floor).then_some("it is not a breaker"),
            ..Can::PLAIN
        },
        set,
    }
}

fn set(
    workload: Workload,
    touch: impl Fn(&Line) + Clone + Send + Sync + 'static,
) -> Result<Box<dyn Stage>, String> {
    stage::set(workload, move || Floor {
        line: Box::new(Line::default()),
        touch: touch.clone(),
    })
}

/// The line that all threads share.
#[derive(Default)]
#[repr(align(128))]
struct Line {
    word: AtomicU64,
    wide: AtomicU128,
}

struct Floor<F> {
    line: Box<Line>,
    touch: F,
}

impl<F: Fn(&Line) + Send + Sync + 'static> Shared for Floor<F> {
    #[inline(always)]
    fn call(&self, _: bool) -> bool {
        (self.touch)(&self.line);
        true
    }

    fn state(&self) -> Seen {
        Seen::Admits
    }
}
