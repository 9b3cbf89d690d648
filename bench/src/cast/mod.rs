//! Who is measured: this crate, its peers, the textbook breaker, and the floors.

mod bare;
mod breaker_rs;
mod circuitbreaker_rs;
mod counted;
mod cutout_rs;
mod failsafe_rs;
mod floor;
mod layered;
mod recloser_rs;
mod textbook;
mod throttle;
mod tower_resilience;
mod upstream;

use crate::entry::Entry;
use crate::stage::Stage;
use crate::workload::Workload;

/// This crate.
pub fn ours() -> Entry {
    cutout_rs::ENTRY
}

/// This crate on atomics that count; in no table.
pub fn counted() -> Entry {
    counted::ENTRY
}

/// This crate's throttle, called as a breaker; in no table.
///
/// # Errors
///
/// As [`stage::set`](crate::stage::set).
pub fn throttled(workload: Workload) -> Result<Box<dyn Stage>, String> {
    throttle::set(workload)
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
