//! One row of every table: who it is, what it can do, and how it is set up.

use std::{env, fmt, thread};

use crate::stage::Stage;
use crate::workload::{Load, Style, Window, Workload};

/// What a subject is to the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// This crate.
    Ours,
    /// Another crate, or the textbook breaker.
    Peer,
    /// A primitive, to compare with.
    Floor,
}

/// One row of every table.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The crate's name, or what stands for it.
    pub name: &'static str,
    /// The version in the lock file; empty where there is none.
    pub version: &'static str,
    /// What it is to the comparison.
    pub kind: Kind,
    /// What it can do.
    pub can: Can,
    /// Sets it up for a workload that it can play, or says what is missing all the same.
    pub set: fn(Workload) -> Result<Box<dyn Stage>, String>,
}

impl Entry {
    /// The subject, set up for a workload.
    ///
    /// # Errors
    ///
    /// Why it has no such workload, or in which other state it is.
    pub fn stage(&self, workload: Workload) -> Result<Box<dyn Stage>, String> {
        if env::var_os(HANGS).is_some_and(|name| name == self.name) {
            loop {
                thread::park();
            }
        }
        self.can.play(workload)?;
        (self.set)(workload)
    }
}

/// Names a subject that shall give no answer, for the test of who waits for it.
pub const HANGS: &str = "CUTOUT_BENCH_HANGS";

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

/// What a subject can do beside judging a failure ratio over a window of outcomes.
#[derive(Clone, Copy)]
pub struct Can {
    /// How it can be called.
    pub styles: &'static [Style],
    /// Whether its window may be one of time.
    pub time_window: bool,
    /// Whether it judges slow calls.
    pub slow_rule: bool,
    /// Whether it judges timeouts by themselves.
    pub timeout_rule: bool,
    /// Whether it keeps totals beside the window.
    pub totals: bool,
    /// Whether it tells anyone of transitions.
    pub listener: bool,
    /// Why it does not play a load.
    pub declines: fn(Load) -> Option<&'static str>,
}

impl Can {
    /// A failure ratio over a window of outcomes, one way to call, and listeners.
    pub const PLAIN: Self = Self {
        styles: &[Style::Plain],
        time_window: false,
        slow_rule: false,
        timeout_rule: false,
        totals: false,
        listener: true,
        declines: Self::no_floor,
    };

    /// All that there is to ask for.
    pub const ALL: Self = Self {
        styles: &Style::ALL,
        time_window: true,
        slow_rule: true,
        timeout_rule: true,
        totals: true,
        ..Self::PLAIN
    };

    fn no_floor(load: Load) -> Option<&'static str> {
        (load == Load::Floor).then_some("it is not a floor")
    }

    /// For those whose half-open state has no quota of probes.
    pub const fn without_quota(self) -> Self {
        fn declines(load: Load) -> Option<&'static str> {
            match load {
                Load::HalfOpenStorm => Some("half-open admits every caller"),
                load => Can::no_floor(load),
            }
        }
        Self { declines, ..self }
    }

    /// Whether it plays this workload.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn play(&self, workload: Workload) -> Result<(), String> {
        let is_by_time = workload.window == Window::Time;
        let missing = [
            (is_by_time && !self.time_window, "it has no time window"),
            (
                workload.slow_rule && !self.slow_rule,
                "it has no rule on slow calls",
            ),
            (
                workload.timeout_rule && !self.timeout_rule,
                "it has no rule on timeouts",
            ),
            (
                workload.counted && !self.totals,
                "it keeps no totals beside the window",
            ),
            (workload.listener && !self.listener, "it has no listeners"),
            (
                !self.styles.contains(&workload.style),
                "it cannot be called so",
            ),
        ];
        let missing = missing.into_iter().find(|(is_missing, _)| *is_missing);
        let reason = (self.declines)(workload.load).or(missing.map(|(_, reason)| reason));
        reason.map_or(Ok(()), |reason| Err(reason.into()))
    }
}

impl fmt::Debug for Can {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Can").finish_non_exhaustive()
    }
}
