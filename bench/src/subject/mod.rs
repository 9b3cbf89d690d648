//! Who is measured: this crate, its peers, the textbook breaker, and the floors.

mod bare;
mod breaker_rs;
mod circuitbreaker_rs;
mod counted;
mod cutout_layer;
mod cutout_rs;
mod failsafe_rs;
mod floor;
mod recloser_rs;
mod textbook;
mod tower_resilience;
mod upstream;

use std::fmt;

use crate::stage::Stage;
use crate::workload::Workload;

/// Something that can be called as a breaker is.
pub trait Subject: Send + Sync + 'static {
    /// Failures that trip it from a fresh closed state, and successes that
    /// then close it, in [`Load::Flapping`](crate::workload::Load::Flapping).
    const CYCLE: (u32, u32) = (10, 1);

    /// What makes calls from one thread.
    type Caller<'a>: Caller
    where
        Self: 'a;

    /// A way to make calls from one thread.
    fn caller(&self) -> Self::Caller<'_>;

    /// The state it is in, by its own word where it has one.
    fn state(&self) -> Seen;

    /// Lets the open wait pass. The default is for real clocks: the wait is a
    /// nanosecond then, gone before the next call.
    fn pass_time(&self) {}

    /// Takes the one probe of a half-open period and keeps it unsettled.
    fn hold_probe(&self) {}
}

/// Calls a subject from one thread.
pub trait Caller {
    /// Asks for admission, and where it is granted reports a failure or a success. Says
    /// whether it was granted.
    ///
    /// Implementations are `inline(always)`: a loop around a call that was inlined into one
    /// subject's loop and not into another's would compare compilers' moods.
    fn call(&mut self, fails: bool) -> bool;
}

/// The state of a subject as seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Closed, it says.
    Closed,
    /// Open, or it rejects and does not say why.
    Open,
    /// Half-open, it says.
    HalfOpen,
    /// It admits calls and has no way to say in what state.
    Admits,
}

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
    /// Sets it up for a workload, or says why it has none such.
    pub stage: fn(Workload) -> Result<Box<dyn Stage>, String>,
}

/// This crate.
pub fn ours() -> Entry {
    cutout_rs::ENTRY
}

/// This crate on atomics that count; in no table.
pub fn counted() -> Entry {
    counted::ENTRY
}

/// Other crates, and the textbook.
pub fn peers() -> Vec<Entry> {
    vec![
        textbook::STD,
        textbook::PARKING_LOT,
        failsafe_rs::RATE,
        failsafe_rs::CONSECUTIVE,
        recloser_rs::ENTRY,
        breaker_rs::ENTRY,
        circuitbreaker_rs::ENTRY,
        tower_resilience::ENTRY,
    ]
}

/// This crate, then its peers.
pub fn breakers() -> Vec<Entry> {
    let mut breakers = vec![ours()];
    breakers.extend(peers());
    breakers
}

/// The floors.
pub fn floors() -> Vec<Entry> {
    floor::ENTRIES.to_vec()
}

/// What of a workload's numbers is not the breaker: the loop alone, or the service alone.
pub fn beside(workload: Workload) -> Entry {
    bare::beside(workload)
}

/// The entry of that name.
pub fn named(name: &str) -> Option<Entry> {
    let mut everyone = breakers().into_iter().chain(floors());
    everyone.find(|entry| entry.name == name)
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}
